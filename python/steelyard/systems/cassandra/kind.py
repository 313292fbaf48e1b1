"""The records of Cassandra: a local cluster of it, and any CQL cluster that runs already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.spec.kind import Assumed, Fault
from steelyard.systems.cassandra.flags import CASSANDRA, GIVEN
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
    {"access.read_consistency", "access.write_consistency", "access.load_consistency", "access.connections",
     "access.local_datacenter", "access.token_aware", "access.fresh"}
)  # fmt: skip
LOADED_AT = frozenset({"access.write_consistency", "access.load_consistency"})
"""One of them counts: replicas may miss what a weaker level did not wait for."""
SHAPELESS = CLIENT_SIDE - LOADED_AT
SHORT_NAMES = {
    "token-aware": ("system.access.token_aware",),
    "consistency": ("system.access.read_consistency", "system.access.write_consistency"),
    "read-consistency": ("system.access.read_consistency",),
    "write-consistency": ("system.access.write_consistency",),
    "load-consistency": ("system.access.load_consistency",),
    "rf": ("system.access.replication.factor",),
    "durability": ("system.access.durable_writes",),
}
LOCAL_SHORT_NAMES = {
    **SHORT_NAMES,
    "partitioner": ("system.partitioner",),
    "commitlog-sync": ("system.commitlog_sync",),
    "heap": ("system.heap_mib",),
}
INSIDE = (
    "flush", "compact", "snapshot", "add", "remove", "limit_streams", "limit_compactions", "cleanup",
    "repair", "detect", "upgrade", "rewrite",
)  # fmt: skip
"""What goes through the metrics agent."""


NO_REPAIR_STATUS = "3.11"
"""The line whose repairs tell how they ended by notifications alone."""

MODE = "storage_compatibility_mode"
FORMAT_NB = {"4.1", "5.0"}
"""Lines that write files of format nb: 5.0 in the mode CASSANDRA_4."""


class _Cql(SystemKind):
    """What every system has that speaks CQL."""

    typed = "cassandra"
    client_side = CLIENT_SIDE
    short_names = SHORT_NAMES

    def shapeless_in(self, system: SystemSettings) -> frozenset[str]:
        """Of the levels of writes only that counts at which records are loaded."""
        apart = getattr(getattr(system, "access", None), "load_consistency", None)
        return self.shapeless | (LOADED_AT - {f"access.{'load' if apart else 'write'}_consistency"})

    def ledger(self) -> Mapping[str, Line]:
        """What consistency levels and settings of CQL promise."""
        from steelyard.systems.cassandra.ledger import LEDGER

        return LEDGER


class Cassandra(_Cql):
    """A local cluster of real Apache Cassandra nodes."""

    name = "cassandra"
    local = laid_over = True
    flags = CASSANDRA
    shapeless = SHAPELESS | LOCAL_SHAPELESS
    short_names = LOCAL_SHORT_NAMES
    assumed = Assumed(start_s=25.0, node_s=10.0)
    assumed_quick = Assumed(start_s=6.5, node_s=3.5)  # all nodes at once: three in 13 to 16 s, five in 20 s
    capabilities = frozenset(
        {"settle", "watch", "kill", "freeze", "restart", "resize", *LOCAL_FAULTS, *INSIDE}
    )
    columns = ("place", "normal")

    def settings(self) -> type[SystemSettings]:
        """Of its nodes, and of its client."""
        from steelyard.spec.system import CassandraSystem

        return CassandraSystem

    def own_setting(self, key: str) -> str:  # noqa: ARG002 - a kind may look at it
        """Any key of cassandra.yaml."""
        return "settings"

    def lacks(self, system: Any) -> Mapping[str, Fault]:
        """Without the agent nothing inside a server can be asked for."""
        why = "goes through the metrics agent, but watch = false leaves it out"
        missing = local_lacks(system)
        if not system.watch:
            missing |= {what: (f"{what} {why}", "leave watch out") for what in INSIDE}
        if system.version.startswith(NO_REPAIR_STATUS):
            missing["repair"] = (
                f"Cassandra {system.version} does not tell when a repair ends",
                "version = 4.1",
            )
        return missing

    def no_step(self, system: Any, version: str, to: str) -> Fault | None:  # noqa: ARG002 - as `SystemKind`
        """Later ones, of the next major at most: a node of 5.0 reads nothing that one of 3.11 has written."""
        from steelyard.systems.cassandra import versions
        from steelyard.systems.steps import no_step

        return no_step("Cassandra", versions.resolve, [*versions.LINES], version, to)

    def no_rewrite(self, system: Any, written: str, to: str) -> Fault | None:
        """Files of the format that a version writes itself are skipped. 5.0 has one of its own, which it
        writes in another mode than the one it ships."""
        from steelyard.systems.cassandra import shipped, versions

        (here, line), (there, then) = versions.resolve(written), versions.resolve(to)
        as_4 = shipped.SETTINGS["5.0"][MODE]
        if not {line.name, then.name} <= FORMAT_NB:
            return None
        if line.name != then.name and str(system.settings.get(MODE, as_4)).upper() != as_4:
            return None
        mode = f" ({MODE} {as_4}, as it is shipped)" if then.name != line.name else ""
        why = f"Cassandra {there}{mode} writes files in the format of {here}, and would write none anew"
        return why, "leave rewrite out"

    def testbed(self, system: Any, *, name: str, root: Path, host: Host) -> Testbed:
        """A cluster that goes with this process."""
        from steelyard.systems.cassandra.testbed import CassandraTestbed

        return CassandraTestbed(system, name=name, root=root, host=host)

    def lasting(self, system: Any, *, name: str, root: Path, host: Host) -> LocalTestbed:
        """A cluster that stays."""
        from steelyard.systems.cassandra.testbed import CassandraTestbed

        return CassandraTestbed(system, name=name, root=root, host=host, stays=True)

    def status(self, host: Host, record: Record, node: Mapping[str, Any]) -> NodeStatus:
        """Datacenter and rack, and how many members it sees as normal."""
        from steelyard.systems.cassandra.status import status

        return status(host, record, node)

    def needs(self) -> Needs:
        """Java, ports and memory of a node."""
        from steelyard.systems.cassandra import profile, versions

        return Needs(
            "Cassandra",
            {line.name: line.javas for line in versions.LINES.values()},
            {line.name: f"cassandra-{line.newest}" for line in versions.LINES.values()},
            partial(self.no_step, None),
            (9042, 7000),
            tuple(profile.HEAP_MIB),
            profile.nodes_in,
        )


class CqlHosts(_Cql):
    """A running CQL cluster, given by its addresses."""

    name = "hosts"
    given_by = ("--hosts",)
    flags = GIVEN
    shapeless = SHAPELESS
    capabilities = frozenset({"watch"})
    told = ("normal", "joined", "left")
    files = ("password_file", "tls_ca", "tls_cert", "tls_key")

    def settings(self) -> type[SystemSettings]:
        """Its addresses, how to get in, and the client's settings."""
        from steelyard.spec.system import HostsSystem

        return HostsSystem

    def testbed(self, system: Any, *, name: str, root: Path, host: Host) -> Testbed:  # noqa: ARG002 - nothing is made
        """Nothing is started."""
        from steelyard.systems.cassandra.given import HostsTestbed

        return HostsTestbed(system)

    def bindings(self) -> Sequence[Binding]:
        """YCSB's cassandra-cql and scylla."""
        from steelyard.systems.cassandra.ycsb import BINDINGS

        return BINDINGS
