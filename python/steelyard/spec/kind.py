"""What one kind of system is in words: its settings, flags, short names and capabilities, said in one record.

The spec, the command line and the reports ask the record and never compare the name of a kind. What operates
the system is in `steelyard.systems.kind`, which completes the record. Records are light: they are made for
every `--help`, so that settings' models are imported when they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from steelyard.spec.flag import Flag

if TYPE_CHECKING:
    from steelyard.spec.base import SystemSettings

SHIPPED = "steelyard.systems.kinds"
"""Its `KINDS` are the records of Steelyard's own systems; a name, since the spec imports no system."""
ENTRY_POINTS = "steelyard.systems"
"""Other packages add a record each under this group of entry points."""
Fault = tuple[str, str]
"""What cannot be, and the way out."""


@dataclass(frozen=True)
class Assumed:
    """How long things take with a kind of system, until trials have been measured.

    Attributes:
        start_s: until one node serves; `node_s` for each further one.
        operation_ms: mean response in an idle closed loop.
        peak_per_s: most operations of 1 KB a second of the whole system, loads included.
        core_copies_per_s: most copies a second that are loaded for each core of its nodes' quotas.
        around_s: engine start, settling, collecting, taking down.
        between_s: as much of a trial that begins with neither a start nor a load.
    """

    start_s: float = 0.0
    node_s: float = 0.0
    operation_ms: float = 1.0
    peak_per_s: float = 8_000
    core_copies_per_s: float = 4_000  # Cassandra: 3,000 to 4,800 over a study, 1,000 when it just started
    around_s: float = 6.0
    between_s: float = 2.5


class SystemDeclaration:
    """One kind of system, in words.

    Attributes:
        name: of the kind, as study files say it.
        typed: what `bench` calls it; several kinds may share a word, told apart by `given_by`.
        given_by: flags that mean this kind: those with the addresses of a system that runs already.
        local: its servers run on this host.
        in_engine: it lives in the engine's own process, so that there can be one engine only.
        flags: of `bench`, in the order of the help.
        short_names: what a factor may be called -> the settings it varies.
        client_side: settings that only its client knows of, as `access.connections`: trials that differ in
            these alone can share a cluster.
        shapeless: settings that leave the files of its data alone; every other one makes another data set.
        files: settings that name files of this host.
        assumed: how long things take; `assumed_quick`: with the profile `quick`, where that differs.
        capabilities: what can be done to it, each a name of `systems.capabilities`.
        told: milestones of nodes that come and go while others change it.
    """

    name: str
    typed: str = ""
    given_by: Sequence[str] = ()
    local: bool = False
    in_engine: bool = False
    flags: Sequence[Flag] = ()
    short_names: Mapping[str, tuple[str, ...]] = {}
    client_side: frozenset[str] = frozenset()
    shapeless: frozenset[str] = frozenset()
    files: Sequence[str] = ()
    assumed: Assumed = Assumed()
    assumed_quick: Assumed | None = None
    capabilities: frozenset[str] = frozenset()
    told: Sequence[str] = ()

    def settings(self) -> type[SystemSettings]:
        """The model of its settings."""
        raise NotImplementedError

    def own_setting(self, key: str) -> str | None:  # noqa: ARG002 - a kind may look at it
        """The setting that takes a key of the servers' own configuration; None = it has no such files."""
        return None

    def lacks(self, system: SystemSettings) -> Mapping[str, Fault]:  # noqa: ARG002 - a kind may look at it
        """The capabilities that a system of these settings does not have, each with the reason."""
        return {}

    def shapeless_in(self, system: SystemSettings) -> frozenset[str]:  # noqa: ARG002 - a kind may look at it
        """As `shapeless`, of a system of these settings."""
        return self.shapeless

    def able(self, system: SystemSettings) -> frozenset[str]:
        """What can be done to a system of these settings."""
        return self.capabilities - self.lacks(system).keys()

    def why_not(self, capability: str, system: SystemSettings) -> Fault | None:
        """Why a system of these settings cannot do something; None when it can."""
        if capability in self.capabilities:
            return self.lacks(system).get(capability)
        those = [name for name, kind in declarations().items() if capability in kind.capabilities]
        return (
            f"this system is of kind '{self.name}', which has no capability '{capability}'",
            f"kinds that have it: {', '.join(those) or 'none'}",
        )

    def no_step(self, system: SystemSettings, version: str, to: str) -> Fault | None:  # noqa: ARG002
        """Why a system of these settings cannot be brought from a version to another; None when it can."""
        return None

    def no_rewrite(self, system: SystemSettings, written: str, to: str) -> Fault | None:  # noqa: ARG002
        """Why a version finds no file of another to write anew in its own format; None when it may."""
        return None

    def flag(self, long: str) -> Flag | None:
        """Its flag of that name."""
        return next((flag for flag in self.flags if flag.long == long), None)


def declarations() -> Mapping[str, SystemDeclaration]:
    """Every kind by its name: Steelyard's own, then those of other packages."""
    return _loaded()[0]


def left_out() -> Mapping[str, str]:
    """Entry points of other packages that give no kind, each with the reason."""
    return _loaded()[1]


@cache
def _loaded() -> tuple[Mapping[str, SystemDeclaration], Mapping[str, str]]:
    from importlib.metadata import entry_points

    found = {kind.name: kind for kind in import_module(SHIPPED).KINDS}
    faults = {}
    for point in entry_points(group=ENTRY_POINTS):
        try:
            kind = point.load()
        except Exception as error:  # whatever is wrong in another package, the rest must work
            faults[point.value] = f"{type(error).__name__}: {error}"
            continue
        if not isinstance(kind, SystemDeclaration):
            faults[point.value] = "it is no SystemKind"
        elif kind.name in found:
            faults[point.value] = f"there is a system of kind '{kind.name}' already"
        else:
            found[kind.name] = kind
    return found, faults


def declared(kind: str) -> SystemDeclaration:
    """The record of a kind; of one that is not installed here a record that knows nothing."""
    return declarations().get(kind) or _unknown(kind)


def _unknown(kind: str) -> SystemDeclaration:
    """A result may be of a system whose package is not installed where it is read."""
    record = SystemDeclaration()
    record.name = kind
    return record
