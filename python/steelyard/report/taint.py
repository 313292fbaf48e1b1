"""Whether something outside a study disturbed a trial, so that its figures are not to be averaged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.analysis.cost import CPU
from steelyard.analysis.counters import Window
from steelyard.analysis.summary import Phase
from steelyard.report.assessment import Read, judge, measured_phase, read_phases
from steelyard.report.source import open_source
from steelyard.results.disturbance import Disturbance

CROWD = 0.15
"""Share of the cores: a shell and an editor stay below it; a build or another benchmark does not."""
LEAST_S = 5.0
"""In a shorter phase the samples, one a second, hold more of what was before and after it than of itself."""


def taint(folder: Path) -> Disturbance | None:
    """What disturbed the trial in that folder; None when nothing did, or nothing was sampled."""
    [source] = open_source(folder).trials
    read = Read(source.manifest, source.intervals(), source.system())
    phases, _ = read_phases(source, read)
    measured = measured_phase(phases)
    if measured is None:
        return None
    warned = {w.kind: w.text for w in judge(read, phases, partial=source.partial).warnings}
    if text := warned.get("steal"):
        return Disturbance(f"steal: {text}", passing=True)
    if measured.seconds >= LEAST_S and (text := crowd(source.manifest, read.system, measured)):
        return Disturbance(text, passing=True)
    if text := warned.get("oversubscribed"):
        return Disturbance(f"oversubscribed: {text}", passing=False)
    return None


def crowd(manifest: Mapping[str, Any], system: pl.DataFrame, phase: Phase) -> str:
    """What is said when others used more than their share of the cores during the phase, else nothing."""
    cores = (manifest.get("host") or {}).get("cores")
    others = Window(system, phase.start_ns, phase.end_ns).rate("others", CPU)
    if not cores or others is None or others <= CROWD * cores:
        return ""
    return f"crowded: processes that are neither client nor server used {others:.2f} of {cores} cores"
