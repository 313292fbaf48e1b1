"""What upstream ships: the settings of its `conf/cassandra.yaml`, and the options of its `conf/jvm*.options`.

The Maven artifacts hold the class defaults (`org.apache.cassandra.config.Config`) but not those files. What
stands here are the uncommented lines of each line's own `cassandra.yaml` that differ from the class defaults,
so that both together are what an unpacked release does.
"""

from __future__ import annotations

from typing import Any

_SINCE_4_1: dict[str, Any] = {
    "num_tokens": 16,
    "allocate_tokens_for_local_replication_factor": 3,
    "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
    "disk_failure_policy": "stop",
    "commit_failure_policy": "stop",
    "commitlog_sync": "periodic",
    "commitlog_sync_period": "10000ms",
    "cas_contention_timeout": "1000ms",
    "endpoint_snitch": "SimpleSnitch",
    "internode_compression": "dc",
    "inter_dc_tcp_nodelay": False,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "5.0": {**_SINCE_4_1, "storage_compatibility_mode": "CASSANDRA_4"},
    "4.1": _SINCE_4_1,
    "3.11": {
        "num_tokens": 256,
        "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
        "disk_failure_policy": "stop",
        "commit_failure_policy": "stop",
        "commitlog_sync": "periodic",
        "commitlog_sync_period_in_ms": 10000,
        "endpoint_snitch": "SimpleSnitch",
        "internode_compression": "dc",
        "inter_dc_tcp_nodelay": False,
        "start_native_transport": True,
        "start_rpc": False,
        "gc_warn_threshold_in_ms": 1000,
        "windows_timer_interval": 1,
    },
}
"""Line -> settings of its cassandra.yaml that differ from the class defaults."""

CLASS_DEFAULTS: dict[str, Any] = {
    "auto_bootstrap": True,
    "auto_snapshot": True,
    "commitlog_segment_size": "32MiB",
    "commitlog_total_space": "the smaller of 8 GiB and 1/4 of the disk",
    "memtable_heap_space": "1/4 of the heap",
    "memtable_offheap_space": "1/4 of the heap",
    "memtable_allocation_type": "heap_buffers",
    "memtable_flush_writers": 2,
    "key_cache_size": "the smaller of 5 % of the heap and 100 MiB",
    "file_cache_size": "the smaller of 1/4 of the heap and 512 MiB",
    "networking_cache_size": "the smaller of 1/16 of the heap and 128 MiB",
    "concurrent_reads": 32,
    "concurrent_writes": 32,
    "concurrent_counter_writes": 32,
    "concurrent_compactors": "the smaller of disks and cores, from 2 to 8",
    "compaction_throughput": "64MiB/s (3.11: 16)",
    "stream_throughput_outbound": "24MiB/s",
    "native_transport_max_threads": 128,
}
"""Class defaults of the settings that a profile changes."""

_EXPORTS = (
    "java.base/jdk.internal.misc",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
)
_OPENS = (
    "java.base/java.lang.module",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.util.jar",
    "jdk.management/com.sun.management.internal",
)
_EXPORTS_11 = ("java.base/jdk.internal.ref", "java.base/sun.nio.ch")
_EXPORTS_17 = ("java.base/java.lang.ref", "jdk.unsupported/sun.misc", "jdk.attach/sun.tools.attach")
_OPENS_17 = (
    "java.base/sun.nio.ch",
    "java.base/java.io",
    "java.base/java.lang.reflect",
    "java.base/java.lang",
    "java.base/java.util",
    "java.base/java.nio",
)


def module_options(java: int, line: str) -> list[str]:
    """The options that open the JDK's modules to Cassandra.

    Upstream also opens jdk.compiler, which a runtime without a compiler does not have; nothing here asks for
    it.
    """
    if java < 9:
        return []
    exports = (*_EXPORTS, *(_EXPORTS_17 if java >= 17 else _EXPORTS_11))
    opens = (*_OPENS, *(_OPENS_17 if java >= 17 else ()))
    words = ["-Djdk.attach.allowAttachSelf=true", "-Dio.netty.tryReflectionSetAccessible=true"]
    if line == "5.0":
        words += ["-Dio.netty.allocator.useCacheForAllThreads=true", "-Dio.netty.allocator.maxOrder=11"]
    words += [word for name in exports for word in ("--add-exports", f"{name}=ALL-UNNAMED")]
    return words + [word for name in opens for word in ("--add-opens", f"{name}=ALL-UNNAMED")]


_G1 = (
    "-XX:+UseG1GC",
    "-XX:+ParallelRefProcEnabled",
    "-XX:MaxTenuringThreshold=1",
    "-XX:G1HeapRegionSize=16m",
    "-XX:G1RSetUpdatingPauseTimePercent=5",
    "-XX:MaxGCPauseMillis=300",
    "-XX:InitiatingHeapOccupancyPercent=70",
)
_CMS = (
    "-XX:+UseConcMarkSweepGC",
    "-XX:+CMSParallelRemarkEnabled",
    "-XX:SurvivorRatio=8",
    "-XX:MaxTenuringThreshold=1",
    "-XX:CMSInitiatingOccupancyFraction=75",
    "-XX:+UseCMSInitiatingOccupancyOnly",
    "-XX:CMSWaitDuration=10000",
    "-XX:+CMSParallelInitialMarkEnabled",
    "-XX:+CMSEdenChunksRecordAlways",
    "-XX:+CMSClassUnloadingEnabled",
)
GENERAL = (
    "-ea",
    "-da:net.openhft...",
    "-XX:+UseThreadPriorities",
    "-Xss256k",
    "-XX:+AlwaysPreTouch",
    "-XX:+UseTLAB",
    "-XX:+ResizeTLAB",
    "-XX:+UseNUMA",
    "-XX:+PerfDisableSharedMem",
    "-Djava.net.preferIPv4Stack=true",
)


def collector_options(line: str, heap_mib: int, cores: int) -> list[str]:
    """The collector as the line ships it: G1 from 5.0 on, before that CMS with its young generation."""
    if line == "5.0":
        return list(_G1)
    return [*_CMS, "-XX:-UseBiasedLocking", f"-Xmn{max(1, min(100 * cores, heap_mib // 4))}m"]
