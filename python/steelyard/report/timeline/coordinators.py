"""What clients saw of each node that they asked: a dead, a frozen and a slow one look different here."""

from __future__ import annotations

from functools import partial

import polars as pl

from steelyard.report.chart import Chart, Rows
from steelyard.report.charts.base import Lines, line_chart
from steelyard.report.charts.phase import SECONDS
from steelyard.report.charts.thin import bin_seconds, rounded
from steelyard.report.formatting import clean
from steelyard.report.in_effect import coordinator_name
from steelyard.report.model import TrialReport

GROUP = "timeline"
LEAST_SECONDS = 2
ANSWERED, FAILED = "answered", "failed"
NOTE = (
    "Attempts by the node that was asked, in the second in which their operations ended. One that is dead "
    "fails at once and is left alone; one that is frozen or cut off fails when its timeout has passed; one "
    "that is slow answers later."
)


def coordinator_charts(trial: TrialReport, shades: Rows, rules: Rows) -> list[Chart]:
    """Attempts answered and failed by node, and how long the answers took; none where no driver names nodes.

    Args:
        trial: whose measured phase is drawn.
        shades, rules: what is drawn behind and over the lines.
    """
    if trial.measured is None:
        return []
    table = trial.source.coordinators()
    if not table.height:
        return []
    table = table.filter(pl.col("phase") == trial.measured.phase.name).sort("coordinator", "second")
    seconds = table["second"].n_unique()
    if seconds < LEAST_SECONDS:
        return []
    every = bin_seconds(seconds)
    names = {one: clean(coordinator_name(trial.manifest, one)) for one in table["coordinator"].unique()}
    table = table.with_columns(pl.col("coordinator").replace(names))
    attempts, times = _attempts(table, every), _times(table, every)
    drawn = {
        "attempts": ("Attempts by node", "attempts per second", attempts, False),
        "service": ("Service time by node", "p99, milliseconds", times, True),
    }
    return [
        Chart(f"timeline-coordinators-{key}", title, NOTE, GROUP, partial(line_chart, lines))
        for key, (title, unit, rows, log) in drawn.items()
        for lines in [_lines(rows, unit, shades, rules, log=log)]
        if rows
    ]


def _lines(rows: Rows, unit: str, shades: Rows, rules: Rows, *, log: bool) -> Lines:
    order = sorted({row["series"] for row in rows})
    told = {row["style"] for row in rows if "style" in row}
    styles = [style for style in (ANSWERED, FAILED) if style in told]
    return Lines(rows, SECONDS, unit, order, styles=styles, log=log, events=rules, shades=shades)


def _attempts(table: pl.DataFrame, every: int) -> Rows:
    """Means of so many seconds; failures only of nodes that have any."""
    found: Rows = []
    for of in table.partition_by("coordinator"):
        name = of["coordinator"][0]
        for style, column in ((ANSWERED, "ok"), (FAILED, "failed")):
            if style == FAILED and not of[column].sum():
                continue
            found += [
                {"x": second, "series": name, "style": style, "y": rounded(value / every)}
                for second, value in _binned(of, pl.col(column).sum(), every)
            ]
    return found


def _times(table: pl.DataFrame, every: int) -> Rows:
    """The highest of so many seconds."""
    answered = table.filter(pl.col("service_p99_ns") > 0)
    return [
        {"x": second, "series": of["coordinator"][0], "y": rounded(value / 1e6)}
        for of in answered.partition_by("coordinator")
        for second, value in _binned(of, pl.col("service_p99_ns").max(), every)
    ]


def _binned(of: pl.DataFrame, told: pl.Expr, every: int) -> list[tuple[int, float]]:
    binned = of.group_by(pl.col("second") // every * every).agg(told.alias("y")).sort("second")
    return [(int(second), float(value)) for second, value in binned.iter_rows()]
