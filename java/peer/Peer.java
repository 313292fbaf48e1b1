import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/**
 * HBase's own client, told by lines what to do: the other side of our client's tests, and the measure of its cost.
 *
 * <p>{@code java -cp ... Peer SERVER[,SERVER...]}, each a host:port of a master or region server. A line on standard
 * input is a command and its words, separated by tabs; bytes are hexadecimal, {@code -} stands for "none". Each gets
 * one line on standard output: {@code ok} and words, or {@code error}, the exception's class and its text. Ends with
 * its input.
 */
public final class Peer {
    private Peer() {}

    public static void main(String[] servers) throws IOException {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        try (Connection connection = ConnectionFactory.createConnection(configuration(servers[0]))) {
            say(out, "ok\tready");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                say(out, answer(connection, new Words(line)));
            }
        }
    }

    static Configuration configuration(String servers) {
        Configuration configuration = HBaseConfiguration.create();
        configuration.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.RpcConnectionRegistry");
        configuration.set("hbase.client.bootstrap.servers", servers);
        configuration.set("hbase.masters", servers); // what versions before 2.5 read
        return configuration;
    }

    private static String answer(Connection connection, Words words) {
        try {
            String command = words.next();
            return "ok" + switch (command) {
                case "put" -> Rows.put(connection, words);
                case "get" -> Rows.get(connection, words);
                case "delete" -> Rows.delete(connection, words);
                case "scan" -> Rows.scan(connection, words);
                case "increment" -> Rows.increment(connection, words);
                case "append" -> Rows.append(connection, words);
                case "create" -> Tables.create(connection, words);
                case "describe" -> Tables.describe(connection, words);
                case "disable" -> Tables.disable(connection, words);
                case "drop" -> Tables.drop(connection, words);
                case "regions" -> Tables.regions(connection, words);
                case "split" -> Tables.split(connection, words);
                case "move" -> Tables.move(connection, words);
                case "load" -> Bench.load(connection, words);
                case "bench" -> Bench.run(connection, words);
                default -> throw new IllegalArgumentException("no such command: " + command);
            };
        } catch (Exception failure) {
            String text = String.valueOf(failure.getMessage()).replaceAll("\\s+", " ");
            return "error\t" + failure.getClass().getName() + "\t" + text;
        }
    }

    private static void say(PrintStream out, String line) {
        out.println(line);
        out.flush();
    }
}
