import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A plain program over the official Java driver, told by lines what to do: the measure of that driver's cost.
 *
 * <p>{@code java -cp ... Cql HOST PORT}. A line on standard input is {@code bench read|write ROWS VALUE_BYTES IN_FLIGHT
 * WARM_UP_S SECONDS}, separated by tabs; each gets one line on standard output, {@code ok} and the words of {@link
 * Meter}, or {@code error} and why. Ends with its input.
 */
public final class Cql {
    private static final String SELECT = "SELECT \"field0\" FROM \"ycsb\".\"usertable\" WHERE y_id = ? LIMIT 1";
    private static final String INSERT = "INSERT INTO \"ycsb\".\"usertable\" (y_id, \"field0\") VALUES (?, ?)";

    private final CqlSession session;
    private final PreparedStatement statement;
    private final boolean writes;
    private final long rows;
    private final String value;
    private final AtomicLong number = new AtomicLong();

    private Cql(CqlSession session, boolean writes, long rows, int valueBytes) {
        this.session = session;
        this.writes = writes;
        this.rows = rows;
        value = "x".repeat(valueBytes);
        statement = session.prepare(writes ? INSERT : SELECT);
    }

    public static void main(String[] node) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        try (CqlSession session = connect(new InetSocketAddress(node[0], Integer.parseInt(node[1])))) {
            say(out, "ok\tready");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                say(out, answer(session, line.split("\t", -1)));
            }
        }
    }

    private static CqlSession connect(InetSocketAddress node) {
        DriverConfigLoader options = DriverConfigLoader.programmaticBuilder()
                .withString(DefaultDriverOption.REQUEST_CONSISTENCY, ConsistencyLevel.ONE.name())
                .withBoolean(DefaultDriverOption.LOAD_BALANCING_POLICY_SLOW_AVOIDANCE, false) // there is one node
                .build();
        return CqlSession.builder()
                .addContactPoint(node)
                .withLocalDatacenter("datacenter1")
                .withConfigLoader(options)
                .build();
    }

    private static String answer(CqlSession session, String[] words) {
        try {
            Cql bench = new Cql(session, words[1].equals("write"), Long.parseLong(words[2]), Integer.parseInt(words[3]));
            Meter meter = new Meter();
            for (int client = Integer.parseInt(words[4]); client > 0; client--) {
                meter.chain(bench::once);
            }
            return "ok" + meter.window(Double.parseDouble(words[5]), Double.parseDouble(words[6]));
        } catch (Exception failure) {
            return "error\t" + failure.getClass().getName() + "\t" + failure.getMessage();
        }
    }

    private CompletionStage<AsyncResultSet> once() {
        String key = "user" + Long.remainderUnsigned(number.getAndIncrement() * 0x9E3779B97F4A7C15L, rows);
        BoundStatement bound = writes ? statement.bind(key, value) : statement.bind(key);
        return session.executeAsync(bound).thenApply(this::checked);
    }

    private AsyncResultSet checked(AsyncResultSet answer) {
        if (!writes) {
            Row row = answer.one();
            if (row == null || row.getString(0).length() != value.length()) {
                throw new IllegalStateException("a row is missing or cut: load the table first");
            }
        }
        return answer;
    }

    private static void say(PrintStream out, String line) {
        out.println(line);
        out.flush();
    }
}
