import java.io.IOException;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/** Commands on rows. Cells are answered as {@code row:family:qualifier:timestamp:value}. */
final class Rows {
    private Rows() {}

    /** table row family, then qualifier timestamp value, repeated; timestamp {@code -}: the server's. */
    static String put(Connection connection, Words words) throws IOException {
        try (Table table = connection.getTable(words.table())) {
            Put put = new Put(words.bytes());
            byte[] family = words.bytes();
            while (words.more()) {
                byte[] qualifier = words.bytes();
                long timestamp = timestamp(words);
                put.addColumn(family, qualifier, timestamp, words.bytes());
            }
            table.put(put);
            return "";
        }
    }

    /** table row versions */
    static String get(Connection connection, Words words) throws IOException {
        try (Table table = connection.getTable(words.table())) {
            return cells(table.get(new Get(words.bytes()).readVersions(words.count())));
        }
    }

    /** table row kind family qualifier timestamp; kind: row, family, family-version, column, version. */
    static String delete(Connection connection, Words words) throws IOException {
        try (Table table = connection.getTable(words.table())) {
            Delete delete = new Delete(words.bytes());
            String kind = words.next();
            byte[] family = words.bytes();
            byte[] qualifier = words.bytes();
            long timestamp = timestamp(words);
            switch (kind) {
                case "row" -> delete.setTimestamp(timestamp);
                case "family" -> delete.addFamily(family, timestamp);
                case "family-version" -> delete.addFamilyVersion(family, timestamp);
                case "column" -> delete.addColumns(family, qualifier, timestamp);
                case "version" -> delete.addColumn(family, qualifier, timestamp);
                default -> throw new IllegalArgumentException("no such kind of delete: " + kind);
            }
            table.delete(delete);
            return "";
        }
    }

    /** table start stop ({@code -}: open) reversed versions caching limit (0: none) */
    static String scan(Connection connection, Words words) throws IOException {
        try (Table table = connection.getTable(words.table())) {
            Scan scan = new Scan();
            scan.withStartRow(bound(words)).withStopRow(bound(words));
            scan.setReversed(Boolean.parseBoolean(words.next())).readVersions(words.count()).setCaching(words.count());
            int limit = words.count();
            scan.setLimit(limit == 0 ? -1 : limit);
            StringBuilder found = new StringBuilder();
            try (ResultScanner rows = table.getScanner(scan)) {
                rows.forEach(row -> found.append(cells(row)));
            }
            return found.toString();
        }
    }

    /** table row family qualifier amount; answers the sum. */
    static String increment(Connection connection, Words words) throws IOException {
        try (Table table = connection.getTable(words.table())) {
            Increment increment = new Increment(words.bytes());
            byte[] family = words.bytes();
            byte[] qualifier = words.bytes();
            increment.addColumn(family, qualifier, words.number());
            return "\t" + Bytes.toLong(table.increment(increment).getValue(family, qualifier));
        }
    }

    /** table row family qualifier value; answers the whole. */
    static String append(Connection connection, Words words) throws IOException {
        try (Table table = connection.getTable(words.table())) {
            Append append = new Append(words.bytes());
            append.addColumn(words.bytes(), words.bytes(), words.bytes());
            return cells(table.append(append));
        }
    }

    private static byte[] bound(Words words) {
        byte[] row = words.bytes();
        return row == null ? HConstants.EMPTY_BYTE_ARRAY : row;
    }

    private static long timestamp(Words words) {
        String word = words.next();
        return word.equals("-") ? HConstants.LATEST_TIMESTAMP : Long.parseLong(word);
    }

    private static String cells(Result result) {
        StringBuilder text = new StringBuilder();
        Cell[] cells = result.rawCells();
        for (Cell cell : cells == null ? new Cell[0] : cells) {
            text.append('\t').append(Words.hex(CellUtil.cloneRow(cell)));
            text.append(':').append(Words.hex(CellUtil.cloneFamily(cell)));
            text.append(':').append(Words.hex(CellUtil.cloneQualifier(cell)));
            text.append(':').append(cell.getTimestamp());
            text.append(':').append(Words.hex(CellUtil.cloneValue(cell)));
        }
        return text.toString();
    }
}
