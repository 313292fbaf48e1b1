"""What every testbed is: a small protocol, and a set of capabilities it declares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from steelyard.hosts.say import Say
from steelyard.watch.target import WatchTarget

OWN_FIGURES = "the servers' own figures"


@dataclass(frozen=True)
class Death:
    """A server that has died without being asked to, and has not come back.

    Attributes:
        server: its name.
        why: how it ended.
        life: which of its lives this was; another death of the same server has another.
    """

    server: str
    why: str
    life: object


@dataclass(frozen=True)
class Settled:
    """How settling ended.

    Attributes:
        quiet: the system came to rest.
        seconds: after how long, or how long it was waited for.
        detail: why it is not at rest, e.g. what was still pending.
        how: by what rest is known, e.g. "its own figures"; empty where nothing can be pending.
    """

    quiet: bool
    seconds: float
    detail: str = ""
    how: str = ""


class Testbed(Protocol):
    """A system under test: `up`, then anything, then `down`, which never raises for what is already gone."""

    capabilities: frozenset[str]

    def up(self, say: Say) -> None:
        """Bring the system up; returns when it serves.

        Raises:
            InfrastructureError: it does not come up; what had been started is down again.
        """
        ...

    def down(self, say: Say) -> None:
        """Take everything down that `up` started; safe to call twice."""
        ...

    def driver(self) -> dict[str, Any]:
        """The `driver` section of the engine's plan."""
        ...

    def engine_prefix(self) -> list[str]:
        """Words before the engine's command, e.g. `nsenter --net=...`; usually empty."""
        ...

    def next_client(self, system: Any) -> None:
        """Take the client's settings of the next trial on it; those of servers are the same."""
        ...

    def facts(self) -> dict[str, Any]:
        """The manifest's `system` section: version, nodes, configuration, deviations, durability, limits."""
        ...

    def targets(self) -> Sequence[WatchTarget]:
        """The nodes to watch."""
        ...

    def settle(self, limit_s: float, say: Say) -> Settled:
        """Wait, within the limit, until pending compactions and flushes are done."""
        ...

    def dead(self) -> Sequence[Death]:
        """Each server that has died without being asked to, and is dead now."""
        ...

    def serves(self) -> bool:
        """Whether any server that clients ask is alive."""
        ...

    def kill_servers(self) -> None:
        """In a hurry: no server is asked to leave, so that `down` finds them gone."""
        ...

    def collect(self, into: Path) -> None:
        """Copy each server's configuration and logs to `into/NODE/`."""
        ...


class LocalTestbed(Testbed, Protocol):
    """A cluster of servers that we start on a host, which can also stay until it is taken down by name."""

    up_seconds: float | None

    def warnings(self) -> list[str]:
        """What the user should know before believing a result."""
        ...

    def answers_at(self) -> list[str]:
        """Where clients ask first."""
        ...

    def bench_words(self) -> list[str]:
        """The words of `bench` that use it as a given cluster, one line for each way into it."""
        ...
