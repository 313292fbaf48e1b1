import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.instrument.Instrumentation;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.lang.reflect.Array;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.Attribute;
import javax.management.AttributeNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.ReflectionException;
import javax.management.RuntimeMBeanException;
import javax.management.openmbean.CompositeData;

/**
 * A server's metrics and operations over a local socket: one line asks, one line of JSON answers.
 *
 * <p>Loaded with {@code -javaagent:JAR=port=P,host=H}. Commands: {@code ping}, {@code metrics},
 * {@code read OBJECTNAME ATTRIBUTE}, {@code names PATTERN}, {@code operation NAME ARGUMENT...}. An answer has
 * {@code "ok":true}, or {@code "ok":false} and {@code "error"}. Each connection has its own daemon thread, so that a
 * decommission that lasts minutes holds up nobody. Nothing of the server is touched before the first command.
 *
 * <p>The value of a metric is the sum of those of its rows that this version of the server has; a metric with none is
 * left out. A row is: metric, object name, attribute; an attribute with a question mark is 0 for as long as the server
 * has not registered it (streaming: until the first stream). Java 8, no dependency.
 */
public final class SteelyardAgent implements Runnable {
    private static final String M = "org.apache.cassandra.metrics:";

    private static final String[] ROWS = {
        "server_compactions_pending " + M + "type=Compaction,name=PendingTasks Value",
        "server_compaction_bytes_total " + M + "type=Compaction,name=BytesCompacted Count",
        "server_compactions_completed_total " + M + "type=Compaction,name=TotalCompactionsCompleted Count",
        "server_key_cache_hits_total " + M + "type=Cache,scope=KeyCache,name=Hits Count",
        "server_key_cache_requests_total " + M + "type=Cache,scope=KeyCache,name=Requests Count",
        "server_row_cache_hits_total " + M + "type=Cache,scope=RowCache,name=Hits Count",
        "server_client_reads_total " + M + "type=ClientRequest,scope=Read,name=Latency Count",
        "server_client_writes_total " + M + "type=ClientRequest,scope=Write,name=Latency Count",
        "server_client_range_total " + M + "type=ClientRequest,scope=RangeSlice,name=Latency Count",
        "server_read_stage_pending " + M + "type=ThreadPools,path=request,scope=ReadStage,name=PendingTasks Value",
        "server_mutation_stage_pending " + M
            + "type=ThreadPools,path=request,scope=MutationStage,name=PendingTasks Value",
        "server_native_pending " + M
            + "type=ThreadPools,path=transport,scope=Native-Transport-Requests,name=PendingTasks Value",
        "server_dropped_total org.apache.cassandra.net:type=MessagingService DroppedMessages",
        "server_timeouts_total " + M + "type=ClientRequest,scope=Read,name=Timeouts Count",
        "server_timeouts_total " + M + "type=ClientRequest,scope=Write,name=Timeouts Count",
        "server_timeouts_total " + M + "type=ClientRequest,scope=RangeSlice,name=Timeouts Count",
        "server_unavailables_total " + M + "type=ClientRequest,scope=Read,name=Unavailables Count",
        "server_unavailables_total " + M + "type=ClientRequest,scope=Write,name=Unavailables Count",
        "server_unavailables_total " + M + "type=ClientRequest,scope=RangeSlice,name=Unavailables Count",
        "server_hints_total " + M + "type=Storage,name=TotalHints Count",
        "server_hints_replayed_total " + M + "type=HintsService,name=HintsSucceeded Count?",
        "server_hints_in_progress " + M + "type=Storage,name=TotalHintsInProgress Count",
        "server_streams_active org.apache.cassandra.net:type=StreamManager CurrentStreams",
        "server_streaming_in_bytes_total " + M + "type=Streaming,name=TotalIncomingBytes Count?",
        "server_streaming_out_bytes_total " + M + "type=Streaming,name=TotalOutgoingBytes Count?",
        "server_commitlog_pending " + M + "type=CommitLog,name=PendingTasks Value",
        "server_commitlog_bytes " + M + "type=CommitLog,name=TotalCommitLogSize Value",
    };

    /** Rows of every user table: metric, name of the table's metric, attribute. */
    private static final String[] TABLE_ROWS = {
        "server_memtable_bytes MemtableOnHeapSize Value",
        "server_memtable_bytes MemtableOffHeapSize Value",
        "server_memtable_data_bytes MemtableLiveDataSize Value",
        "server_memtable_flushes_total MemtableSwitchCount Count",
        "server_flushes_pending PendingFlushes Count",
        "server_sstables LiveSSTableCount Value",
        "server_live_disk_bytes LiveDiskSpaceUsed Count",
        "server_bloom_false_positives_total BloomFilterFalsePositives Value",
        "server_local_reads_total ReadLatency Count",
        "server_local_writes_total WriteLatency Count",
    };

    /** With more user tables than this the server's own sums over all tables, system tables included, are read. */
    private static final int MOST_TABLES = 64;

    /** The plan of what is read is made anew this often, for tables that were made or dropped. */
    private static final long PLAN_NS = 10_000_000_000L;

    private static final String[] STATUS = {
        "OperationMode", "LiveNodes", "UnreachableNodes", "JoiningNodes", "LeavingNodes", "MovingNodes", "LoadMap",
        "ReleaseVersion", "SchemaVersion", "LocalHostId", "EndpointToHostId", "NativeTransportRunning",
    };

    private static final long REPAIR_POLL_MS = 100;
    private static final String STRINGS = "[Ljava.lang.String;";
    private static final String STRING = "java.lang.String";
    private static final AtomicLong CPU_NS = new AtomicLong();

    // The plan, guarded by the class: for each row its metric's slot, object name, attribute, and what is known of it.
    private static long plannedAt;
    private static String[] metrics;
    private static int[] slots;
    private static ObjectName[] names;
    private static String[] attributes;
    private static boolean[] zeroAtFirst;
    private static boolean[] registered;

    private final String host;
    private final int port;
    private final Socket connection;

    private SteelyardAgent(String host, int port, Socket connection) {
        this.host = host;
        this.port = port;
        this.connection = connection;
    }

    public static void premain(String arguments, Instrumentation ignored) {
        agentmain(arguments, ignored);
    }

    public static void agentmain(String arguments, Instrumentation ignored) {
        String host = "127.0.0.1";
        int port = 0;
        for (String word : arguments == null ? new String[0] : arguments.split(",")) {
            if (word.startsWith("port=")) {
                port = Integer.parseInt(word.substring(5));
            } else if (word.startsWith("host=")) {
                host = word.substring(5);
            } else {
                System.err.println("steelyard agent: unknown argument '" + word + "' (known: port=P,host=H)");
            }
        }
        start(new SteelyardAgent(host, port, null), "steelyard-agent");
    }

    private static void start(SteelyardAgent agent, String name) {
        Thread thread = new Thread(agent, name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        try {
            if (connection == null) {
                listen();
            } else {
                answer();
            }
        } catch (IOException e) {
            if (connection == null) {
                System.err.println("steelyard agent: cannot serve on " + host + ":" + port + ": " + e);
            }
        }
    }

    private void listen() throws IOException {
        try (ServerSocket server = new ServerSocket()) {
            server.setReuseAddress(true);
            server.bind(new InetSocketAddress(InetAddress.getByName(host), port), 16);
            while (true) {
                start(new SteelyardAgent(host, port, server.accept()), "steelyard-agent-connection");
            }
        }
    }

    private void answer() throws IOException {
        try (Socket socket = connection) {
            socket.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            OutputStream out = socket.getOutputStream();
            long before = ownCpu();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.write((reply(line.trim()) + "\n").getBytes(StandardCharsets.UTF_8));
                out.flush();
                long now = ownCpu();
                CPU_NS.addAndGet(now - before);
                before = now;
            }
        }
    }

    private static long ownCpu() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static String reply(String line) {
        long began = System.nanoTime();
        try {
            String[] words = line.split("\\s+");
            switch (words[0]) {
                case "ping":
                    return ok("runtime", ManagementFactory.getRuntimeMXBean().getName(), began);
                case "metrics":
                    return metrics();
                case "read":
                    return ok("value", server().getAttribute(new ObjectName(words[1]), words[2]), began);
                case "names":
                    return ok("names", new TreeSet<>(server().queryNames(new ObjectName(words[1]), null)), began);
                case "operation":
                    return ok("value", operation(words), began);
                default:
                    return failed("unknown command '" + words[0] + "' (known: ping, metrics, read, names, operation)");
            }
        } catch (ArrayIndexOutOfBoundsException e) {
            return failed("too few words in '" + line + "'");
        } catch (Exception | LinkageError e) {
            Throwable cause = e;
            while (cause.getCause() != null && (cause instanceof JMException || cause instanceof RuntimeMBeanException)) {
                cause = cause.getCause();
            }
            return failed(cause.toString());
        }
    }

    private static String ok(String key, Object value, long began) {
        StringBuilder out = new StringBuilder("{\"ok\":true,\"seconds\":");
        out.append((System.nanoTime() - began) / 1e9).append(",\"").append(key).append("\":");
        json(out, value);
        return out.append('}').toString();
    }

    private static String failed(String error) {
        StringBuilder out = new StringBuilder("{\"ok\":false,\"error\":");
        json(out, error);
        return out.append('}').toString();
    }

    private static MBeanServer server() {
        return ManagementFactory.getPlatformMBeanServer();
    }

    private static ObjectName storage() throws JMException {
        return new ObjectName("org.apache.cassandra.db:type=StorageService");
    }

    // ---- metrics ----

    private static synchronized String metrics() throws JMException {
        if (names == null || System.nanoTime() - plannedAt > PLAN_NS) {
            plan();
        }
        double[] values = new double[metrics.length];
        boolean[] found = new boolean[metrics.length];
        MBeanServer server = server();
        for (int i = 0; i < names.length; i++) {
            found[slots[i]] |= zeroAtFirst[i];
            registered[i] = registered[i] || server.isRegistered(names[i]);
            if (registered[i]) {
                try {
                    values[slots[i]] += number(server.getAttribute(names[i], attributes[i]));
                    found[slots[i]] = true;
                } catch (JMException | RuntimeException e) {
                    registered[i] = false; // a table that was dropped
                }
            }
        }
        StringBuilder out = new StringBuilder(2048).append("{\"ok\":true,\"metrics\":{");
        virtualMachine(out);
        for (int slot = 0; slot < metrics.length; slot++) {
            if (found[slot] && !Double.isNaN(values[slot]) && !Double.isInfinite(values[slot])) {
                put(out.append(','), metrics[slot], values[slot]);
            }
        }
        return out.append("}}").toString();
    }

    private static void virtualMachine(StringBuilder out) {
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        double seconds = 0;
        double count = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            // Pauses only: these two report the length of cycles that run beside the application.
            if (!collector.getName().endsWith("Cycles") && !collector.getName().endsWith("Concurrent GC")) {
                seconds += Math.max(0, collector.getCollectionTime()) / 1000.0;
                count += Math.max(0, collector.getCollectionCount());
            }
        }
        put(out, "server_heap_used_bytes", heap.getUsed());
        put(out.append(','), "server_heap_max_bytes", heap.getMax());
        put(out.append(','), "server_gc_seconds_total", seconds);
        put(out.append(','), "server_gc_count_total", count);
        put(out.append(','), "server_agent_cpu_seconds_total", CPU_NS.get() / 1e9);
    }

    private static void put(StringBuilder out, String metric, double value) {
        out.append('"').append(metric).append("\":");
        if (value == (long) value) {
            out.append((long) value);
        } else {
            out.append(value);
        }
    }

    /** A number as it is; of a map the sum of its numbers; of a collection its size. */
    private static double number(Object value) {
        if (value instanceof Number) {
            return ((Number) value).doubleValue();
        }
        if (value instanceof Collection) {
            return ((Collection<?>) value).size();
        }
        double sum = 0;
        for (Object each : ((Map<?, ?>) value).values()) {
            sum += ((Number) each).doubleValue();
        }
        return sum;
    }

    /** Decides what is read: the fixed rows, and those of the user tables that there are now. */
    private static void plan() throws JMException {
        List<String> rows = new ArrayList<>(Arrays.asList(ROWS));
        TreeSet<String> tables = new TreeSet<>();
        TreeSet<String> keyspaces = new TreeSet<>();
        userTables(tables, keyspaces);
        if (tables.size() > MOST_TABLES) {
            tables.clear();
            tables.add("");
        }
        for (String table : tables) {
            for (String row : TABLE_ROWS) {
                rows.add(row.replaceFirst(" ", " " + M + "type=Table," + table + "name="));
            }
        }
        String reads = keyspaces.size() == 1 ? "type=Keyspace,keyspace=" + keyspaces.first() : "type=Table";
        rows.add("server_sstables_per_read_p50 " + M + reads + ",name=SSTablesPerReadHistogram 50thPercentile");
        rows.add("server_sstables_per_read_p99 " + M + reads + ",name=SSTablesPerReadHistogram 99thPercentile");
        List<String> slotNames = new ArrayList<>();
        slots = new int[rows.size()];
        names = new ObjectName[rows.size()];
        attributes = new String[rows.size()];
        zeroAtFirst = new boolean[rows.size()];
        registered = new boolean[rows.size()];
        for (int i = 0; i < names.length; i++) {
            String[] words = rows.get(i).split(" ");
            if (!slotNames.contains(words[0])) {
                slotNames.add(words[0]);
            }
            slots[i] = slotNames.indexOf(words[0]);
            zeroAtFirst[i] = words[2].endsWith("?");
            attributes[i] = words[2].replace("?", "");
            names[i] = new ObjectName(words[1]);
        }
        metrics = slotNames.toArray(new String[0]);
        plannedAt = System.nanoTime();
    }

    private static void userTables(TreeSet<String> tables, TreeSet<String> keyspaces) throws JMException {
        ObjectName all = new ObjectName("org.apache.cassandra.db:type=Tables,keyspace=*,table=*");
        for (ObjectName name : server().queryNames(all, null)) {
            String keyspace = name.getKeyProperty("keyspace");
            if (!keyspace.equals("system") && !keyspace.startsWith("system_")) {
                keyspaces.add(keyspace);
                tables.add("keyspace=" + keyspace + ",scope=" + name.getKeyProperty("table") + ",");
            }
        }
    }

    // ---- operations ----

    private static Object operation(String[] words) throws JMException {
        String first = words.length > 2 ? words[2] : null;
        switch (words[1]) {
            case "status":
                return status();
            case "flush":
                for (String keyspace : keyspaces(first, "Keyspaces")) {
                    invoke("forceKeyspaceFlush", STRING, keyspace, STRINGS, new String[0]);
                }
                return null;
            case "compact":
                for (String keyspace : keyspaces(first, "NonSystemKeyspaces")) {
                    invoke("forceKeyspaceCompaction", "boolean", false, STRING, keyspace, STRINGS, new String[0]);
                }
                return null;
            case "cleanup":
                return cleanup(keyspaces(first, "NonSystemKeyspaces"));
            case "drain":
                return invoke("drain");
            case "upgradesstables":
                return upgradeFiles(keyspaces(first, "Keyspaces"));
            case "decommission":
                return decommission("force".equals(first));
            case "removenode":
                return invoke("removeNode", STRING, words[2]);
            case "streamthroughput":
                return streamThroughput(Integer.parseInt(words[2]), words.length > 3 ? Integer.parseInt(words[3]) : -1);
            case "compactionthroughput":
                return compactionThroughput(Integer.parseInt(words[2]));
            case "repair":
                return repair(keyspaces(first, "NonSystemKeyspaces"));
            case "snapshot":
                return invoke("takeSnapshot", STRING, words[2], "java.util.Map", new LinkedHashMap<String, String>(),
                    STRINGS, Arrays.copyOfRange(words, 3, words.length));
            case "clearsnapshot":
                return invoke("clearSnapshot", STRING, words[2], STRINGS, Arrays.copyOfRange(words, 3, words.length));
            default:
                throw new IllegalArgumentException("unknown operation '" + words[1] + "' (known: status, flush, compact,"
                    + " cleanup, drain, upgradesstables, decommission, removenode, streamthroughput, compactionthroughput, repair,"
                    + " snapshot, clearsnapshot)");
        }
    }

    /** Invokes an operation of the StorageService with pairs of type and argument. */
    private static Object invoke(String operation, Object... typesAndArguments) throws JMException {
        int count = typesAndArguments.length / 2;
        String[] types = new String[count];
        Object[] arguments = new Object[count];
        for (int i = 0; i < count; i++) {
            types[i] = (String) typesAndArguments[2 * i];
            arguments[i] = typesAndArguments[2 * i + 1];
        }
        return server().invoke(storage(), operation, arguments, types);
    }

    private static Collection<?> keyspacesOf(String attribute) throws JMException {
        return (Collection<?>) server().getAttribute(storage(), attribute);
    }

    private static List<String> keyspaces(String given, String attribute) throws JMException {
        List<String> chosen = new ArrayList<>();
        for (Object keyspace : given != null ? Arrays.asList(given) : keyspacesOf(attribute)) {
            chosen.add(keyspace.toString());
        }
        return chosen;
    }

    private static Object status() throws JMException {
        Map<String, Object> status = new LinkedHashMap<>();
        for (String attribute : STATUS) {
            try {
                status.put(attribute, server().getAttribute(storage(), attribute));
            } catch (AttributeNotFoundException | RuntimeMBeanException e) {
                status.put(attribute, null); // not in this version, or not yet at this point of the start
            }
        }
        return status;
    }

    private static Object cleanup(List<String> keyspaces) throws JMException {
        for (String keyspace : keyspaces) {
            Object result = invoke("forceKeyspaceCleanup", "int", 0, STRING, keyspace, STRINGS, new String[0]);
            if (number(result) != 0) {
                throw new IllegalStateException("cleanup of " + keyspace + " ended with status " + result);
            }
        }
        return null;
    }

    /** Writes files anew that are not yet in the current version's format, as nodetool upgradesstables does. */
    private static Object upgradeFiles(List<String> keyspaces) throws JMException {
        for (String keyspace : keyspaces) {
            Object result = invoke("upgradeSSTables", STRING, keyspace, "boolean", true, "int", 0, STRINGS, new String[0]);
            if (number(result) != 0) {
                throw new IllegalStateException("files of " + keyspace + " were not all rewritten: status " + result);
            }
        }
        return null;
    }

    private static Object decommission(boolean force) throws JMException {
        try {
            return invoke("decommission", "boolean", force);
        } catch (ReflectionException e) {
            return invoke("decommission"); // 3.11 knows no force
        }
    }

    /**
     * Repairs in full what this node has of keyspaces, and waits for it. A keyspace with one copy needs none: the
     * server gives such a repair the number 0.
     */
    private static Object repair(List<String> keyspaces) throws JMException {
        Map<String, String> options = new LinkedHashMap<>();
        options.put("incremental", "false");
        for (String keyspace : keyspaces) {
            Object number = invoke("repairAsync", STRING, keyspace, "java.util.Map", options);
            if (((Number) number).intValue() != 0) {
                awaitRepair(keyspace, number);
            }
        }
        return null;
    }

    private static void awaitRepair(String keyspace, Object number) throws JMException {
        while (true) {
            List<?> status = (List<?>) invoke("getParentRepairStatus", "int", number);
            String state = status == null || status.isEmpty() ? "" : status.get(0).toString();
            if (state.equals("COMPLETED")) {
                return;
            }
            if (state.equals("FAILED")) {
                throw new IllegalStateException("repair of " + keyspace + " failed: " + status);
            }
            try {
                Thread.sleep(REPAIR_POLL_MS);
            } catch (InterruptedException e) {
                throw new IllegalStateException("repair of " + keyspace + " was interrupted");
            }
        }
    }

    private static Object compactionThroughput(int mebibytes) throws JMException {
        Map<String, Object> set = new LinkedHashMap<>();
        trySet("CompactionThroughputMbPerSec", mebibytes, set); // in MiB/s, whatever it is called
        return set;
    }

    /** Limits streaming to other nodes, files as a whole included (by their own limit if given); 0 lifts the limits. */
    private static Object streamThroughput(int megabits, int whole) throws JMException {
        Map<String, Object> set = new LinkedHashMap<>();
        if (!trySet("StreamThroughputMbitPerSec", megabits, set)) {
            trySet("StreamThroughputMbPerSec", megabits, set); // 3.11, in megabits too
        }
        int mebibytes = whole >= 0 ? whole : (int) Math.ceil(megabits * 1e6 / 8 / 1024 / 1024);
        trySet("EntireSSTableStreamThroughputMebibytesPerSec", mebibytes, set);
        return set;
    }

    private static boolean trySet(String attribute, Object value, Map<String, Object> set) throws JMException {
        try {
            server().setAttribute(storage(), new Attribute(attribute, value));
            set.put(attribute, value);
            return true;
        } catch (AttributeNotFoundException e) {
            return false;
        }
    }

    // ---- JSON ----

    private static void json(StringBuilder out, Object value) {
        if (value == null || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof Number) {
            double number = ((Number) value).doubleValue();
            out.append(Double.isNaN(number) || Double.isInfinite(number) ? "null" : value.toString());
        } else if (value instanceof Map) {
            jsonMap(out, (Map<?, ?>) value);
        } else if (value instanceof CompositeData) {
            CompositeData data = (CompositeData) value;
            Map<String, Object> map = new LinkedHashMap<>();
            for (String key : data.getCompositeType().keySet()) {
                map.put(key, data.get(key));
            }
            jsonMap(out, map);
        } else if (value instanceof Iterable) {
            jsonList(out, (Iterable<?>) value);
        } else if (value.getClass().isArray()) {
            List<Object> list = new ArrayList<>();
            for (int i = 0; i < Array.getLength(value); i++) {
                list.add(Array.get(value, i));
            }
            jsonList(out, list);
        } else {
            jsonString(out, value.toString());
        }
    }

    private static void jsonMap(StringBuilder out, Map<?, ?> map) {
        char before = '{';
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            jsonString(out.append(before), String.valueOf(entry.getKey()));
            json(out.append(':'), entry.getValue());
            before = ',';
        }
        out.append(before == '{' ? "{}" : "}");
    }

    private static void jsonList(StringBuilder out, Iterable<?> list) {
        char before = '[';
        for (Object each : list) {
            json(out.append(before), each);
            before = ',';
        }
        out.append(before == '[' ? "[]" : "]");
    }

    private static void jsonString(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20 || Character.isSurrogate(c)) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
