"""Flags that all local clusters share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.spec.flag import Flag
from steelyard.spec.kind import Fault
from steelyard.spec.units import mebibytes

if TYPE_CHECKING:
    from steelyard.spec.local import LocalSystem

CLUSTER, ACCESS = "Local cluster", "Access"
LOCAL_SHAPELESS = frozenset({"limits", "watch", "java", "spare", "upgrades", "disk_mib", "timer_slack_us"})
"""Settings that leave the files of a cluster alone: how fast it may be, who looks on, what runs it, what may
join later, what it may be brought to, where they lie."""
LOCAL_FAULTS = ("partition", "throttle", "power_loss")
"""Capabilities of nodes that fail as machines do; `local_lacks` says which settings each needs."""

LOCAL_FLAGS = (
    Flag("--nodes", "system.nodes", int, "Nodes of the local cluster.", CLUSTER),
    Flag("--version", "system.version", str,
         "Version of the database, e.g. 5.0, 4.1, 3.11; HBase 2.6, 2.4.", CLUSTER),
    Flag("--profile", "system.profile", str,
         "default: upstream's settings except sizes; quick: starts fast.", CLUSTER),
    Flag("--cpu", "system.limits.cpu", float, "Cores a node may use.", CLUSTER),
    Flag("--memory", "system.limits.memory_mib", str, "Memory a node may use, e.g. 2g.", CLUSTER, mebibytes),
    Flag("--disk-read", "system.limits.disk_read_mib_per_s", float, "MiB/s a node may read.", CLUSTER),
    Flag("--disk-write", "system.limits.disk_write_mib_per_s", float,
         "MiB/s a node may write.", CLUSTER),
    Flag("--own-disk", "system.disk_mib", str,
         "A file system of its own for each node, e.g. 4g: its power can be cut.", CLUSTER, mebibytes),
    Flag("--timer-slack", "system.timer_slack_us", int,
         "Microseconds by which servers' threads may wake late; 50, e.g. 1000 on small quotas.", CLUSTER),
    Flag("--network", "system.network", str, "loopback, or namespaces: each node has its own.", CLUSTER),
    Flag("--java", "system.java", str, "A Java home, or 11, 17, 21.", CLUSTER),
)  # fmt: skip


def local_lacks(system: LocalSystem) -> dict[str, Fault]:
    """The faults of machines that nodes of these settings cannot have."""
    found: dict[str, Fault] = {}
    if system.network == "loopback":
        found["partition"] = ("nodes on loopback have no network of their own", 'network = "namespaces"')
    if system.disk_mib is None:
        found["power_loss"] = ("nodes share this machine's disk", "disk_mib = 4096 gives each its own")
    return found


HOSTS_HELP = "Use this running cluster: addresses with commas."
FRESH_HELP = "Drop the table, or empty the store, first."
FRESH = Flag("--fresh/--no-fresh", "system.access.fresh", bool,
             FRESH_HELP, ACCESS)  # fmt: skip
CONNECTIONS = Flag("--connections", "system.access.connections", int,
                   "Connections to each node.  [default: 1]", ACCESS)  # fmt: skip
HEAP_HELP = "Heap of a node, or of a region server, e.g. 512m, 2g."
RF_HELP = "Replication factor.  [default: 1; of a local HBase's HDFS: 3, or as many as nodes]"
WATCH = Flag("--watch/--no-watch", "system.watch", bool,
             "Ask the servers of a given cluster for their figures, once a second.  [default: watch]",
             ACCESS)  # fmt: skip
PORT_HELP = "Its port.  [default: 9042; HBase 16000]"


def heap(setting: str) -> Flag:
    """`--heap`, of the servers that clients ask."""
    return Flag("--heap", setting, str, HEAP_HELP, CLUSTER, mebibytes)
