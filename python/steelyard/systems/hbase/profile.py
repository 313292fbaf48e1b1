"""The two profiles: what each changes of what upstream ships, and why; it is all recorded in the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.spec.hbase import HBaseHeaps, HBaseSystem
from steelyard.systems.deviation import Deviation
from steelyard.systems.hbase.layout import (
    DATANODE,
    MASTER,
    NAMENODE,
    REGIONSERVER,
    STANDALONE,
    ZOOKEEPER,
)

HEAP_MIB: Mapping[str, Mapping[str, int]] = {
    "default": {
        ZOOKEEPER: 128,
        NAMENODE: 256,
        DATANODE: 256,
        MASTER: 512,
        REGIONSERVER: 1024,
        STANDALONE: 1024,
    },
    "quick": {ZOOKEEPER: 48, NAMENODE: 80, DATANODE: 64, MASTER: 160, REGIONSERVER: 320, STANDALONE: 384},
}
OVERHEAD_MIB = 130
"""What a server takes beyond its heap, seen with the quick profile."""
HEAP_FIELDS = {
    ZOOKEEPER: "zookeeper_mib",
    NAMENODE: "name_node_mib",
    DATANODE: "data_node_mib",
    MASTER: "master_mib",
    REGIONSERVER: "region_server_mib",
    STANDALONE: "region_server_mib",
}
WAITING = "hbase.master.wait.on.regionservers"
NEVER_MS = 2**31 - 1
"""The longest period HBase can be given: 24 days."""

_SMALL = "several nodes share one small machine"
_SOON = "nodes of a new cluster start at once; nothing is worth waiting for"
_NAMES = "nodes have addresses and no names"
_PERIODIC = (
    "a flush of HBase's own tables that is put off at random, by up to 5 min, looks like work still to do"
)
_EVERY_NODE = (
    "each file needs every node: one that seems busier than twice the mean would be left out of the logs "
    "opened then"
)
Settings = Mapping[str, tuple[Any, str]]
"""Setting -> (value, why)."""


def hbase_settings(system: HBaseSystem, *, restored: bool = False) -> dict[str, tuple[Any, str]]:
    """What hbase-site.xml changes of upstream's defaults, apart from addresses and directories.

    Args:
        system: what was asked.
        restored: the cluster begins with kept data.
    """
    found: dict[str, tuple[Any, str]] = {"hbase.cluster.distributed": (not system.standalone, "asked for")}
    if system.standalone:
        found["hbase.unsafe.stream.capability.enforce"] = (False, "a local file system cannot promise hflush")
    else:
        found["hbase.wal.provider"] = (system.wal_provider, "asked for")
        found["hbase.wal.hsync"] = (system.wal_hsync, "asked for")
    if system.balancer_period_s is None:
        found["hbase.balancer.period"] = (NEVER_MS, "regions move only when that is asked for")
    else:
        found["hbase.balancer.period"] = (system.balancer_period_s * 1000, "asked for")
    found["hbase.regionserver.periodicmemstoreflusher.rangeofdelayseconds"] = (1, _PERIODIC)
    found |= _quick(system) if system.profile == "quick" else {}
    return found | (_restored(system) if restored else {})


def _restored(system: HBaseSystem) -> dict[str, tuple[Any, str]]:
    why = "regions of a restored cluster return to the servers that had them"
    return {**_awaited(system, 60_000, why), "hbase.master.scp.retain.assignment": (True, why)}


def _awaited(system: HBaseSystem, limit_ms: int, why: str) -> dict[str, tuple[Any, str]]:
    """A master begins when all region servers are there. It must not need them (`mintostart`): one that takes
    over while a server is dead would wait until that is back."""
    return {f"{WAITING}.maxtostart": (system.nodes, why), f"{WAITING}.timeout": (limit_ms, why)}


def _quick(system: HBaseSystem) -> dict[str, tuple[Any, str]]:
    return {
        **_awaited(system, 10_000, _SOON),
        f"{WAITING}.interval": (200, _SOON),
        "hbase.regionserver.msginterval": (500, _SOON),
        "zookeeper.session.timeout": (10_000, "short runs must see a dead server missed"),
    }


def hdfs_settings(system: HBaseSystem, *, restored: bool = False) -> dict[str, tuple[Any, str]]:
    """What hdfs-site.xml changes of upstream's defaults; for arguments see `hbase_settings`."""
    found: dict[str, tuple[Any, str]] = {
        "dfs.replication": (system.copies, "no more replicas than nodes, or asked for"),
        "dfs.namenode.datanode.registration.ip-hostname-check": (False, _NAMES),
        "dfs.client.use.datanode.hostname": (True, _NAMES),
        "dfs.datanode.use.datanode.hostname": (True, _NAMES),
    }
    if system.nodes <= system.copies:
        why = "with as many replicas as nodes there is no spare node to replace a dead one in a pipeline"
        found["dfs.client.block.write.replace-datanode-on-failure.best-effort"] = (True, why)
        found["dfs.namenode.redundancy.considerLoad"] = (False, _EVERY_NODE)
    if system.profile == "quick":
        found["dfs.namenode.decommission.interval"] = (1, _SOON)
    if restored:
        found["dfs.namenode.safemode.min.datanodes"] = (
            system.nodes,
            "all have blocks, and all are waited for",
        )
        found["dfs.namenode.safemode.extension"] = (0, "then nothing is left to wait 30 s for")
    return found


QUICK_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+PerfDisableSharedMem")


def jvm_options(profile: str, java: int) -> list[str]:
    """Collector and compiler of a profile; upstream's scripts choose the collector by Java's version, too."""
    if profile == "quick":
        return [*QUICK_JVM]
    return ["-XX:+UseG1GC" if java >= 11 else "-XX:+UseConcMarkSweepGC"]


def heap_mib(profile: str, heaps: HBaseHeaps, role: str) -> int:
    """Heap of a role's servers."""
    asked: int | None = getattr(heaps, HEAP_FIELDS[role])
    return asked or HEAP_MIB[profile][role]


def nodes_in(profile: str, mib: int) -> int:
    """How many nodes, besides the masters' one, fit into so much memory."""
    whole = {role: heap + OVERHEAD_MIB for role, heap in HEAP_MIB[profile].items()}
    masters = whole[ZOOKEEPER] + whole[NAMENODE] + whole[MASTER]
    return max(0, mib - masters) // (whole[DATANODE] + whole[REGIONSERVER])


def jvm_deviations(system: HBaseSystem, roles: tuple[str, ...], java: int) -> list[Deviation]:
    """What the JVM options change of upstream's, and why."""
    heaps = ", ".join(f"{role} {heap_mib(system.profile, system.heaps, role)} MiB" for role in roles)
    found = [
        Deviation("JVM heap", heaps, "a quarter of the machine's memory each", _SMALL),
        Deviation(
            "JVM on out of memory", "-XX:+CrashOnOutOfMemoryError", "kill -9", "the crash file says why"
        ),
    ]
    if system.profile == "quick":
        (collector,) = jvm_options("default", java)
        found += [
            Deviation("JVM collector", "-XX:+UseSerialGC", collector, "least CPU on few cores"),
            Deviation("JVM compiler", "-XX:TieredStopAtLevel=1", "C1 and C2", "C2 pays after a minute or so"),
        ]
    return found
