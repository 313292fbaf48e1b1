"""The records of HBase: a local cluster of it on HDFS, and one that runs already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.spec.kind import Assumed, Fault
from steelyard.systems.hbase.flags import GIVEN, HBASE
from steelyard.systems.kind import Needs, SystemKind
from steelyard.systems.local_flags import LOCAL_FAULTS, LOCAL_SHAPELESS, local_lacks

if TYPE_CHECKING:
    from steelyard.hosts.host import Host
    from steelyard.hosts.records import Record
    from steelyard.spec.base import SystemSettings
    from steelyard.spec.ycsb_binding import Binding
    from steelyard.systems.base import LocalTestbed, Testbed
    from steelyard.systems.ledger import Line
    from steelyard.systems.status import NodeStatus

CLIENT_SIDE = frozenset(
    {"access.durability", "access.scan_caching", "access.block_cache", "access.client_buffering_bytes",
     "access.connections", "access.fresh"}
)  # fmt: skip
SHAPELESS = CLIENT_SIDE - {"access.block_cache"}
SHORT_NAMES = {"durability": ("system.access.durability",)}

LOCAL_SHORT_NAMES = {
    **SHORT_NAMES,
    "rf": ("system.replication",),
    "heap": ("system.heaps.region_server_mib",),
}


class _HBase(SystemKind):
    """What every system has that speaks HBase's protocol."""

    typed = "hbase"
    client_side = CLIENT_SIDE
    short_names = SHORT_NAMES

    def ledger(self) -> Mapping[str, Line]:
        """What settings of HBase promise."""
        from steelyard.systems.hbase.ledger import LEDGER

        return LEDGER


class HBase(_HBase):
    """A local cluster of real HBase servers on HDFS, with ZooKeeper."""

    name = "hbase"
    local = laid_over = True
    flags = HBASE
    shapeless = SHAPELESS | LOCAL_SHAPELESS | {"master_limits"}
    short_names = LOCAL_SHORT_NAMES
    assumed = Assumed(start_s=30.0, node_s=5.0, core_copies_per_s=1_600)  # 1,300 to 1,800 of 0.06 to 1 KB
    # One node and a master were up in 9 s, three and a master in 14 to 21 s, four in 17 s.
    assumed_quick = Assumed(start_s=7.0, node_s=3.0, core_copies_per_s=1_600)
    capabilities = frozenset(
        {"settle", "watch", "kill", "freeze", "restart", "resize", "flush", "compact", "balance", "snapshot",
         "add", "remove", "detect", "reassign", "upgrade", "localize", *LOCAL_FAULTS}
    )  # fmt: skip
    columns = ("roles", "sees")

    def settings(self) -> type[SystemSettings]:
        """Of its servers, and of its client."""
        from steelyard.spec.hbase import HBaseSystem

        return HBaseSystem

    def own_setting(self, key: str) -> str:  # noqa: ARG002 - a kind may look at it
        """Any key of hbase-site.xml, or of hdfs-site.xml."""
        return "settings"

    def lacks(self, system: Any) -> Mapping[str, Fault]:
        """A standalone HBase is one process, without blocks of HDFS."""
        found = local_lacks(system)
        if system.standalone:
            why = "a snapshot keeps HDFS's blocks, and a standalone HBase has none"
            found["snapshot"] = (why, "leave standalone out")
            for what in ("add", "remove", "detect", "reassign", "upgrade", "localize"):
                found[what] = ("a standalone HBase is one process", "leave standalone out")
        return found

    def no_step(self, system: Any, version: str, to: str) -> Fault | None:  # noqa: ARG002 - as `SystemKind`
        """Later ones."""
        from steelyard.systems.hbase import versions
        from steelyard.systems.steps import no_step

        return no_step("HBase", versions.resolve, [*versions.LINES], version, to)

    def testbed(self, system: Any, *, name: str, root: Path, host: Host) -> Testbed:
        """A cluster that goes with this process."""
        from steelyard.systems.hbase.testbed import HBaseTestbed

        return HBaseTestbed(system, name=name, root=root, host=host)

    def lasting(self, system: Any, *, name: str, root: Path, host: Host) -> LocalTestbed:
        """A cluster that stays."""
        from steelyard.systems.hbase.testbed import HBaseTestbed

        return HBaseTestbed(system, name=name, root=root, host=host, stays=True)

    def status(self, host: Host, record: Record, node: Mapping[str, Any]) -> NodeStatus:
        """A node's roles, and its regions or region servers."""
        from steelyard.systems.hbase.status import status

        return status(host, record, node)

    def needs(self) -> Needs:
        """Java, ports and memory of a node."""
        from steelyard.systems.hbase import layout, profile, versions

        return Needs(
            "HBase",
            {line.name: line.javas for line in versions.LINES.values()},
            {line.name: f"hbase-{line.newest}" for line in versions.LINES.values()},
            partial(self.no_step, None),
            tuple(layout.PORTS.values()),
            tuple(profile.HEAP_MIB),
            profile.nodes_in,
        )


class HBaseHosts(_HBase):
    """A running HBase cluster, given by its servers' addresses or its ZooKeeper's."""

    name = "hbase-hosts"
    given_by = ("--hosts", "--zookeeper")
    flags = GIVEN
    shapeless = SHAPELESS
    capabilities = frozenset({"watch"})
    told = ("registered", "assigned", "left")

    def settings(self) -> type[SystemSettings]:
        """Its addresses, and the client's settings."""
        from steelyard.spec.hbase import HBaseHostsSystem

        return HBaseHostsSystem

    def testbed(self, system: Any, *, name: str, root: Path, host: Host) -> Testbed:  # noqa: ARG002 - nothing is made
        """Nothing is started."""
        from steelyard.systems.hbase.given import HBaseHostsTestbed

        return HBaseHostsTestbed(system)

    def bindings(self) -> Sequence[Binding]:
        """YCSB's hbase2 and its older names."""
        from steelyard.systems.hbase.ycsb import BINDINGS

        return BINDINGS
