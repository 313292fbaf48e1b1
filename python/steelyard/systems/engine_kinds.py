"""Records of systems without servers: the embedded store, and nothing at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.spec.flag import Flag
from steelyard.spec.kind import Assumed
from steelyard.systems.kind import SystemKind
from steelyard.systems.local_flags import ACCESS, FRESH_HELP

if TYPE_CHECKING:
    from steelyard.hosts.host import Host
    from steelyard.spec.base import SystemSettings
    from steelyard.spec.ycsb_binding import Binding
    from steelyard.systems.base import Testbed

STORE = "Embedded store"
SHORT_NAMES = {"durability": ("system.sync",)}


class Null(SystemKind):
    """The engine alone."""

    name = typed = "null"
    assumed = Assumed(operation_ms=0.001, peak_per_s=1_000_000, around_s=0.5, between_s=0.5)

    def settings(self) -> type[SystemSettings]:
        """There are none."""
        from steelyard.spec.system import NullSystem

        return NullSystem

    def testbed(self, system: Any, *, name: str, root: Path, host: Host) -> Testbed:  # noqa: ARG002 - nothing is made
        """Nothing is started."""
        from steelyard.systems.null import NullTestbed

        return NullTestbed(system)

    def bindings(self) -> Sequence[Binding]:
        """YCSB's `basic`."""
        from steelyard.systems.null import BINDINGS

        return BINDINGS


class Embedded(SystemKind):
    """A store in the engine's own process."""

    name = typed = "embedded"
    in_engine = True
    assumed = Assumed(start_s=0.1, operation_ms=0.02, peak_per_s=60_000, around_s=0.5, between_s=0.5)
    client_side = frozenset({"sync", "fresh"})
    short_names = SHORT_NAMES
    files = ("path",)
    flags = (
        Flag("--path", "system.path", str,
             "Directory of the store, kept afterwards.  [default: a temporary one]", STORE),
        Flag("--sync/--no-sync", "system.sync", bool, "fsync after every write.", STORE),
        Flag("--fresh/--no-fresh", "system.fresh", bool, FRESH_HELP, ACCESS),
    )  # fmt: skip

    def settings(self) -> type[SystemSettings]:
        """Its directory, and when a write is safe."""
        from steelyard.spec.system import EmbeddedSystem

        return EmbeddedSystem

    def testbed(self, system: Any, *, name: str, root: Path, host: Host) -> Testbed:  # noqa: ARG002 - a store needs no name
        """A directory."""
        from steelyard.systems.embedded import EmbeddedTestbed

        return EmbeddedTestbed(system, root=root)
