"""What changes a cluster while it serves: its nodes, their links, disks and versions, as protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from steelyard.hosts.cgroup import DiskRates
from steelyard.hosts.say import Say


@dataclass(frozen=True)
class AddOptions:
    """How nodes join.

    Attributes:
        bootstrap: they take over data before they serve; otherwise they join empty, and reads of what is now
            theirs miss it until it is repaired.
        balance: what was moved to them is spread evenly (HBase); Cassandra's tokens decide it.
        stream_mbit: what each node may send while they join, in Mbit/s; None = as it is set.
        limited: they are under their CPU quota from their first instruction, as a node of its own machine
            would be; otherwise from when they have joined.
    """

    bootstrap: bool = True
    balance: bool = True
    stream_mbit: float | None = None
    limited: bool = True


Note: TypeAlias = Callable[[str, str], None]
"""`note(node, what)` records that a node has reached a milestone now; may be called from any thread."""


@dataclass(frozen=True)
class Listed:
    """A node of a cluster that others operate, as the cluster tells.

    Attributes:
        key: what it stays known by, also where its name or address becomes another.
        name: as in `targets`.
        passed: the milestones of a node that joins which it has behind it.
        facts: what the manifest says of it.
    """

    key: str
    name: str
    passed: tuple[str, ...]
    facts: Mapping[str, Any]


@runtime_checkable
class CountsMembers(Protocol):
    """Others change it, and it tells who belongs to it."""

    def roll(self) -> Sequence[Listed]:
        """Who belongs to it now; `targets` has them from then on, and those of before. One thread calls it.

        Raises:
            OSError: nobody tells.
        """
        ...

    def end_roll(self) -> None:
        """It is asked no more: what belonged to it at last is what `facts` and `targets` have from now on."""
        ...


@runtime_checkable
class Adds(Protocol):
    """Nodes that were reserved can join it while it serves."""

    def spares(self) -> Sequence[str]:
        """The names of the nodes that are reserved and not part of it, in the order in which they join."""
        ...

    def add(self, names: Sequence[str], options: AddOptions, note: Note, say: Say) -> int | None:
        """Have spare nodes join, all at once; returns when they have joined.

        Returns:
            How many bytes of data were moved for it; None where nobody counts them.

        Raises:
            InputError: no such spare node.
            InfrastructureError: one does not join. What was started stays as it is, for `down`.
        """
        ...


@runtime_checkable
class Removes(Protocol):
    """Nodes can leave it while it serves, their data first."""

    def members(self) -> Sequence[str]:
        """The names of the nodes that are part of it, the last joined last."""
        ...

    def remove(self, names: Sequence[str], note: Note, say: Say) -> int | None:
        """Have nodes leave, one after the other; returns when they are stopped, and spare again.

        Returns:
            How many bytes of data were moved for it; None where nobody counts them.

        Raises:
            InputError: no such node, or too few would be left for the copies that are promised.
            InfrastructureError: one does not leave.
        """
        ...


@runtime_checkable
class LimitsStreams(Protocol):
    """What a node may send to others for a change of the cluster can be limited while it runs."""

    def limit_streams(self, node: str, mbit: float) -> None:
        """Limit it to so many Mbit/s; 0 lifts the limit."""
        ...


@runtime_checkable
class LimitsCompactions(Protocol):
    """What a node may write while it merges files can be limited while it runs."""

    def limit_compactions(self, node: str, mbit: float) -> None:
        """Limit it to so many Mbit/s; 0 lifts the limit."""
        ...


@runtime_checkable
class CleansUp(Protocol):
    """Data that is no longer a node's own can be removed from it."""

    def cleanup(self, node: str, table: str | None = None, /) -> None:
        """Remove it; returns when that is done."""
        ...


@runtime_checkable
class Repairs(Protocol):
    """Copies that differ can be made equal."""

    def repair(self, node: str, table: str | None = None, /) -> None:
        """Compare a node's data with its other copies, and mend both; returns when that is done."""
        ...


@runtime_checkable
class Partitions(Protocol):
    """A node can be cut off from the network, its servers alive."""

    def partition(self, node: str) -> None:
        """Let no packet to it or from it; connections are not closed."""
        ...

    def heal(self, node: str) -> None:
        """Join it to the network again."""
        ...


@runtime_checkable
class Throttles(Protocol):
    """A node's disk can be made slow."""

    def throttle(self, node: str, rates: DiskRates) -> None:
        """Limit what it reads and writes."""
        ...


@runtime_checkable
class LosesPower(Protocol):
    """Nodes can lose what was written and not synced."""

    def power_loss(self, nodes: Sequence[str], note: Note, say: Say) -> None:
        """Cut these nodes' power at once, and start them again; returns when all serve."""
        ...


@runtime_checkable
class Upgrades(Protocol):
    """It can be brought to another version while it serves, one server after the other."""

    def upgrade_order(self) -> Sequence[str]:
        """The nodes, or servers of them, in the order in which they are brought to another version."""
        ...

    def upgrade(self, name: str, version: str, note: Note, say: Say) -> None:
        """Stop one gracefully and start it on the same data with a version of `LocalSystem.upgrades`; returns
        when it serves and all others count it.

        Raises:
            InputError: that version was not made ready. InfrastructureError: it does not stop, or not serve.
        """
        ...

    def versions(self) -> Mapping[str, str]:
        """The version that each node has served with last: one that did not come up again has its old one."""
        ...


@runtime_checkable
class Rewrites(Protocol):
    """A node's files can be written anew in the format of the version that it runs."""

    def rewrite(self, node: str) -> None:
        """Write them; returns when that is done."""
        ...


@runtime_checkable
class Localizes(Protocol):
    """What a node serves may lie on others, and can be written anew where it is served."""

    def localize(self, node: str, say: Say) -> int:
        """Write it; returns, when all that a node serves is on it, how many bytes were on others alone."""
        ...


@runtime_checkable
class Detects(Protocol):
    """The others notice when a node is gone, and can be asked."""

    def missed(self, node: str) -> bool:
        """Whether a node is counted as gone: by the active master, or by every other node that answers."""
        ...


@runtime_checkable
class Reassigns(Protocol):
    """Each part of the data is served by one node; when that is gone, others take it over."""

    def served(self) -> int:
        """How many parts the nodes serve that the master counts as alive.

        Raises:
            OSError, InfrastructureError: one of these does not answer, parts are being moved, or no master
                is active.
        """
        ...
