"""Nothing under test: what is measured is the engine itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from steelyard.hosts.say import Say
from steelyard.spec.base import SystemSettings
from steelyard.spec.properties import Properties
from steelyard.spec.ycsb_binding import Binding
from steelyard.systems.base import Death, Settled
from steelyard.watch.target import WatchTarget


class NullTestbed:
    """A system that needs nothing, and base of those of which nothing is started."""

    capabilities: frozenset[str] = frozenset()

    def __init__(self, system: SystemSettings | None = None) -> None:
        self.system: Any = system

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

    def next_client(self, system: SystemSettings) -> None:
        """Its settings are the client's."""
        self.system = system

    def facts(self) -> dict[str, Any]:
        """Nothing is stored."""
        return {"kind": "null", "deviations": [], "durability": "none: nothing is stored"}

    def targets(self) -> Sequence[WatchTarget]:
        """No servers."""
        return []

    def settle(self, limit_s: float, say: Say) -> Settled:  # noqa: ARG002 - at rest by itself
        """Always at rest."""
        return Settled(True, 0.0)

    def dead(self) -> Sequence[Death]:
        """No server, no death."""
        return []

    def serves(self) -> bool:
        """No server can be missing."""
        return True

    def kill_servers(self) -> None:
        """There is nothing to kill."""

    def collect(self, into: Path) -> None:
        """There is nothing to collect."""

    def warnings(self) -> list[str]:
        """Nothing to warn of."""
        return []


def _basic_remarks(p: Properties, _: Sequence[Path]) -> Iterator[str]:
    if p.switch("basicdb.verbose", True):
        yield "basic is the engine's null driver: it prints no operations and simulates no delay"


BINDINGS = (
    Binding(
        names=("basic",),
        help="no database: what the client itself costs",
        system=lambda *_: {"kind": "null"},
        properties=("basicdb.verbose", "basicdb.simulatedelay", "basicdb.randomizedelay"),
        remarks=_basic_remarks,
        may_fail=False,
    ),
)
