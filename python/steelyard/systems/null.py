"""Nothing under test: what is measured is the engine itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from steelyard.hosts.say import Say
from steelyard.systems.base import Settled
from steelyard.watch.target import WatchTarget


class NullTestbed:
    """A system that needs nothing, and base of those of which nothing is started."""

    capabilities: frozenset[str] = frozenset()

    def up(self, say: Say) -> None:
        """There is nothing to bring up."""

    def down(self, say: Say) -> None:
        """There is nothing to take down."""

    def driver(self) -> dict[str, Any]:
        """The null driver."""
        return {"kind": "null"}

    def engine_prefix(self) -> list[str]:
        """The engine runs as it is."""
        return []

    def facts(self) -> dict[str, Any]:
        """Nothing is stored."""
        return {"kind": "null", "deviations": [], "durability": "none: nothing is stored"}

    def targets(self) -> Sequence[WatchTarget]:
        """No servers."""
        return []

    def settle(self, limit_s: float, say: Say) -> Settled:  # noqa: ARG002 - at rest by itself
        """Always at rest."""
        return Settled(True, 0.0)

    def dead(self) -> Sequence[tuple[str, str]]:
        """No server, no death."""
        return []

    def collect(self, into: Path) -> None:
        """There is nothing to collect."""

    def warnings(self) -> list[str]:
        """Nothing to warn of."""
        return []
