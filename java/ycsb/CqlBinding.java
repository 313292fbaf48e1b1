import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.ColumnDefinition;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.stream.Collectors;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/**
 * A binding of YCSB's for CQL, on the table and with the properties of its {@code cassandra-cql}: hosts, port,
 * cassandra.keyspace.
 *
 * <p>YCSB's core is published, its bindings are not; this one lets the tests run YCSB itself beside ours.
 */
public final class CqlBinding extends DB {
    private CqlSession session;

    @Override
    public void init() {
        String host = getProperties().getProperty("hosts").split(",")[0];
        int port = Integer.parseInt(getProperties().getProperty("port", "9042"));
        session = CqlSession.builder()
                .addContactPoint(new InetSocketAddress(host, port))
                .withLocalDatacenter(getProperties().getProperty("datacenter", "datacenter1"))
                .withKeyspace(CqlIdentifier.fromInternal(getProperties().getProperty("cassandra.keyspace", "ycsb")))
                .build();
    }

    @Override
    public void cleanup() {
        session.close();
    }

    @Override
    public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
        return asked(() -> {
            Row row = execute("SELECT " + columns(fields) + " FROM " + table + " WHERE y_id = ? LIMIT 1", key).one();
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
            for (Row row : execute(text, start, count)) {
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
            execute(text, bound.toArray());
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
            execute("DELETE FROM " + table + " WHERE y_id = ?", key);
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

    private ResultSet execute(String text, Object... values) {
        return session.execute(SimpleStatement.newInstance(text, values).setConsistencyLevel(ConsistencyLevel.QUORUM));
    }

    private static String columns(Set<String> fields) {
        return fields == null ? "*" : fields.stream().collect(Collectors.joining(", "));
    }

    private static void take(Row row, Map<String, ByteIterator> result) {
        for (ColumnDefinition column : row.getColumnDefinitions()) {
            String name = column.getName().asInternal();
            String value = row.getString(column.getName());
            if (!name.equals("y_id") && value != null) {
                result.put(name, new StringByteIterator(value));
            }
        }
    }
}
