"""How far the data have come while nodes join and leave: streams by node, regions by node."""

from __future__ import annotations

from functools import partial

from steelyard.analysis.counters import nodes, samples, unwrapped
from steelyard.report.chart import Chart, Rows
from steelyard.report.charts.base import Lines, line_chart
from steelyard.report.charts.events import rounded_s
from steelyard.report.charts.phase import SECONDS
from steelyard.report.charts.thin import bin_seconds, rounded
from steelyard.report.formatting import clean
from steelyard.report.in_effect import master_names
from steelyard.report.model import TrialReport

GROUP = "timeline"
MIB = 2**20
RECEIVED, REGIONS = "server_streaming_in_bytes_total", "server_regions"
DRAWN = {
    RECEIVED: ("streams", "Data received by nodes", "MiB", "Streams of joins, leaves and repairs."),
    REGIONS: ("regions", "Regions served by nodes", "regions", "Those of system tables, too."),
}
"""Metric -> key, title, unit and note of its chart."""


def progress_charts(
    trial: TrialReport, origin: float, seconds: float, shades: Rows, rules: Rows
) -> list[Chart]:
    """Bytes that nodes have received of others, and regions that they serve; each only where it changed.

    Args:
        trial: whose samples are drawn.
        origin: the start of the phase, s (CLOCK_MONOTONIC).
        seconds: its length.
        shades, rules: what is drawn behind and over the lines.
    """
    found = []
    for metric, (key, title, unit, note) in DRAWN.items():
        rows = _rows(trial, metric, origin, seconds)
        if _moves(rows):
            order = list(dict.fromkeys(row["series"] for row in rows))
            drawn = Lines(rows, SECONDS, unit, order, events=rules, shades=shades)
            found.append(Chart(f"timeline-{key}", title, note, GROUP, partial(line_chart, drawn)))
    return found


def _rows(trial: TrialReport, metric: str, origin: float, seconds: float) -> Rows:
    """A metric of every node in the phase, thinned; counters count from its start, in MiB."""
    found: Rows = []
    for node in nodes(trial.system):
        at, values = samples(trial.system, node, metric)
        if metric == RECEIVED:
            values = unwrapped(values) / MIB
        inside = (at >= origin) & (at <= origin + seconds)
        if node in master_names(trial.manifest) or not inside.any():
            continue
        at, values = at[inside], values[inside]
        base = values[0] if metric == RECEIVED else 0.0
        every = bin_seconds(at.size)
        found += [
            {"x": rounded_s(t - origin), "series": clean(node), "y": rounded(float(v - base))}
            for t, v in zip(at[::every], values[::every], strict=True)
        ]
    return found


def _moves(rows: Rows) -> bool:
    """Whether any node's line is not flat."""
    ends: dict[str, set[float]] = {}
    for row in rows:
        ends.setdefault(row["series"], set()).add(row["y"])
    return any(len(values) > 1 for values in ends.values())
