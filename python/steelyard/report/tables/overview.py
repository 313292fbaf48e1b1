"""Tables of whole trials: side by side, their phases, and what was in effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.analysis.summary import Phase
from steelyard.report.formatting import NONE, clean, digits, milliseconds, plain, whole
from steelyard.report.in_effect import consistency
from steelyard.report.measured_on import measured_on
from steelyard.report.model import FIGURES, Figure, ReportModel, TrialReport
from steelyard.report.tables.base import Table
from steelyard.results.in_effect import part


def trials(model: ReportModel) -> Table | None:
    """One row per trial, and mean, least and most over repetitions; None for a single trial."""
    if len(model.trials) < 2:
        return None
    figures = {n: f for n, f in FIGURES.items() if any(f(t) is not None for t in model.trials)}
    rows = [_trial_row(t, figures) for t in model.trials]
    over = [model.over_trials.get(name) for name in figures]
    if model.over_trials:
        for word in ("mean", "merged", "min", "max"):
            rows.append((word, "", *(digits(getattr(s, word)) if s else NONE for s in over)))
        varies = [s.coefficient_of_variation if s else None for s in over]
        rows.append(("CoV", "", *(NONE if v is None else f"{v:.3f}" for v in varies)))
    note = (
        "p50, p99 and p99.9 are of the response time over all operations, each trial's own and, below, of "
        "all trials merged: a mean of percentiles is none. Mean to max are over the trials that count. "
        + measured_on(trial.manifest for trial in model.trials)
    ).strip()
    breaks = frozenset({len(model.trials)}) if model.over_trials else frozenset()
    return Table("Trials", ("trial", "status", *figures), rows, words=2, note=note, breaks=breaks)


def _trial_row(trial: TrialReport, figures: Mapping[str, Figure]) -> tuple[str, ...]:
    status = "half-written" if trial.partial else clean(trial.status)
    return (str(trial.number), status, *(digits(figure(trial), 4) for figure in figures.values()))


def phases(trial: TrialReport) -> Table:
    """The phases of a trial in one row each."""
    rows = [
        (clean(p.name), clean(p.kind),
         _arrivals(p),
         digits(p.seconds, 4), whole(p.total.count), digits(p.total.rate_per_s, 4), whole(p.total.failed),
         clean(p.reason))
        for p in (r.phase for r in trial.phases)
    ]  # fmt: skip
    return Table(
        "Phases",
        ("phase", "kind", "arrivals", "seconds", "completed", "per s", "failed", "ended by"),
        rows,
        3,
    )


def _arrivals(phase: Phase) -> str:
    if phase.target_per_s is None:
        return phase.arrivals
    return f"{phase.arrivals}{', curve, mean' if phase.curve else ''} {digits(phase.target_per_s, 4)}/s"


def audits(trial: TrialReport) -> Table | None:
    """What was read back after the run; None where nothing was."""
    found = [(r.phase.name, r.phase.audit) for r in trial.phases if r.phase.audit is not None]
    names = ("records", "unread", "lost", "fields_lost", "stale")
    rows = [(clean(name), *(whole(int(said.get(n) or 0)) for n in names)) for name, said in found]
    note = (
        "Every record with a write that was acknowledged to this trial's engines was read once more after "
        "the run. lost: not there; fields lost: of records that are there; stale: fields older than their "
        "last acknowledged write; unread: the read failed."
    )
    examples = [example for _, said in found for example in said.get("examples") or ()]
    if examples:
        note += " The first: " + "; ".join(map(_example, examples[:EXAMPLES])) + "."
    columns = ("phase", *(name.replace("_", " ") for name in names))
    return Table("Acknowledged writes read back", columns, rows, note=note) if rows else None


EXAMPLES = 5
"""Faults that an audit's table names; the manifest has more."""


def _example(said: Mapping[str, Any]) -> str:
    """`user42 field 3 (stale: write 17 found, write 90 acknowledged)`."""
    field = f" field {said['field']}" if said.get("field") is not None else ""
    fault = str(said.get("fault", "")).replace("_", " ")
    if said.get("found") is not None:
        fault += f": write {said['found']} found, write {said.get('acknowledged')} acknowledged"
    return clean(f"{said.get('key')}{field} ({fault})")


def search(trial: TrialReport) -> Table | None:
    """What a search for the highest rate tried, in order; None when there was none."""
    found = part(trial.manifest, "search")
    rows = [
        (
            digits(probe.get("rate_per_s"), 4),
            digits(probe.get("ok_per_s"), 4),
            milliseconds(probe.get("latency_ns")),
            "yes" if probe.get("borne") else "no",
        )
        for probe in found.get("probes") or ()
    ]
    asked = part(found, "asked")
    bound = f", bound {asked['bound_ms']:g} ms" if asked.get("bound_ms") else ""
    title = f"Search for the highest rate: {digits(found.get('found_per_s'), 4)}/s"
    column = f"{asked.get('figure')} of {asked.get('operation')}, all attempts, ms{bound}"
    columns = ("offered, /s", "answered well, /s", column, "borne")
    return (
        Table(title, columns, rows, words=0, note=f"Ended: {plain(found.get('reason'))}.") if rows else None
    )


def effect(trial: TrialReport) -> Table:
    """Durability and consistency in effect."""
    rows = [(word, plain(value)) for word, value in consistency(trial.manifest)]
    return Table("Durability and consistency in effect", ("what", "in effect"), rows, words=2)


def deviations(trial: TrialReport) -> Table | None:
    """What differs from upstream's defaults, and why."""
    found = part(trial.manifest, "system").get("deviations") or ()
    if not found:
        return None
    names = ("setting", "value", "default", "reason")
    rows = [tuple(plain(d.get(n)) for n in names) for d in found if isinstance(d, dict)]
    return Table("Deviations from upstream's defaults", names, rows, words=4)
