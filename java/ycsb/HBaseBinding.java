import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * A binding of YCSB's for HBase, on the table of its {@code hbase2}: columnfamily; and where the cluster is, as the
 * property hbase.client.bootstrap.servers.
 *
 * <p>See {@link CqlBinding} for why it is here.
 */
public final class HBaseBinding extends DB {
    private Connection connection;
    private byte[] family;

    @Override
    public void init() throws DBException {
        family = Bytes.toBytes(getProperties().getProperty("columnfamily"));
        String servers = getProperties().getProperty("hbase.client.bootstrap.servers");
        try {
            connection = ConnectionFactory.createConnection(Peer.configuration(servers));
        } catch (IOException failure) {
            throw new DBException(failure);
        }
    }

    @Override
    public void cleanup() throws DBException {
        try {
            connection.close();
        } catch (IOException failure) {
            throw new DBException(failure);
        }
    }

    @Override
    public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
        return asked(table, found -> {
            Get get = new Get(Bytes.toBytes(key)).addFamily(family);
            if (fields != null) {
                fields.forEach(field -> get.addColumn(family, Bytes.toBytes(field)));
            }
            Result row = found.get(get);
            take(row, result);
            return row.isEmpty() ? Status.NOT_FOUND : Status.OK;
        });
    }

    @Override
    public Status scan(
            String table, String start, int count, Set<String> fields, Vector<HashMap<String, ByteIterator>> result) {
        return asked(table, found -> {
            Scan scan = new Scan().withStartRow(Bytes.toBytes(start)).setLimit(count).addFamily(family);
            try (ResultScanner rows = found.getScanner(scan)) {
                for (Result row : rows) {
                    HashMap<String, ByteIterator> values = new HashMap<>();
                    take(row, values);
                    result.add(values);
                }
            }
            return Status.OK;
        });
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        return asked(table, found -> {
            Put put = new Put(Bytes.toBytes(key));
            values.forEach((name, value) -> put.addColumn(family, Bytes.toBytes(name), value.toArray()));
            found.put(put);
            return Status.OK;
        });
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        return update(table, key, values);
    }

    @Override
    public Status delete(String table, String key) {
        return asked(table, found -> {
            found.delete(new Delete(Bytes.toBytes(key)));
            return Status.OK;
        });
    }

    private interface Call {
        Status run(Table table) throws IOException;
    }

    private Status asked(String table, Call call) {
        try (Table found = connection.getTable(TableName.valueOf(table))) {
            return call.run(found);
        } catch (IOException failure) {
            System.err.println(failure);
            return Status.ERROR;
        }
    }

    private void take(Result row, Map<String, ByteIterator> result) {
        if (!row.isEmpty()) {
            row.getFamilyMap(family).forEach((name, value) ->
                    result.put(Bytes.toString(name), new ByteArrayByteIterator(value)));
        }
    }
}
