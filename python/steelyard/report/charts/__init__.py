"""The one definition of each chart, from which the page, the SVG and the PNG come.

`phase` draws a phase (rates, latency, percentile spectrum), `system` the machine and the nodes; `events` are
the rules in both, `base` holds what all share, `thin` makes long series short enough for a page.
"""

from __future__ import annotations

from steelyard.report.chart import Chart
from steelyard.report.charts.phase import phase_charts
from steelyard.report.charts.system import system_charts
from steelyard.report.model import TrialReport

__all__ = ["Chart", "charts_of"]


def charts_of(trial: TrialReport) -> list[Chart]:
    """All charts of a trial: of the measured phase first, then of the system, then of the other phases."""
    others = [p for p in trial.phases if p is not trial.measured]
    found = phase_charts(trial, trial.measured.phase) if trial.measured else []
    found += system_charts(trial)
    for report in others:
        found += phase_charts(trial, report.phase)
    return found
