"""What can be done to a system while it is up: a capability has a name, and a protocol with its method.

A record declares names, its testbed has the methods. They are asked for before anything starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from steelyard.errors import InfrastructureError, InputError, nearest
from steelyard.hosts.say import Say
from steelyard.hosts.snapshots import Restored, Snapshot
from steelyard.systems.base import Settled, Testbed


@runtime_checkable
class Settles(Protocol):
    """Comes to rest."""

    def settle(self, limit_s: float, say: Say) -> Settled:
        """See `Testbed.settle`."""
        ...


@runtime_checkable
class Watched(Protocol):
    """Tells what can be sampled."""

    def targets(self) -> Any:
        """See `Testbed.targets`."""
        ...


@runtime_checkable
class Kills(Protocol):
    """Its servers can be killed."""

    def kill(self, name: str) -> None:
        """kill -9 of all servers of a node, or of one."""
        ...


@runtime_checkable
class Freezes(Protocol):
    """Its servers can be stopped for a while."""

    def freeze(self, name: str) -> None:
        """SIGSTOP: connections are held and nothing is answered."""
        ...

    def thaw(self, name: str) -> None:
        """Let what is frozen go on."""
        ...


@runtime_checkable
class Restarts(Protocol):
    """Its servers can be started again."""

    def restart(self, name: str, say: Say = ...) -> None:
        """Start again (stopping what still runs) on the same data; returns when it serves."""
        ...


@runtime_checkable
class Resizes(Protocol):
    """Its nodes' CPU quota can be changed."""

    def resize(self, name: str, cpu: float | None) -> None:
        """Change a node's CPU quota, in cores, while it runs; None lifts it."""
        ...


@runtime_checkable
class Flushes(Protocol):
    """Memory can be written to files."""

    def flush(self, node: str, table: str | None = None, /) -> None:
        """Write what a node has in memory to files."""
        ...


@runtime_checkable
class Compacts(Protocol):
    """Files can be merged."""

    def compact(self, node: str, table: str | None = None, /) -> None:
        """Merge a node's files; returns when that is done."""
        ...


@runtime_checkable
class Balances(Protocol):
    """Data can be moved until nodes have equally much."""

    def balance(self) -> int:
        """Have it balanced once; returns how many parts were moved."""
        ...


@runtime_checkable
class Snapshots(Protocol):
    """Its data can be kept, and put back for another start.

    Attributes:
        origin: the snapshot that the next `up` begins with; None = with no data.
        restored: what the last `up` from a snapshot took.
    """

    origin: Snapshot | None
    restored: Restored | None

    def shaped_by(self) -> dict[str, Any]:
        """What shapes its files beside what was asked of it."""
        ...

    def keep(self, key: str, load: Mapping[str, Any], shape: Mapping[str, Any], say: Say) -> Snapshot:
        """Bring the data to rest, stop all servers, and keep the files."""
        ...


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

    def throttle(self, node: str, read_mib: float, write_mib: float) -> None:
        """Limit what it reads and writes, each in MiB/s; 0 lifts that limit."""
        ...


@runtime_checkable
class Upgrades(Protocol):
    """Its nodes can go on with another version."""

    def upgrade(self, node: str, version: str, note: Note, say: Say) -> None:
        """Stop a node in order, start it with another version on the same data; returns when it serves."""
        ...


@runtime_checkable
class LosesPower(Protocol):
    """Nodes can lose what was written and not synced."""

    def power_loss(self, nodes: Sequence[str], note: Note, say: Say) -> None:
        """Cut these nodes' power at once, and start them again; returns when all serve."""
        ...


@runtime_checkable
class Detects(Protocol):
    """The others notice when a node is gone, and can be asked."""

    def missed(self, node: str) -> bool:
        """Whether a node is counted as gone: by the active master, or by every other node that answers."""
        ...


CAPABILITIES: Mapping[str, Any] = {
    "settle": Settles, "watch": Watched, "kill": Kills, "freeze": Freezes, "restart": Restarts,
    "resize": Resizes, "flush": Flushes, "compact": Compacts, "balance": Balances, "snapshot": Snapshots,
    "add": Adds, "remove": Removes, "limit_streams": LimitsStreams, "limit_compactions": LimitsCompactions,
    "cleanup": CleansUp, "repair": Repairs, "partition": Partitions, "throttle": Throttles,
    "upgrade": Upgrades, "power_loss": LosesPower, "detect": Detects,
}  # fmt: skip
"""Name -> what a testbed that has it can do."""


def check(testbed: Testbed) -> None:
    """See that a testbed has a method for everything it declares.

    Raises:
        InfrastructureError: a capability that is none, or one without its method: a fault of the testbed.
    """
    kind = type(testbed).__name__
    for name in sorted(testbed.capabilities):
        if name not in CAPABILITIES:
            near = nearest(name, CAPABILITIES)
            raise InfrastructureError(f"{kind} declares '{name}', which is no capability{near}")
        if not isinstance(testbed, CAPABILITIES[name]):
            raise InfrastructureError(f"{kind} declares the capability '{name}' and has no method for it")


def require(testbed: Testbed, capability: str) -> None:
    """See, before anything starts, that a testbed can do something.

    Raises:
        InputError: it does not declare it, e.g. because this host lacks something.
    """
    if capability not in testbed.capabilities:
        why = getattr(testbed, "lacking", {}).get(capability)
        if why:
            raise InputError(f"this host cannot do '{capability}': {why}", hint="steelyard doctor")
        able = ", ".join(sorted(testbed.capabilities)) or "nothing of the kind"
        raise InputError(f"this system cannot do '{capability}' on this host", hint=f"it can do: {able}")


def snapshots(testbed: Testbed) -> Snapshots:
    """A testbed whose data can be kept. Raises InputError when it is none."""
    require(testbed, "snapshot")
    if not isinstance(testbed, Snapshots):
        raise TypeError(f"{type(testbed).__name__} declares 'snapshot' and has no methods for it")
    return testbed
