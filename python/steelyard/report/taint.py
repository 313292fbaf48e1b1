"""Whether something outside a study disturbed a trial, so that its figures are not to be averaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.analysis.cost import Cost, costs
from steelyard.report.source import open_source
from steelyard.report.trial import Read, judge, measured_phase, read_phases
from steelyard.results.disturbance import Disturbance

CROWD = 0.15
"""Share of the cores: kernel threads and a shell stay below it; a build or another benchmark does not."""
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
    if measured.seconds >= LEAST_S and (text := _crowd(source.manifest, costs(read.system, measured))):
        return Disturbance(text, passing=True)
    if text := warned.get("oversubscribed"):
        return Disturbance(f"oversubscribed: {text}", passing=False)
    return None


def _crowd(manifest: Mapping[str, Any], found: Sequence[Cost]) -> str:
    cores = (manifest.get("host") or {}).get("cores")
    others = other_cores(found)
    if not cores or others is None or others <= CROWD * cores:
        return ""
    return f"crowded: processes that are neither client nor server used {others:.2f} of {cores} cores"


def other_cores(found: Sequence[Cost]) -> float | None:
    """Cores used by processes that are neither client nor server; None when the machine was not sampled."""
    machine = next((c.cores for c in found if c.role == "machine"), None)
    client = [c.cores for c in found if c.role == "client"]
    servers = [c.cores for c in found if c.role == "server"]
    if machine is None or not client:
        return None
    return machine - (client[-1] or 0.0) - ((servers[-1] or 0.0) if servers else 0.0)
