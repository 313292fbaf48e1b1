"""Demand and supply of nodes as a picture."""

from __future__ import annotations

from steelyard.report.chart import Chart, Rows
from steelyard.report.charts.base import Lines, line_chart
from steelyard.report.charts.phase import SECONDS
from steelyard.report.charts.thin import bin_seconds
from steelyard.report.model import TrialReport
from steelyard.report.provisioned import provisioned

GROUP = "timeline"
NOTE = (
    "needed: the least number of nodes whose highest rate, found beforehand, is at least what is offered (of "
    "those that were measured); serving: from when a node does its share until it has left."
)


def provision_charts(trial: TrialReport) -> list[Chart]:
    """Nodes that the load needed and nodes that served; none where nobody knows what it needed."""
    if trial.measured is None:
        return []
    found = provisioned(trial.manifest, trial.source.actions(), trial.measured.phase, trial.cut_s)
    if found is None:
        return []
    every = bin_seconds(found.needed.size)
    rows: Rows = [
        {"x": second, "series": word, "y": int(counts[second])}
        for word, counts in (("needed", found.needed), ("serving", found.there))
        for second in range(0, counts.size, every)
    ]
    drawn = Lines(rows, SECONDS, "nodes", ["needed", "serving"])
    return [Chart("timeline-provision", "Nodes needed and serving", NOTE, GROUP, lambda: line_chart(drawn))]
