import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/** Commands on tables and regions. */
final class Tables {
    private static final long PATIENCE_S = 60;

    private Tables() {}

    /** table family versions, then split keys */
    static String create(Connection connection, Words words) throws IOException {
        try (Admin admin = connection.getAdmin()) {
            TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(words.table());
            ColumnFamilyDescriptorBuilder family = ColumnFamilyDescriptorBuilder.newBuilder(words.bytes());
            table.setColumnFamily(family.setMaxVersions(words.count()).build());
            List<byte[]> splits = new ArrayList<>();
            while (words.more()) {
                splits.add(words.bytes());
            }
            admin.createTable(table.build(), splits.isEmpty() ? null : splits.toArray(new byte[0][]));
            return "";
        }
    }

    /** table; answers FAMILY.ATTRIBUTE=VALUE words, ordered, as the server has them. */
    static String describe(Connection connection, Words words) throws IOException {
        try (Admin admin = connection.getAdmin()) {
            StringBuilder text = new StringBuilder();
            for (ColumnFamilyDescriptor family : admin.getDescriptor(words.table()).getColumnFamilies()) {
                Map<String, String> values = new TreeMap<>();
                String name = family.getNameAsString();
                family.getValues().forEach((key, value) -> values.put(key.toString(), Bytes.toString(value.get())));
                values.forEach((key, value) -> text.append('\t' + name + '.' + key + '=' + value));
            }
            return text.toString();
        }
    }

    static String disable(Connection connection, Words words) throws IOException {
        try (Admin admin = connection.getAdmin()) {
            admin.disableTable(words.table());
            return "";
        }
    }

    /** table; disabled first if it is not. */
    static String drop(Connection connection, Words words) throws IOException {
        try (Admin admin = connection.getAdmin()) {
            TableName table = words.table();
            if (admin.isTableEnabled(table)) {
                admin.disableTable(table);
            }
            admin.deleteTable(table);
            return "";
        }
    }

    /** table; answers start:end:server of each region, in order. */
    static String regions(Connection connection, Words words) throws IOException {
        try (RegionLocator locator = connection.getRegionLocator(words.table())) {
            StringBuilder text = new StringBuilder();
            for (HRegionLocation at : locator.getAllRegionLocations()) {
                text.append('\t').append(Words.hex(at.getRegion().getStartKey()));
                text.append(':').append(Words.hex(at.getRegion().getEndKey()));
                text.append(':').append(at.getServerName());
            }
            return text.toString();
        }
    }

    /** table row: the region that holds the row is split there. */
    static String split(Connection connection, Words words) throws Exception {
        try (Admin admin = connection.getAdmin();
                RegionLocator locator = connection.getRegionLocator(words.table())) {
            byte[] row = words.bytes();
            HRegionLocation at = locator.getRegionLocation(row, true);
            admin.splitRegionAsync(at.getRegion().getRegionName(), row).get(PATIENCE_S, TimeUnit.SECONDS);
            return "";
        }
    }

    /** table row: the region that holds the row goes to another live server, which is answered. */
    static String move(Connection connection, Words words) throws IOException {
        try (Admin admin = connection.getAdmin();
                RegionLocator locator = connection.getRegionLocator(words.table())) {
            HRegionLocation at = locator.getRegionLocation(words.bytes(), true);
            for (ServerName server : admin.getRegionServers()) {
                if (!server.equals(at.getServerName())) {
                    admin.move(at.getRegion().getEncodedNameAsBytes(), server);
                    return "\t" + server;
                }
            }
            throw new IllegalStateException("there is no other region server");
        }
    }
}
