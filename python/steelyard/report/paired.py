"""A trial with actions beside its control: the same repetition and seed, with nothing done to the cluster.

The control is looked at in the very seconds in which the actions of the other trial were felt, so what is
found is of the pair. It is kept in the folder of the trial with the actions (`paired.json`), under both
trials' keys, as what is derived of one trial is (`report.derived`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from steelyard.analysis.evidence import lost
from steelyard.analysis.summary import TOTAL, Phase
from steelyard.analysis.windows.effect import Effect, effect
from steelyard.analysis.windows.impact import Compared, compared
from steelyard.errors import SteelyardError
from steelyard.report.acted import latencies, measured_of
from steelyard.report.acted_row import Figures, of_effect, wrong_reads
from steelyard.report.derived import Derived, key_of
from steelyard.report.source import TrialSource
from steelyard.results.disk import replacing
from steelyard.spec.load import NONE
from steelyard.spec.metrics import CONTROL, IMPACT, TIMELINE

FILE = "paired.json"
FACTOR = "timeline"
SAME = ("repetition", "seed", "system", "variant")
"""What a control's line in run.json shares with that of its trial, besides all other levels."""


@dataclass(frozen=True)
class Half:
    """One trial of a pair: its number, folder, line in run.json and what was derived of it."""

    number: int
    source: TrialSource
    line: Mapping[str, Any]
    derived: Derived

    @property
    def counts(self) -> bool:
        """Whether it may stand for what a load without actions is like."""
        return not lost({**self.derived.figures, "status": self.line.get("status"),
                         "tainted": self.line.get("tainted")})  # fmt: skip


@dataclass(frozen=True)
class Paired:
    """A trial against its control.

    Attributes:
        control: the control's number.
        compared: both from the first action's start to the end of the run.
        effect: what the control did in the windows of the trial with the actions.
        beyond: figure of wrong reads (`lost_reads`) -> by how many the trial has more than its control.
    """

    control: int
    compared: Compared
    effect: Effect
    beyond: Mapping[str, float]

    @property
    def figures(self) -> Figures:
        """What the pair adds to the row of the trial with the actions."""
        found: Figures = {f"{CONTROL}{name}": value for name, value in of_effect(self.effect).items()}
        found |= {
            f"{IMPACT}{name}": more for name, more in self.beyond.items() if f"{IMPACT}{name}" in TIMELINE
        }
        return found | {"impact_s": self.compared.impact_s, "impact_share": self.compared.impact_share}


def control_of(one: Half, all_: Sequence[Half]) -> Half | None:
    """The trial that differs from this one in nothing but its empty timeline, and counts; None where there
    is none."""
    wanted = {**(one.line.get("levels") or {}), FACTOR: NONE}
    if wanted == one.line.get("levels") or FACTOR not in (one.line.get("levels") or {}):
        return None
    alike = [
        other
        for other in all_
        if other.line.get("levels") == wanted
        and all(other.line.get(name) == one.line.get(name) for name in SAME)
    ]
    return next((other for other in alike if other.counts), None)


def paired(one: Half, all_: Sequence[Half], design: Mapping[str, Any]) -> Paired | None:
    """A trial beside its control; None where nothing was done in it, or it has no control.

    Args:
        one: the trial.
        all_: all of the run, itself included.
        design: of the study.
    """
    acted = one.derived.acted
    if acted is None or acted.whole is None:
        return None
    control = control_of(one, all_)
    if control is None or control.derived.measured is None:
        return None
    if one.source.partial or control.source.partial:
        return _pair(one, control, acted.whole)
    both = (key_of(half.source, design) for half in (one, control))
    key = hashlib.sha256("".join(both).encode()).hexdigest()
    return _kept(one, key) or _keep(one, _pair(one, control, acted.whole), key)


def _pair(one: Half, control: Half, own: Effect) -> Paired:
    assert one.derived.measured is not None  # noqa: S101 - what was felt was felt in it
    assert control.derived.measured is not None  # noqa: S101 - seen to before
    source = control.source
    phase = _whole_phase(control)
    table = measured_of(source, phase, source.intervals(), source.system())
    mine = latencies(one.source, _whole_phase(one), only=TOTAL)[TOTAL]
    found = compared(mine, table.latencies[TOTAL], own.windows.before, own.windows.rest)
    beside = effect(table, own.windows, own.felt)
    there = wrong_reads(beside)
    beyond = {name: count - there[name] for name, count in wrong_reads(own).items()}
    return Paired(control.number, found, beside, beyond)


def _whole_phase(half: Half) -> Phase:
    """Its measured phase from the first second on: warm-up that was cut off is in it again."""
    assert half.derived.measured is not None  # noqa: S101 - of halves with one
    phase, cut_s = half.derived.phases[half.derived.measured].phase, half.derived.cut_s
    return replace(phase, start_ns=phase.start_ns - int(cut_s * 1e9), seconds=phase.seconds + cut_s)


@lru_cache
def _adapter() -> TypeAdapter[Paired]:
    return TypeAdapter(Paired)


def _kept(one: Half, key: str) -> Paired | None:
    with suppress(OSError, ValueError, KeyError, TypeError, ValidationError):
        said = json.loads((one.source.path / FILE).read_text(encoding="utf-8"))
        return _adapter().validate_python(said["paired"]) if said["key"] == key else None
    return None


def _keep(one: Half, found: Paired, key: str) -> Paired:
    path: Path = one.source.path / FILE
    with suppress(OSError, SteelyardError), replacing(path) as beside:
        beside.write_text(json.dumps({"key": key, "paired": asdict(found)}), encoding="utf-8")
    return found
