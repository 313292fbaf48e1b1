"""A made-up system, as another package would add it: a granary, whose servers only sleep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from signal import SIGKILL
from time import monotonic
from typing import Any, Literal

from pydantic import PositiveInt

from steelyard.hosts.clusters import Claim
from steelyard.hosts.host import Command, Host
from steelyard.hosts.process import Identity
from steelyard.hosts.records import Record
from steelyard.hosts.say import Say
from steelyard.results.in_effect import InEffect
from steelyard.spec.base import Model, SystemSettings
from steelyard.spec.flag import Flag
from steelyard.spec.kind import Assumed
from steelyard.systems import ledger
from steelyard.systems.base import Death
from steelyard.systems.kind import SystemKind
from steelyard.systems.ledger import Line
from steelyard.systems.null import NullTestbed
from steelyard.systems.status import NodeStatus, node_status
from steelyard.watch.target import WatchTarget


class Access(Model):
    """How the client uses a granary."""

    scoop: PositiveInt = 1
    """Grains a client takes at once."""


class GranarySystem(SystemSettings):
    """A local granary."""

    kind: Literal["granary"] = "granary"
    barns: PositiveInt = 1
    sync: bool = False
    """Servers close the barn after every grain."""
    access: Access = Access()

    @property
    def size(self) -> int:
        """Its barns."""
        return self.barns


class GranaryTestbed(NullTestbed):
    """A process for each barn; operations are answered by the engine itself."""

    def __init__(self, system: GranarySystem, *, name: str, root: Path, host: Host, stays: bool) -> None:
        super().__init__(system)
        self.capabilities = GRANARY.able(system)
        self.name, self.folder, self.host, self.stays = name, root.absolute() / name, host, stays
        self.barns: dict[str, Identity] = {}
        self.up_seconds: float | None = None

    def up(self, say: Say) -> None:
        """Open the barns."""
        began = monotonic()
        names = [f"barn{number}" for number in range(1, self.system.barns + 1)]
        self.host.claim(Claim(self.name, GRANARY.name, self.folder, len(names), self.stays))
        self.host.note_nodes(self.name, [self._noted(name) for name in names])
        for name in names:
            log = self.folder / name / "logs" / "barn.log"
            self.host.make_folder(log.parent)
            self.barns[name] = self.host.start(Command(self.name, name, ["sleep", "600"], self.folder, log))
        self.up_seconds = monotonic() - began
        say(f"{len(self.barns)} barns are open")

    def down(self, say: Say) -> None:
        """Close them."""
        if self.barns:
            self.host.take_down(self.name)
            self.barns = {}
            say("the barns are closed")

    def kill(self, name: str) -> None:
        """kill -9 of one barn."""
        self.host.signal(self.barns[name], SIGKILL)

    def dead(self) -> Sequence[Death]:
        """Barns that fell down."""
        gone = [(name, barn) for name, barn in self.barns.items() if self.host.look(barn) is None]
        return [Death(name, "it fell down", barn) for name, barn in gone]

    def targets(self) -> Sequence[WatchTarget]:
        """Every barn is watched."""
        return [WatchTarget(name, self.name) for name in self.barns]

    def facts(self) -> dict[str, Any]:
        """What the result says of it."""
        nodes = [{"name": name} for name in self.barns]
        return {"kind": "granary", "nodes": nodes, "deviations": [], "durability": "until the mice come"}

    def answers_at(self) -> list[str]:
        """Where clients ask first."""
        return [*self.barns]

    def bench_words(self) -> list[str]:
        """A granary cannot be used by its address."""
        return []

    def _noted(self, name: str) -> dict[str, Any]:
        return {"name": name, "folder": str(self.folder / name), "logs": ["barn.log"]}


def _read(side: InEffect) -> str:
    return f"{side.access.get('scoop')} grains at once"


LEDGER: Mapping[str, Line] = {
    ledger.READ: _read,
    "Mice": lambda side: f"{len(side.system.get('nodes', []))} cats keep them away",
}


class Granary(SystemKind):
    """The record: all that the rest of Steelyard asks of this kind of system."""

    name = typed = "granary"
    local = True
    client_side = frozenset({"access.scoop"})
    short_names: Mapping[str, tuple[str, ...]] = {"barns": ("system.barns",)}
    flags = (
        Flag("--barns", "system.barns", int, "Barns of the granary.", "Granary"),
        Flag("--scoop", "system.access.scoop", int, "Grains a client takes at once.", "Granary"),
    )
    assumed = Assumed(start_s=0.1, operation_ms=0.001, peak_per_s=1_000_000, around_s=1.0)
    capabilities = frozenset({"watch", "kill"})

    def settings(self) -> type[SystemSettings]:
        """The model that checks `[system]` of a study."""
        return GranarySystem

    def testbed(self, system: Any, *, name: str, root: Path, host: Host) -> GranaryTestbed:
        """What brings one up and takes it down."""
        return GranaryTestbed(system, name=name, root=root, host=host, stays=False)

    def lasting(self, system: Any, *, name: str, root: Path, host: Host) -> GranaryTestbed:
        """The same for `cluster up`, which leaves it."""
        return GranaryTestbed(system, name=name, root=root, host=host, stays=True)

    def status(self, host: Host, record: Record, node: Mapping[str, Any]) -> NodeStatus:
        """A line of `cluster status`."""
        return node_status(
            host,
            record,
            node,
            address="-",
            place="field",
            answer=lambda: True,
            sees=lambda: "mice",
            heap=lambda: None,
        )

    def ledger(self) -> Mapping[str, Line]:
        """What the words of a study promise on it."""
        return LEDGER


GRANARY = Granary()
