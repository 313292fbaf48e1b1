"""When actions began, passed their milestones and ended, over the trials that a figure draws by second."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median_low

from steelyard.report.chart import Rows
from steelyard.report.model import ReportModel, TrialReport
from steelyard.report.timeline.charts import milestones, shaded

Phases = Callable[[Iterable[int]], tuple[Rows, Rows]]
"""Trials -> (shades, rules): bands from an action's start to its end, and a moment each, in seconds since the
phase began; the median trial of each. None of trials in which nothing was done, or not the same was."""


def phases_of(model: ReportModel) -> Phases:
    """What was done in the trials of a report, for whoever draws some of them."""
    known = {trial.number: trial for trial in model.trials}
    return lambda numbers: _phases([known[number] for number in numbers if number in known])


def _phases(trials: Iterable[TrialReport]) -> tuple[Rows, Rows]:
    acted = [trial.acted for trial in trials if trial.acted and trial.acted.whole]
    asked = {
        tuple((one.id, one.do, str(one.parameters)) for one in each.actions if not one.by) for each in acted
    }
    if len(asked) != 1:
        return [], []
    return (
        _middle(row for each in acted for row in shaded(each)),
        _middle(row for each in acted for row in milestones(each)),
    )


def _middle(rows: Iterable[dict[str, object]]) -> Rows:
    """One row for each event, its ends those of the median trial."""
    found: dict[str, Rows] = {}
    for row in rows:
        found.setdefault(str(row["event"]), []).append(dict(row))
    return [
        {"event": event, **{end: median_low([row[end] for row in of]) for end in ("x", "x2") if end in of[0]}}
        for event, of in found.items()
    ]
