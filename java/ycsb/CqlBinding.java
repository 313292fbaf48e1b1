import com.datastax.driver.core.BoundStatement;
import com.datastax.driver.core.Cluster;
import com.datastax.driver.core.ColumnDefinitions;
import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.HostDistance;
import com.datastax.driver.core.PreparedStatement;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.utils.Bytes;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/**
 * A binding of YCSB's for CQL, on the table and with the properties of its {@code cassandra-cql}: hosts, port,
 * cassandra.keyspace, cassandra.readconsistencylevel and cassandra.writeconsistencylevel (ONE),
 * cassandra.maxconnections.
 *
 * <p>YCSB's core is published, its bindings are not; this one lets tests and benches run YCSB itself beside ours. As
 * in 0.17.0 all threads share one session of driver 3.0.0, a statement is prepared once for each set of fields, and
 * values that are read stay bytes. Unlike it a read leaves the key's column out, which YCSB cannot verify.
 */
public final class CqlBinding extends DB {
    private static final String KEY = "y_id";
    private static final Map<Set<String>, PreparedStatement> READS = new ConcurrentHashMap<>();
    private static final Map<Set<String>, PreparedStatement> SCANS = new ConcurrentHashMap<>();
    private static final Map<Set<String>, PreparedStatement> UPDATES = new ConcurrentHashMap<>();
    private static final Map<Set<String>, PreparedStatement> INSERTS = new ConcurrentHashMap<>();
    private static final Set<Class<?>> TOLD = ConcurrentHashMap.newKeySet();
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
            String most = given.getProperty("cassandra.maxconnections");
            if (most != null) {
                cluster.getConfiguration()
                        .getPoolingOptions()
                        .setMaxConnectionsPerHost(HostDistance.LOCAL, Integer.parseInt(most));
            }
            session = cluster.connect(given.getProperty("cassandra.keyspace", "ycsb"));
        }
    }

    private static synchronized void leave() {
        users--;
        if (users == 0) {
            for (Map<?, ?> statements : new Map<?, ?>[] {READS, SCANS, UPDATES, INSERTS}) {
                statements.clear();
            }
            cluster.close();
            session = null;
        }
    }

    @Override
    public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
        return asked(() -> {
            PreparedStatement statement =
                    prepared(READS, reads, fields, of -> select(table, of) + " WHERE y_id = ? LIMIT 1");
            Row row = session.execute(statement.bind(key)).one();
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
        return asked(() -> {
            PreparedStatement statement = prepared(
                    SCANS, reads, fields, of -> select(table, of) + " WHERE token(y_id) >= token(?) LIMIT ?");
            for (Row row : session.execute(statement.bind(start, count))) {
                HashMap<String, ByteIterator> found = new HashMap<>();
                take(row, found);
                result.add(found);
            }
            return Status.OK;
        });
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        return asked(() -> {
            write(prepared(UPDATES, writes, values.keySet(), of -> updating(table, of)), key, values);
            return Status.OK;
        });
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        return asked(() -> {
            write(prepared(INSERTS, writes, values.keySet(), of -> inserting(table, of)), key, values);
            return Status.OK;
        });
    }

    @Override
    public Status delete(String table, String key) {
        return asked(() -> {
            session.execute("DELETE FROM " + table + " WHERE y_id = ?", key);
            return Status.OK;
        });
    }

    private interface Call {
        Status run();
    }

    /** Any failure is an operation's; the first of each kind is told. */
    private static Status asked(Call call) {
        try {
            return call.run();
        } catch (RuntimeException failure) {
            if (TOLD.add(failure.getClass())) {
                System.err.println(failure);
            }
            return Status.ERROR;
        }
    }

    /** The statement for a set of fields (null: all of them). */
    private static PreparedStatement prepared(
            Map<Set<String>, PreparedStatement> known,
            ConsistencyLevel level,
            Set<String> fields,
            Function<Set<String>, String> text) {
        Set<String> of = fields == null ? Set.of() : fields;
        PreparedStatement found = known.get(of);
        if (found == null) {
            Set<String> kept = new HashSet<>(of);
            found = session.prepare(text.apply(kept)).setConsistencyLevel(level);
            known.putIfAbsent(kept, found);
        }
        return found;
    }

    private static String select(String table, Set<String> fields) {
        return "SELECT " + (fields.isEmpty() ? "*" : String.join(", ", fields)) + " FROM " + table;
    }

    private static String updating(String table, Set<String> fields) {
        String set = fields.stream().map(field -> field + " = ?").collect(Collectors.joining(", "));
        return "UPDATE " + table + " SET " + set + " WHERE y_id = ?";
    }

    private static String inserting(String table, Set<String> fields) {
        String marks = String.join(", ", Collections.nCopies(fields.size(), "?"));
        return "INSERT INTO " + table + " (y_id, " + String.join(", ", fields) + ") VALUES (?, " + marks + ")";
    }

    private static void write(PreparedStatement statement, String key, Map<String, ByteIterator> values) {
        BoundStatement bound = statement.bind();
        ColumnDefinitions columns = statement.getVariables();
        for (int at = 0; at < columns.size(); at++) {
            String name = columns.getName(at);
            bound.setString(at, name.equals(KEY) ? key : values.get(name).toString());
        }
        session.execute(bound);
    }

    private static void take(Row row, Map<String, ByteIterator> result) {
        ColumnDefinitions columns = row.getColumnDefinitions();
        for (int at = 0; at < columns.size(); at++) {
            ByteBuffer value = row.getBytesUnsafe(at);
            if (value != null && !columns.getName(at).equals(KEY)) {
                result.put(columns.getName(at), new ByteArrayByteIterator(Bytes.getArray(value)));
            }
        }
    }
}
