"""A made-up system, as another package would add it: a granary, whose servers only sleep."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import PositiveInt

from steelyard.hosts.cgroup import Group
from steelyard.hosts.clusters import Claim
from steelyard.hosts.host import Host
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
from steelyard.systems.server import Server, ServerSpec
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
    """A server for each barn, on a host; operations are answered by the engine itself."""

    def __init__(self, system: GranarySystem, *, name: str, root: Path, host: Host) -> None:
        super().__init__(system)
        self.capabilities = GRANARY.able(system)
        self.name, self.folder, self.host = name, root.absolute() / name, host
        self.barns: dict[str, Server] = {}

    def up(self, say: Say) -> None:
        """Open the barns."""
        self.host.claim(Claim(self.name, "granary", self.folder, self.system.barns, stays=False))
        for number in range(1, self.system.barns + 1):
            spec = ServerSpec(f"barn{number}", self.folder / f"barn{number}", lambda: ["sleep", "600"])
            self.host.make_folder(spec.folder / "logs")
            self.barns[spec.name] = Server(spec, self.host, self.name, Group())
            self.barns[spec.name].start()
        say(f"{len(self.barns)} barns are open")

    def down(self, say: Say) -> None:
        """Close them; the host knows what was started."""
        if self.barns:
            self.host.take_down(self.name)
            say("the barns are closed")
        self.barns = {}

    def kill(self, name: str) -> None:
        """kill -9 of one barn."""
        self.barns[name].send(signal.SIGKILL)

    def dead(self) -> Sequence[Death]:
        """Barns that fell down."""
        fallen = [barn for barn in self.barns.values() if barn.expected_up and not barn.alive]
        return [Death(barn.name, barn.why_dead(), barn.identity) for barn in fallen]

    def targets(self) -> Sequence[WatchTarget]:
        """Every barn is watched."""
        return [WatchTarget(name, self.name) for name in self.barns]

    def facts(self) -> dict[str, Any]:
        """What the result says of it."""
        nodes = [{"name": name} for name in self.barns]
        return {"kind": "granary", "nodes": nodes, "deviations": [], "durability": "until the mice come"}


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
        return GranaryTestbed(system, name=name, root=root, host=host)

    def ledger(self) -> Mapping[str, Line]:
        """What the words of a study promise on it."""
        return LEDGER


GRANARY = Granary()
