"""Which beans of HBase's and HDFS's servers are asked for, and what their attributes are called here.

Only what is narrow is asked for: a region server's whole /jmx is half a megabyte.
"""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.watch.beans import SECOND_S, SLOWLY_S, Bean, Role, bean

MIB = float(1 << 20)
MILLI = 1e-3


def _whole_ms(metric: str, attribute: str) -> dict[str, str]:
    """A histogram of Hadoop's metrics: whole milliseconds, and of what happened since it was last read."""
    return {
        f"{metric}_mean_whole_ms": f"{attribute}_mean",
        f"{metric}_p99_whole_ms": f"{attribute}_99th_percentile",
        f"{metric}_max_whole_ms": f"{attribute}_max",
    }


def _jvm(service: str, every_s: float) -> Bean:
    return bean(
        f"Hadoop:service={service},name=JvmMetrics",
        every_s,
        heap_used_bytes=("MemHeapUsedM", MIB),
        heap_max_bytes=("MemHeapMaxM", MIB),
        gc_seconds_total=("GcTimeMillis", MILLI),
        gc_count_total="GcCount",
    )


REGION_SERVER = "Hadoop:service=HBase,name=RegionServer,sub="
MASTER = "Hadoop:service=HBase,name=Master,sub="

SERVER_BEAN = bean(
    REGION_SERVER + "Server",
    SLOWLY_S,  # 600 attributes, half of the cost of all
    # requests as they came, and rows
    client_reads_total="rpcGetRequestCount",
    client_writes_total="rpcMutateRequestCount",
    client_range_total="rpcScanRequestCount",
    client_multi_total="rpcMultiRequestCount",
    client_requests_total="totalRequestCount",
    local_reads_total="readRequestCount",
    local_writes_total="writeRequestCount",
    # from memory to disk
    memtable_bytes="memStoreHeapSize + memStoreOffHeapSize",
    memtable_data_bytes="memStoreSize",
    memtable_flushes_total="FlushTime_num_ops",
    flushes_pending="flushQueueLength",
    flush_bytes_total="flushedOutputBytes",
    updates_blocked_seconds_total=("updatesBlockedTime", MILLI),
    requests_blocked_total="blockedRequestCount",
    # store files
    regions="regionCount",
    sstables="storeFileCount",
    live_disk_bytes="storeFileSize",
    local_files_share=("percentFilesLocal", 0.01),
    compactions_pending="compactionQueueLength",
    compactions_completed_total="CompactionTime_num_ops",
    compaction_bytes_total="compactedInputBytes",
    compaction_written_bytes_total="compactedOutputBytes",
    # block cache
    block_cache_bytes="blockCacheSize",
    block_cache_free_bytes="blockCacheFreeSize",
    block_cache_hits_total="blockCacheHitCount",
    block_cache_misses_total="blockCacheMissCount",
    block_cache_evictions_total="blockCacheEvictionCount",
    # write-ahead log
    wal_files="hlogFileCount",
    wal_rolled_bytes="hlogFileSize",
)

CALLS_AND_LOG_BEANS = bean(
    REGION_SERVER + "???",  # IPC and WAL with one request; no other name has three letters
    calls_total="TotalCallTime_num_ops",
    calls_pending="numCallsInGeneralQueue",
    calls_pending_bytes="queueSize",
    handlers_active="numActiveHandler",
    connections="numOpenConnections",
    dropped_total="numGeneralCallsDropped + exceptions.callQueueTooBig",
    exceptions_total="exceptions",
    relocations_total="exceptions.NotServingRegionException + exceptions.RegionMovedException",
    **_whole_ms("call_queue", "QueueCallTime"),
    **_whole_ms("call_process", "ProcessCallTime"),
    wal_appends_total="appendCount",
    wal_written_bytes_total="writtenBytes",
    wal_syncs_total="SyncTime_num_ops",
    wal_rolls_total="rollRequest",
    **_whole_ms("wal_sync", "SyncTime"),
)

MASTER_BEANS = (
    bean(
        MASTER + "Server",
        SLOWLY_S,
        region_servers_live="numRegionServers",
        region_servers_dead="numDeadRegionServers",
    ),
    bean(
        MASTER + "AssignmentManager",
        SECOND_S,
        regions_in_transition="ritCount",
        regions_in_transition_oldest_seconds=("ritOldestAge", MILLI),
    ),
)

NAME_NODE_BEAN = bean(
    "Hadoop:service=NameNode,name=FSNamesystemState",
    SLOWLY_S,
    hdfs_under_replicated_blocks="UnderReplicatedBlocks",
    hdfs_live_data_nodes="NumLiveDataNodes",
    hdfs_stale_data_nodes="NumStaleDataNodes",
    hdfs_dead_data_nodes="NumDeadDataNodes",
    hdfs_blocks="BlocksTotal",
    hdfs_used_bytes="CapacityUsed",
)

DATA_NODE_BEAN = bean(
    "Hadoop:service=DataNode,name=DataNodeActivity-*",  # its name ends in the host and port
    SLOWLY_S,  # a connection for each answer: a DataNode keeps none
    hdfs_read_bytes_total="BytesRead",
    hdfs_written_bytes_total="BytesWritten",
    hdfs_fsyncs_total="FsyncCount",
    hdfs_fsync_mean_ns="FsyncNanosAvgTime",
    hdfs_flushes_total="FlushNanosNumOps",
    hdfs_flush_mean_ns="FlushNanosAvgTime",
)

ROLES: Mapping[str, Role] = {
    role.name: role
    for role in (
        Role("regionserver", (SERVER_BEAN, CALLS_AND_LOG_BEANS), _jvm("HBase", SECOND_S), 0),
        Role("master", MASTER_BEANS, _jvm("HBase", SLOWLY_S), 1),
        Role("namenode", (NAME_NODE_BEAN,), _jvm("NameNode", SLOWLY_S), 2),
        Role("datanode", (DATA_NODE_BEAN,), None, 3),
    )
}
