import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
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
 * <p>The pattern is that of our own client's example {@code single_row}: operation n takes row n modulo their number,
 * rows are {@code user} and sixteen digits, spread over the key space; a put writes one cell, {@code field0}.
 */
final class Bench {
    private static final byte[] QUALIFIER = Bytes.toBytes("field0");

    private final TableName table;
    private final byte[] family;
    private final boolean put;
    private final int rows;
    private final byte[] value;
    private final AtomicLong number = new AtomicLong();
    private final AtomicLong done = new AtomicLong();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile boolean stopped;

    private Bench(Words words) {
        table = words.table();
        family = words.bytes();
        put = !words.next().equals("get");
        rows = words.count();
        value = new byte[words.count()];
        new Random(1).nextBytes(value);
    }

    /**
     * table family get|put rows value-bytes blocking|async in-flight warm-up-s seconds.
     *
     * <p>Answers operations, seconds, operations per second, CPU us per operation, resident KiB.
     */
    static String run(Connection connection, Words words) throws Exception {
        Bench bench = new Bench(words);
        boolean async = words.next().equals("async");
        int inFlight = words.count();
        long warmUp = words.number();
        long seconds = words.number();
        if (!async) {
            return bench.measured(bench.threads(connection, inFlight), warmUp, seconds);
        }
        try (AsyncConnection own = ConnectionFactory.createAsyncConnection(connection.getConfiguration()).get()) {
            return bench.measured(bench.chains(own, inFlight), warmUp, seconds);
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

    private String measured(List<CompletableFuture<Void>> clients, long warmUp, long seconds) throws Exception {
        Thread.sleep(warmUp * 1000);
        long operations = -done.get();
        long cpu = -cpuNs();
        long time = -System.nanoTime();
        Thread.sleep(seconds * 1000);
        operations += done.get();
        cpu += cpuNs();
        time += System.nanoTime();
        long resident = residentKib();
        stopped = true;
        CompletableFuture.allOf(clients.toArray(new CompletableFuture<?>[0])).join();
        if (failure.get() != null) {
            throw new IOException("an operation failed: " + failure.get());
        }
        double elapsed = time / 1e9;
        String form = "\t%d\t%.3f\t%.1f\t%.2f\t%d";
        double perS = operations / elapsed;
        return String.format(Locale.ROOT, form, operations, elapsed, perS, cpu / 1e3 / operations, resident);
    }

    private List<CompletableFuture<Void>> threads(Connection connection, int count) {
        List<CompletableFuture<Void>> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            CompletableFuture<Void> ended = new CompletableFuture<>();
            new Thread(() -> {
                try (Table own = connection.getTable(table)) {
                    while (!stopped) {
                        once(own);
                        done.incrementAndGet();
                    }
                } catch (IOException | RuntimeException error) {
                    failure.set(error);
                } finally {
                    ended.complete(null);
                }
            }).start();
            clients.add(ended);
        }
        return clients;
    }

    private void once(Table own) throws IOException {
        if (put) {
            own.put(onePut());
        } else {
            found(own.get(new Get(row())).isEmpty());
        }
    }

    private List<CompletableFuture<Void>> chains(AsyncConnection connection, int count) {
        AsyncTable<?> shared = connection.getTable(table);
        List<CompletableFuture<Void>> clients = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            CompletableFuture<Void> ended = new CompletableFuture<>();
            next(shared, ended);
            clients.add(ended);
        }
        return clients;
    }

    /** One operation, and when it is done the next: no thread waits. */
    private void next(AsyncTable<?> shared, CompletableFuture<Void> ended) {
        CompletableFuture<Void> one = put
                ? shared.put(onePut())
                : shared.get(new Get(row())).thenAccept(row -> found(row.isEmpty()));
        one.whenComplete((nothing, error) -> {
            if (error != null) {
                failure.set(error);
            }
            if (stopped || error != null) {
                ended.complete(null);
            } else {
                done.incrementAndGet();
                next(shared, ended);
            }
        });
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

    private static long cpuNs() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static long residentKib() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new IOException("/proc/self/status says nothing of VmRSS");
    }
}
