"""What can be done to a system while it is up: a capability has a name, and a protocol with its method.

A record declares names, its testbed has the methods. They are asked for before anything starts. The protocols
of what changes a cluster itself, its nodes and their network, stand in `changes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from steelyard.errors import InfrastructureError, InputError, nearest
from steelyard.hosts.say import Say
from steelyard.hosts.snapshots import Restored, Snapshot
from steelyard.systems.base import Settled, Testbed
from steelyard.systems.changes import (
    AddOptions,
    Adds,
    CleansUp,
    Detects,
    LimitsCompactions,
    LimitsStreams,
    Localizes,
    LosesPower,
    Note,
    Partitions,
    Reassigns,
    Removes,
    Repairs,
    Rewrites,
    Throttles,
    Upgrades,
)

__all__ = [
    "CAPABILITIES", "AddOptions", "Adds", "Balances", "CleansUp", "Compacts", "Detects", "Flushes",
    "Freezes", "Kills", "LimitsCompactions", "LimitsStreams", "Localizes", "LosesPower", "Note",
    "Partitions", "Reassigns", "Removes", "Repairs", "Resizes", "Restarts", "Rewrites", "Settles",
    "Snapshots", "Throttles", "Upgrades", "Watched", "check", "require", "snapshots",
]  # fmt: skip


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


CAPABILITIES: Mapping[str, Any] = {
    "settle": Settles, "watch": Watched, "kill": Kills, "freeze": Freezes, "restart": Restarts,
    "resize": Resizes, "flush": Flushes, "compact": Compacts, "balance": Balances, "snapshot": Snapshots,
    "add": Adds, "remove": Removes, "limit_streams": LimitsStreams, "limit_compactions": LimitsCompactions,
    "cleanup": CleansUp, "repair": Repairs, "partition": Partitions, "throttle": Throttles,
    "power_loss": LosesPower, "detect": Detects, "upgrade": Upgrades, "rewrite": Rewrites,
    "localize": Localizes, "reassign": Reassigns,
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
        if why := getattr(testbed, "lacking", {}).get(capability):
            raise InputError(f"this host cannot do '{capability}': {why}", hint="steelyard doctor")
        able = ", ".join(sorted(testbed.capabilities)) or "nothing of the kind"
        raise InputError(f"this system cannot do '{capability}' on this host", hint=f"it can do: {able}")


def snapshots(testbed: Testbed) -> Snapshots:
    """A testbed whose data can be kept. Raises InputError when it is none."""
    require(testbed, "snapshot")
    if not isinstance(testbed, Snapshots):
        raise TypeError(f"{type(testbed).__name__} declares 'snapshot' and has no methods for it")
    return testbed
