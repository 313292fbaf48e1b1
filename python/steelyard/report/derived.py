"""What is derived from a trial's files, once: a sealed trial never changes, so what was derived is kept
beside it.

`derived.json` in the trial's folder holds it with a key: the sources of the analysis, the trial's manifest,
what the study asks of warm-up, and the certificate of calibration that was cited. One of another key, or that
cannot be read, is not trusted but made anew; where the folder cannot be written, it is made every time.
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

import steelyard
from steelyard.analysis.balance import balance
from steelyard.analysis.cost import costs
from steelyard.analysis.inside import inside
from steelyard.analysis.spread import engine_spread
from steelyard.analysis.summary import Phase
from steelyard.analysis.warnings import Warned
from steelyard.analysis.windows.coverage import covered
from steelyard.errors import SteelyardError
from steelyard.report.acted import Acted, read_acted
from steelyard.report.assessment import Judged, Read, certificate, judge, measured_phase, read_phases
from steelyard.report.cut import CUT, warm_up_s, without_warm_up
from steelyard.report.in_effect import master_names
from steelyard.report.source import TrialSource
from steelyard.report.trial_row import PhaseReport, Row, figures_of
from steelyard.results.actions import FILE as ACTIONS
from steelyard.results.clients import client_names
from steelyard.results.disk import replacing

FILE = "derived.json"
SOURCES = ("analysis/**/*.py", "report/*.py", "results/*.py", "spec/metrics.py")
"""What derives; below the package."""


@dataclass(frozen=True)
class Derived:
    """All that a report needs of a trial but its facts and the series that charts are drawn from.

    Attributes:
        phases: in the order of time.
        measured: the place of the phase the trial was made for; None when it never came to one.
        warnings: the gravest first.
        cut_s: seconds at the start of the measured phase that were left out as warm-up.
        figures: the trial's row in a frame of trials, the load phase's figures included.
        acted: what was done to the cluster meanwhile; None where nothing was.
    """

    phases: tuple[PhaseReport, ...]
    measured: int | None
    warnings: tuple[Warned, ...]
    cut_s: float
    figures: Row
    acted: Acted | None = None


def derived(source: TrialSource, manifest: Mapping[str, Any], design: Mapping[str, Any]) -> Derived:
    """What is kept of a trial, or else derived from its files, and kept if it is sealed.

    Args:
        source: the trial's folder.
        manifest: its manifest; of one that was never written, what the study asks.
        design: of the study.
    """
    if source.partial or not source.manifest:
        return derive(source, manifest, design)
    path, key = source.path / FILE, key_of(source, design)
    kept = _kept(path, key)
    if kept is None:
        text = json.dumps({"key": key, "derived": asdict(derive(source, manifest, design))})
        # a folder that cannot be written is read all the same; a file that a crash tears is not trusted
        with suppress(OSError, SteelyardError), replacing(path) as beside:
            beside.write_text(text, encoding="utf-8")
        kept = _read(text)[1]  # what is reported is the same the first time as later
    return kept


def derive(source: TrialSource, manifest: Mapping[str, Any], design: Mapping[str, Any]) -> Derived:
    """From files to figures; arguments as of `derived`."""
    read = Read(manifest, source.intervals(), source.system(), source.actions(), source.path)
    phases, _ = read_phases(source, read)
    read = _covered(read, phases)
    judged = judge(read, phases, partial=source.partial)
    place = next((n for n, phase in enumerate(phases) if phase is judged.measured), None)
    cut_s = warm_up_s(judged.measured, judged.steady, design) if judged.measured else 0.0
    acted = None
    if judged.measured:
        acted = read_acted(source, judged.measured, read.intervals, read.system, int(cut_s))
    if judged.measured and cut_s:
        rest, _ = without_warm_up(source, read.intervals, judged.measured, cut_s)
        phases = tuple(rest if phase is judged.measured else phase for phase in phases)
    reports = tuple(_phase(read, phase, judged if n == place else None) for n, phase in enumerate(phases))
    measured = None if place is None else reports[place]
    figures = figures_of(source, read, measured, judged.warnings, acted, cut_s=cut_s)
    if design.get("warmup") == CUT and not cut_s:  # an unsteady one keeps a warm-up that others have not
        figures["false_alarms"] = 0.0
    return Derived(reports, place, judged.warnings, cut_s, figures, acted)


def _covered(read: Read, phases: Sequence[Phase]) -> Read:
    """With the samples of nodes that came and went reaching over the measured phase."""
    measured = measured_phase(phases)
    names = {node for row in read.actions.rows for node in row.nodes}
    names |= {row.node for row in read.actions.milestones}
    if measured is None or not names:
        return read
    return replace(read, system=covered(read.system, names, measured.start_ns, measured.end_ns))


def _phase(read: Read, phase: Phase, judged: Judged | None) -> PhaseReport:
    masters = master_names(read.manifest)
    return PhaseReport(
        phase=phase,
        steady=judged.steady if judged else None,
        costs=costs(read.system, phase, masters),
        balance=balance(read.system, phase, masters),
        inside=inside(read.system, phase),
        engines=engine_spread(phase, client_names(read.manifest, len(phase.engines))),
    )


def key_of(source: TrialSource, design: Mapping[str, Any]) -> str:
    """What is kept of a sealed trial is trusted under this key alone."""
    found = certificate(source.manifest)
    facts = (sources(), design.get("warmup"), found.path if found else None)
    told = hashlib.sha256((source.path / "manifest.json").read_bytes())
    if (actions := source.path / ACTIONS).is_file():
        told.update(actions.read_bytes())
    told.update(repr(facts).encode())
    return told.hexdigest()


@lru_cache
def sources() -> str:
    """A hash of the sources that derive: the version of the analysis."""
    package = Path(steelyard.__file__).parent
    found = hashlib.sha256()
    for file in sorted(file for pattern in SOURCES for file in package.glob(pattern)):
        found.update(file.read_bytes())
    return found.hexdigest()


@lru_cache
def _adapter() -> TypeAdapter[Derived]:
    return TypeAdapter(Derived)


def _kept(path: Path, key: str) -> Derived | None:
    """What is kept under that key; None when it is torn, of another key, or was never there."""
    with suppress(OSError, ValueError, KeyError, TypeError, ValidationError):
        of, found = _read(path.read_text(encoding="utf-8"))
        return found if of == key else None
    return None


def _read(text: str) -> tuple[str, Derived]:
    """(key, what is kept under it)."""
    said = json.loads(text)
    return said["key"], _adapter().validate_python(said["derived"])
