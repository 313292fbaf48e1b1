import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/** A closed loop of operations: how many there are in a window after a warm-up, their latencies, and what they cost. */
final class Meter {
    /** Values below 2^8 have a bin each, larger ones 128 bins for each power of two: below 1 % of error. */
    private static final int BITS = 7;

    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final List<CompletableFuture<Void>> clients = new ArrayList<>();
    private volatile AtomicLongArray latencies = new AtomicLongArray(64 << BITS);
    private volatile boolean stopped;

    /** One more client: a thread that does one operation after the other. */
    void thread(Callable<?> operation) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        clients.add(ended);
        new Thread(() -> {
            try {
                while (!stopped) {
                    long sent = System.nanoTime();
                    operation.call();
                    record(System.nanoTime() - sent);
                }
            } catch (Exception error) {
                failure.set(error);
            } finally {
                ended.complete(null);
            }
        }).start();
    }

    /** One more client that no thread waits for: one operation, and when it is done the next. */
    void chain(Supplier<? extends CompletionStage<?>> operation) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        clients.add(ended);
        next(operation, ended);
    }

    private void next(Supplier<? extends CompletionStage<?>> operation, CompletableFuture<Void> ended) {
        long sent = System.nanoTime();
        operation.get().whenComplete((nothing, error) -> {
            if (error != null) {
                failure.set(error);
            }
            if (stopped || error != null) {
                ended.complete(null);
            } else {
                record(System.nanoTime() - sent);
                next(operation, ended);
            }
        });
    }

    private void record(long ns) {
        int shift = Math.max(0, 63 - BITS - Long.numberOfLeadingZeros(ns | 1));
        latencies.incrementAndGet((shift << BITS) + (int) (ns >>> shift));
    }

    /**
     * Let the clients go on for so long, then stop them.
     *
     * <p>Answers operations, seconds, operations per second, CPU us per operation, resident KiB, p99 in us.
     */
    String window(double warmUpS, double seconds) throws Exception {
        Thread.sleep(Math.round(warmUpS * 1000));
        AtomicLongArray window = new AtomicLongArray(latencies.length());
        latencies = window;
        long cpu = -cpuNs();
        long time = -System.nanoTime();
        Thread.sleep(Math.round(seconds * 1000));
        latencies = new AtomicLongArray(window.length());
        cpu += cpuNs();
        time += System.nanoTime();
        long resident = residentKib();
        stopped = true;
        CompletableFuture.allOf(clients.toArray(new CompletableFuture<?>[0])).join();
        if (failure.get() != null) {
            throw new IOException("an operation failed: " + failure.get());
        }
        long operations = upTo(window, window.length());
        double elapsed = time / 1e9;
        String form = "\t%d\t%.3f\t%.1f\t%.2f\t%d\t%.1f";
        double cpuUs = cpu / 1e3 / operations;
        double p99 = quantileNs(window, operations, 0.99) / 1e3;
        return String.format(Locale.ROOT, form, operations, elapsed, operations / elapsed, cpuUs, resident, p99);
    }

    private static long upTo(AtomicLongArray counts, int end) {
        long sum = 0;
        for (int bin = 0; bin < end; bin++) {
            sum += counts.get(bin);
        }
        return sum;
    }

    private static double quantileNs(AtomicLongArray counts, long all, double quantile) {
        long left = (long) Math.ceil(all * quantile);
        int bin = 0;
        for (left -= counts.get(0); left > 0; left -= counts.get(bin)) {
            bin++;
        }
        int shift = Math.max(0, (bin >> BITS) - 1);
        return (double) ((bin - (shift << BITS) + 1L) << shift);
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
