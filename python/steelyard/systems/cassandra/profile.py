"""The two profiles: what each changes of what upstream ships, and why; it is all recorded in the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.spec.system import CassandraSystem
from steelyard.systems.cassandra import old_names, shipped
from steelyard.systems.cassandra.versions import Line
from steelyard.systems.deviation import Deviation

HEAP_MIB = {"default": 1024, "quick": 256}
NODE_OVERHEAD_MIB = 200
"""What a node takes beyond its heap, seen with the quick profile."""
TOKENS_QUICK = 4

_AT_ONCE = "nodes of a new ring start at once, with tokens given; there is nothing to stream yet"
_SMALL = "several nodes share one small machine"
_PACE = "short runs must not wait for a throttle"
QUICK: dict[str, tuple[Any, str]] = {
    "num_tokens": (TOKENS_QUICK, "fewer ranges: joins and range reads take less time"),
    "allocate_tokens_for_local_replication_factor": (None, _AT_ONCE),
    "auto_bootstrap": (False, _AT_ONCE),
    "auto_snapshot": (False, "dropping a table must free its disk space"),
    "commitlog_segment_size": ("8MiB", _SMALL),
    "commitlog_total_space": ("128MiB", _SMALL),
    "memtable_heap_space": ("64MiB", _SMALL),
    "memtable_offheap_space": ("64MiB", _SMALL),
    "memtable_allocation_type": ("offheap_objects", _SMALL),
    "memtable_flush_writers": (1, _SMALL),
    "key_cache_size": ("4MiB", _SMALL),
    "file_cache_size": ("32MiB", _SMALL),
    "networking_cache_size": ("16MiB", _SMALL),
    "concurrent_reads": (8, _SMALL),
    "concurrent_writes": (16, _SMALL),
    "concurrent_counter_writes": (4, _SMALL),
    "concurrent_compactors": (1, _SMALL),
    "native_transport_max_threads": (16, _SMALL),
    "compaction_throughput": ("0MiB/s", _PACE),
    "stream_throughput_outbound": ("0MiB/s", _PACE),
}
"""Setting -> (value, why) of the quick profile; None leaves the setting out."""

QUICK_PROPERTIES = {
    "cassandra.skip_wait_for_gossip_to_settle": ("0", "the ring is complete when all nodes see each other"),
    "cassandra.ring_delay_ms": ("2000", "a joining node need not wait 30 s for gossip on one machine"),
    "cassandra.superuser_setup_delay_ms": ("0", "no second superuser is about to be made"),
    "cassandra.skip_paxos_state_rebuild": ("true", "a new node has no Paxos state"),
    "cassandra.shutdown_announce_in_ms": ("0", "a stop need not wait 2 s for its announcement"),
    "cassandra.memtable.row_overhead_size": ("125", "what the node would measure for seconds at each start"),
}
"""System property -> (value, why) of the quick profile."""

LEAST_CORES = 1.0
"""Of a node, below which waiting threads are told of."""
QUICK_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss256k", "-XX:+PerfDisableSharedMem")
QUICK_DIRECT_MIB = 128


def jvm_options(profile: str, line: str, heap_mib: int, cores: int) -> list[str]:
    """Heap, collector, compiler and general options of a profile."""
    heap = [f"-Xms{heap_mib}m", f"-Xmx{heap_mib}m"]
    if profile == "quick":
        return [
            *heap,
            *QUICK_JVM,
            f"-XX:MaxDirectMemorySize={QUICK_DIRECT_MIB}m",
            "-Djava.net.preferIPv4Stack=true",
            *(f"-D{name}={value}" for name, (value, _) in QUICK_PROPERTIES.items()),
        ]
    return [*heap, *shipped.collector_options(line, heap_mib, cores), *shipped.GENERAL]


def jvm_deviations(profile: str, line: str, heap_mib: int, java: int) -> list[Deviation]:
    """What the JVM options change of upstream's, and why."""
    found = [
        Deviation("JVM heap", f"{heap_mib} MiB", "max(min(RAM/2, 1 GiB), min(RAM/4, 8 GiB))", _SMALL),
        Deviation(
            "JVM on out of memory",
            "-XX:+CrashOnOutOfMemoryError, no heap dump",
            "-XX:+ExitOnOutOfMemoryError -XX:+HeapDumpOnOutOfMemoryError",
            "the crash file says why a server died",
        ),
        Deviation("JMX port", "none", "127.0.0.1:7199", "one port a machine would not do for several nodes"),
    ]
    if line == "3.11" and java > 8:
        found.append(Deviation("Java", java, 8, "no Java 8 was found; 3.11 runs on 11"))
    if profile == "quick":
        collector = " ".join(shipped.collector_options(line, heap_mib, 1))
        found += [
            Deviation("JVM collector", "-XX:+UseSerialGC", collector, "least CPU on few cores"),
            Deviation("JVM compiler", "-XX:TieredStopAtLevel=1", "C1 and C2", "C2 pays after a minute or so"),
            Deviation("JVM assertions", "off", "-ea", "faster start"),
            Deviation("JVM heap touched at the start", "no", "-XX:+AlwaysPreTouch", _SMALL),
            Deviation("JVM direct memory", f"{QUICK_DIRECT_MIB} MiB", "as the heap", _SMALL),
            *(Deviation(f"-D{name}", value, None, why) for name, (value, why) in QUICK_PROPERTIES.items()),
        ]
    return found


def setting_deviations(line: Line, settings: Mapping[str, Any], system: CassandraSystem) -> list[Deviation]:
    """What these settings change of upstream's, and why."""
    shipped_here = shipped.SETTINGS[line.name]
    classes = old_names.to_old(shipped.CLASS_DEFAULTS) if line.old_names else shipped.CLASS_DEFAULTS
    base = {**classes, **shipped_here}
    return [
        Deviation(name, settings.get(name), base.get(name), _why(name, system))
        for name in sorted({*settings, *shipped_here})
        if settings.get(name) != base.get(name)
    ]


def _why(name: str, system: CassandraSystem) -> str:
    new = old_names.NEW_NAMES.get(name, name)
    if not system.settings.keys().isdisjoint({name, new}):
        return "given by the user"
    asked = {"num_tokens": system.tokens, "endpoint_snitch": system.snitch or system.datacenters}
    if system.profile == "quick" and new in QUICK and not asked.get(name):
        return QUICK[new][1]
    return "follows from what was asked of this system"


def nodes_in(profile: str, mib: int) -> int:
    """How many nodes fit into so much memory."""
    return mib // (HEAP_MIB[profile] + NODE_OVERHEAD_MIB)


def waiting(system: CassandraSystem) -> list[str]:
    """That threads which wait for work take much of a small CPU quota (docs/findings/waiting)."""
    cores = system.limits.cpu
    if cores is None or cores >= LEAST_CORES or system.timer_slack_us:
        return []
    return [
        "Workers of Cassandra that wait for work wake thousands of times a second while there is any: of a "
        f"quota of {cores:g} cores that may take a large part, which says nothing of larger nodes. "
        "timer_slack_us = 1000 (--timer-slack) has them wake less often, and later (docs/findings/waiting)."
    ]
