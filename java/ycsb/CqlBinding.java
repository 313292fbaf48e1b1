import com.datastax.driver.core.Cluster;
import com.datastax.driver.core.ColumnDefinitions;
import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.ResultSet;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.exceptions.DriverException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/**
 * A binding of YCSB's for CQL, on the table and with the properties of its {@code cassandra-cql}: hosts, port,
 * cassandra.keyspace, cassandra.readconsistencylevel and cassandra.writeconsistencylevel (ONE).
 *
 * <p>YCSB's core is published, its bindings are not; this one lets tests and benches run YCSB itself beside ours. As
 * in 0.17.0 all threads share one session of driver 3.0.0, and statements are prepared.
 */
public final class CqlBinding extends DB {
    private static final Map<String, PreparedStatement> PREPARED = new ConcurrentHashMap<>();
    private static int users;
    private static Cluster cluster;
    private static Session session;

    private ConsistencyLevel reads;
    private ConsistencyLevel writes;

    @Override
    public void init() {
        reads = ConsistencyLevel.valueOf(getProperties().getProperty("cassandra.readconsistencylevel", "ONE"));
        writes = ConsistencyLevel.valueOf(getProperties().getProperty("cassandra.writeconsistencylevel", "ONE"));
        join(getProperties());
    }

    @Override
    public void cleanup() {
        leave();
    }

    private static synchronized void join(Properties given) {
        users++;
        if (session == null) {
            cluster = Cluster.builder()
                    .addContactPoints(given.getProperty("hosts").split(","))
                    .withPort(Integer.parseInt(given.getProperty("port", "9042")))
                    .build();
            session = cluster.connect(given.getProperty("cassandra.keyspace", "ycsb"));
        }
    }

    private static synchronized void leave() {
        users--;
        if (users == 0) {
            PREPARED.clear();
            cluster.close();
            session = null;
        }
    }

    @Override
    public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
        return asked(() -> {
            Row row = execute(reads, "SELECT " + columns(fields) + " FROM " + table + " WHERE y_id = ? LIMIT 1", key)
                    .one();
            if (row == null) {
                return Status.NOT_FOUND;
            }
            take(row, result);
            return Status.OK;
        });
    }

    @Override
    public Status scan(
            String table, String start, int count, Set<String> fields, Vector<HashMap<String, ByteIterator>> result) {
        String text = "SELECT " + columns(fields) + " FROM " + table + " WHERE token(y_id) >= token(?) LIMIT ?";
        return asked(() -> {
            for (Row row : execute(reads, text, start, count)) {
                HashMap<String, ByteIterator> found = new HashMap<>();
                take(row, found);
                result.add(found);
            }
            return Status.OK;
        });
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        List<String> names = new ArrayList<>(values.keySet());
        List<Object> bound = new ArrayList<>(List.of(key));
        names.forEach(name -> bound.add(values.get(name).toString()));
        String marks = String.join(", ", Collections.nCopies(bound.size(), "?"));
        String text = "INSERT INTO " + table + " (y_id, " + String.join(", ", names) + ") VALUES (" + marks + ")";
        return asked(() -> {
            execute(writes, text, bound.toArray());
            return Status.OK;
        });
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        return update(table, key, values);
    }

    @Override
    public Status delete(String table, String key) {
        return asked(() -> {
            execute(writes, "DELETE FROM " + table + " WHERE y_id = ?", key);
            return Status.OK;
        });
    }

    private interface Call {
        Status run();
    }

    private static Status asked(Call call) {
        try {
            return call.run();
        } catch (DriverException failure) {
            System.err.println(failure);
            return Status.ERROR;
        }
    }

    private static ResultSet execute(ConsistencyLevel level, String text, Object... values) {
        PreparedStatement statement = PREPARED.computeIfAbsent(text, session::prepare);
        return session.execute(statement.bind(values).setConsistencyLevel(level));
    }

    private static String columns(Set<String> fields) {
        return fields == null ? "*" : fields.stream().collect(Collectors.joining(", "));
    }

    private static void take(Row row, Map<String, ByteIterator> result) {
        for (ColumnDefinitions.Definition column : row.getColumnDefinitions()) {
            String value = row.getString(column.getName());
            if (!column.getName().equals("y_id") && value != null) {
                result.put(column.getName(), new StringByteIterator(value));
            }
        }
    }
}
