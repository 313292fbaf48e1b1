"""What every cluster of real servers on this host is described by."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt

from steelyard.spec.base import Model, SystemSettings

SLACK_US = 50
"""The kernel's timer slack of a thread (PR_SET_TIMERSLACK of prctl(2))."""


class NodeLimits(Model):
    """What one node may use, enforced by its control group."""

    cpu: PositiveFloat | None = None
    """Cores; None = no limit."""
    memory_mib: PositiveInt | None = None
    """Memory of all its processes together."""
    disk_read_mib_per_s: PositiveFloat | None = None
    disk_write_mib_per_s: PositiveFloat | None = None
    disk_read_iops: PositiveInt | None = None
    disk_write_iops: PositiveInt | None = None


SAFE_QUOTAS = 0.9
"""Share of a host's cores that quotas may sum to: the kernel, interrupts and the shell need the last tenth,
above it quotas contend with each other."""


class LocalSystem(SystemSettings):
    """What all clusters of real servers on this host have."""

    nodes: PositiveInt = 1
    spare: NonNegativeInt = 0
    """Nodes beyond these that are reserved and not started: they may join while it runs."""
    upgrades: tuple[str, ...] = ()
    """Versions that it may be brought to while it runs: their jars are there before it starts."""
    profile: Literal["default", "quick"] = "default"
    """`default` keeps upstream's settings except sizes; `quick` starts fast, for tests and short looks."""
    java: str | None = None
    """A Java home, a java binary, or 11 | 17 | 21; None = what the version needs, found on this host."""
    limits: NodeLimits = NodeLimits()
    timer_slack_us: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """How much later than asked the kernel may wake a server's threads that wait for a time; None = its own,
    50. Workers of Cassandra that wait wake thousands of times a second, which takes a large part of a small
    CPU quota; waking later costs latency (docs/scalability.md)."""
    disk_mib: PositiveInt | None = None
    """Size of a file system of each node's own, in a file, whose power can be cut; None = the machine's."""
    network: Literal["loopback", "namespaces"] = "loopback"
    """`namespaces` gives each node an own network namespace, so that its traffic can be counted and cut."""
    jvm_options: tuple[str, ...] = ()
    """Extra JVM options of every server."""
    watch: bool = True
    """Sample what the servers tell of themselves; Cassandra needs an agent for it, loaded into every node."""

    @property
    def size(self) -> int:
        """Nodes of the cluster at its start, those of masters included."""
        return self.nodes

    @property
    def node_names(self) -> tuple[str, ...]:
        """`node1`, `node2` ...; those in reserve follow."""
        return tuple(f"node{n}" for n in range(1, self.size + self.spare + 1))

    @property
    def quota_cores(self) -> float | None:
        """Cores that all nodes may use, masters and those in reserve too; None where one has no quota."""
        each = [self.limits_of(name).cpu for name in self.node_names]
        known = [cpu for cpu in each if cpu is not None]
        return sum(known) if len(known) == len(each) else None

    def limits_of(self, _node: str) -> NodeLimits:
        """The limits of the node of that name."""
        return self.limits
