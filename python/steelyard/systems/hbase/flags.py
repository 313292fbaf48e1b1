"""The flags of a local HBase cluster, of a given one, and of both."""

from __future__ import annotations

from steelyard.spec.flag import Flag, byte_count, hosts, whole_seconds
from steelyard.spec.units import mebibytes
from steelyard.systems.local_flags import (
    ACCESS,
    CONNECTIONS,
    FRESH,
    HOSTS_HELP,
    LOCAL_FLAGS,
    PORT_HELP,
    RF_HELP,
    WATCH,
    heap,
)

HBASE_CLUSTER, HBASE_ACCESS = "Local HBase cluster", "Access to HBase"

CLIENT = (
    CONNECTIONS,
    FRESH,
    Flag("--table", "system.access.table", str,
         "Table, made if missing, or namespace:table.  [default: usertable]", HBASE_ACCESS),
    Flag("--family", "system.access.family", str, "Its column family.  [default: family]", HBASE_ACCESS),
    Flag("--regions", "system.access.regions", int,
         "Regions of a new table, of equal load.  [default: 3 a region server]", HBASE_ACCESS),
    Flag("--durability", "system.access.durability", str,
         "USE_DEFAULT, SKIP_WAL, ASYNC_WAL, SYNC_WAL or FSYNC_WAL.", HBASE_ACCESS),
    Flag("--scan-caching", "system.access.scan_caching", int,
         "Rows asked for by one call of a scan.  [default: 100]", HBASE_ACCESS),
    Flag("--block-cache/--no-block-cache", "system.access.block_cache", bool,
         "Reads may fill the block cache.", HBASE_ACCESS),
    Flag("--bloom", "system.access.bloom", str,
         "Bloom filter of a new table: NONE, ROW or ROWCOL.  [default: ROW]", HBASE_ACCESS),
    Flag("--versions", "system.access.versions", int,
         "Versions of a cell that a new table keeps.  [default: 1]", HBASE_ACCESS),
    Flag("--compression", "system.access.compression", str,
         "Compression of a new table: NONE, GZ, SNAPPY, LZ4, ZSTD.  [default: NONE]", HBASE_ACCESS),
    Flag("--client-buffering", "system.access.client_buffering_bytes", str,
         "Collect so many bytes of puts before sending, e.g. 2m; a put's latency is then that of a buffer.  "
         "[default: 0]", HBASE_ACCESS, byte_count),
)  # fmt: skip

HBASE = (
    *LOCAL_FLAGS,
    heap("system.heaps.region_server_mib"),
    Flag("--rf", "system.replication", int, RF_HELP, ACCESS),
    Flag("--masters", "system.masters", int, "HMasters: one is active, the others stand by.", HBASE_CLUSTER),
    Flag("--zookeepers", "system.zookeepers", int, "Servers of the ZooKeeper ensemble.", HBASE_CLUSTER),
    Flag("--roles", "system.roles", str,
         "Masters on nodes of their own (dedicated), or on node1 ... (colocated).", HBASE_CLUSTER),
    Flag("--master-heap", "system.heaps.master_mib", str, "Heap of an HMaster.", HBASE_CLUSTER, mebibytes),
    Flag("--datanode-heap", "system.heaps.data_node_mib", str,
         "Heap of a DataNode.", HBASE_CLUSTER, mebibytes),
    Flag("--namenode-heap", "system.heaps.name_node_mib", str,
         "Heap of the NameNode.", HBASE_CLUSTER, mebibytes),
    Flag("--zookeeper-heap", "system.heaps.zookeeper_mib", str,
         "Heap of a ZooKeeper server.", HBASE_CLUSTER, mebibytes),
    Flag("--wal-provider", "system.wal_provider", str, "asyncfs, filesystem or multiwal.", HBASE_CLUSTER),
    Flag("--wal-hsync/--no-wal-hsync", "system.wal_hsync", bool,
         "Writes of the default durability reach the disks, not only memory.", HBASE_CLUSTER),
    Flag("--balancer-period", "system.balancer_period_s", str,
         "The balancer runs this often, e.g. 5m.  [default: only when asked]", HBASE_CLUSTER, whole_seconds),
    Flag("--standalone/--no-standalone", "system.standalone", bool,
         "One JVM on the local file system, for a quick look.", HBASE_CLUSTER),
    *CLIENT,
)  # fmt: skip

GIVEN = (
    Flag("--hosts", "system.hosts", str, HOSTS_HELP, ACCESS, hosts),
    Flag("--port", "system.port", int, PORT_HELP, ACCESS),
    Flag("--user", "system.user", str, "User name.", ACCESS),
    Flag("--zookeeper", "system.zookeeper", str,
         "Use the running cluster that this ensemble knows: addresses with commas.", HBASE_ACCESS, hosts),
    Flag("--zookeeper-parent", "system.zookeeper_parent", str,
         "Where it is in ZooKeeper.  [default: /hbase]", HBASE_ACCESS),
    Flag("--master-info-port", "system.master_info_port", int,
         "Where its masters tell how they are (/jmx).  [default: as the active one says]", HBASE_ACCESS),
    Flag("--region-server-info-port", "system.region_server_info_port", int,
         "The same of region servers.  [default: as each says]", HBASE_ACCESS),
    WATCH,
    *CLIENT,
)  # fmt: skip
