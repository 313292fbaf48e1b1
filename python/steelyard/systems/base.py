"""What every testbed is: a small protocol, and a set of capabilities it declares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from steelyard.hosts.say import Say
from steelyard.watch.target import WatchTarget


@dataclass(frozen=True)
class Settled:
    """How settling ended: whether the system came to rest, after how long, and what was still pending."""

    quiet: bool
    seconds: float
    detail: str = ""


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
        """Words before the engine's command, e.g. `ip netns exec NAME`; usually empty."""
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

    def dead(self) -> Sequence[tuple[str, str]]:
        """(node, why) of each server that has died since `up` without being asked to."""
        ...

    def collect(self, into: Path) -> None:
        """Copy each server's configuration and logs to `into/NODE/`."""
        ...


class LocalTestbed(Testbed, Protocol):
    """A cluster of servers on this host, which can also stay until it is taken down by name."""

    up_seconds: float | None

    def warnings(self) -> list[str]:
        """What the user should know before believing a result."""
        ...

    def answers_at(self) -> list[str]:
        """Where clients ask first."""
        ...
