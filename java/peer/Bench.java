import java.io.IOException;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Single-row gets or puts with a fixed number in flight: operations per second and what the process spent on one.
 *
 * <p>Operation n takes row n modulo their number, rows are {@code user} and sixteen digits, spread over the key
 * space; a put writes one cell, {@code field0}.
 */
final class Bench {
    private static final byte[] QUALIFIER = Bytes.toBytes("field0");

    private final TableName table;
    private final byte[] family;
    private final boolean put;
    private final int rows;
    private final byte[] value;
    private final AtomicLong number = new AtomicLong();
    private final Meter meter = new Meter();

    private Bench(Words words) {
        table = words.table();
        family = words.bytes();
        put = !words.next().equals("get");
        rows = words.count();
        value = new byte[words.count()];
        new Random(1).nextBytes(value);
    }

    /** table family get|put rows value-bytes blocking|async in-flight warm-up-s seconds; answers as {@link Meter}. */
    static String run(Connection connection, Words words) throws Exception {
        Bench bench = new Bench(words);
        boolean async = words.next().equals("async");
        int inFlight = words.count();
        long warmUp = words.number();
        long seconds = words.number();
        if (!async) {
            for (int i = 0; i < inFlight; i++) {
                Table own = connection.getTable(bench.table); // light, and of one thread
                bench.meter.thread(() -> bench.once(own));
            }
            return bench.meter.window(warmUp, seconds);
        }
        try (AsyncConnection own = ConnectionFactory.createAsyncConnection(connection.getConfiguration()).get()) {
            AsyncTable<?> shared = own.getTable(bench.table);
            for (int i = 0; i < inFlight; i++) {
                bench.meter.chain(() -> bench.once(shared));
            }
            return bench.meter.window(warmUp, seconds);
        }
    }

    /** table family put rows value-bytes: every row is written once. */
    static String load(Connection connection, Words words) throws IOException {
        Bench bench = new Bench(words);
        try (BufferedMutator mutator = connection.getBufferedMutator(bench.table)) {
            for (int i = 0; i < bench.rows; i++) {
                mutator.mutate(bench.onePut());
            }
        }
        return "";
    }

    private Void once(Table own) throws IOException {
        if (put) {
            own.put(onePut());
        } else {
            found(own.get(new Get(row())).isEmpty());
        }
        return null;
    }

    private CompletionStage<?> once(AsyncTable<?> shared) {
        return put
                ? shared.put(onePut())
                : shared.get(new Get(row())).thenAccept(row -> found(row.isEmpty()));
    }

    private static void found(boolean empty) {
        if (empty) {
            throw new IllegalStateException("a row is missing: load the table first");
        }
    }

    private Put onePut() {
        return new Put(row()).addColumn(family, QUALIFIER, value);
    }

    /** The next operation's row. */
    private byte[] row() {
        long spread = number.getAndIncrement() % rows * 0x9E3779B97F4A7C15L;
        long digits = Long.remainderUnsigned(spread, 10_000_000_000_000_000L);
        byte[] row = Bytes.toBytes("user0000000000000000");
        for (int at = row.length - 1; digits > 0; at--, digits /= 10) {
            row[at] = (byte) ('0' + digits % 10);
        }
        return row;
    }
}
