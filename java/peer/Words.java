import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.util.Bytes;

/** The words of one command, taken from the front. */
final class Words {
    private final String[] words;
    private int taken;

    Words(String line) {
        words = line.split("\t", -1);
    }

    boolean more() {
        return taken < words.length;
    }

    String next() {
        if (!more()) {
            throw new IllegalArgumentException("a word is missing after " + words[0]);
        }
        return words[taken++];
    }

    /** Bytes; null for {@code -}. */
    byte[] bytes() {
        String word = next();
        return word.equals("-") ? null : Bytes.fromHex(word);
    }

    long number() {
        return Long.parseLong(next());
    }

    int count() {
        return Integer.parseInt(next());
    }

    TableName table() {
        return TableName.valueOf(next());
    }

    static String hex(byte[] bytes) {
        return Bytes.toHex(bytes);
    }
}
