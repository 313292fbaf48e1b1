"""A study's timelines, a panel for each point with actions; drawn no earlier than somebody looks at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.report.chart import Chart
from steelyard.report.formatting import clean
from steelyard.report.model import ReportModel, TrialReport
from steelyard.report.study.points import PointReport

MOST = 6
"""Repetitions that one panel shows: more lines hide each other."""


def panels(model: ReportModel, found: Sequence[PointReport]) -> list[Chart]:
    """The panels of a study, one for each of its points with actions."""
    trials = {trial.number: trial for trial in model.trials}
    return [_panel(n, point, trials) for n, point in enumerate(found) if point.acted]


def _panel(number: int, point: PointReport, trials: Mapping[int, TrialReport]) -> Chart:
    shown = [t for t in point.trials if t.acted and t.acted.whole][:MOST]
    note = (
        f"p99 of all attempts due in each second, {len(shown)} of {point.planned} repetitions, controls "
        f"dashed; none is averaged. Shaded and dotted: actions and milestones of trial {shown[0].number}."
    )
    title = f"Around the actions: {clean(point.label)}"
    return Chart(f"{number}-timeline", title, note, "", lambda: _drawn(shown, trials))


def _drawn(shown: Sequence[TrialReport], trials: Mapping[int, TrialReport]) -> dict[str, object]:
    from steelyard.report.study.panels_spec import panel_spec

    return panel_spec(shown, trials)
