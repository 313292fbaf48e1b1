"""A paper's figures, redrawn: from a figure's definition (`spec.plots`) and the trials to charts and rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from steelyard.analysis.evidence import Cell, Key, Trials
from steelyard.report.chart import Chart, Rows
from steelyard.report.formatting import NONE, clean, digits, plain
from steelyard.report.study.amounts import unit_of, words_of
from steelyard.report.study.dots import MEASURED, PAPER, Dots
from steelyard.report.study.dots_spec import dots_spec
from steelyard.report.tables.base import Table
from steelyard.spec.metrics import named
from steelyard.spec.plots import PaperValues, Plot


@dataclass(frozen=True)
class Drawn:
    """One chart of a figure.

    Attributes:
        key: `figure-4.1-a`, also its files' name.
        chart: None where no trial has a value.
        rows: what is drawn, the paper's values included.
        x_title, y_title: with units.
    """

    key: str
    title: str
    chart: Chart | None
    rows: Rows
    x_title: str
    y_title: str

    @property
    def table(self) -> Table:
        """The same as a table of words."""
        rows = [
            (clean(row["series"]), plain(row["x"]), row["source"], digits(row["y"], 4), digits(row["low"]),
             digits(row["high"]), NONE if row["trials"] is None else str(row["trials"]))
            for row in self.rows
        ]  # fmt: skip
        columns = ("line", self.x_title, "source", self.y_title, "from", "to", "trials")
        return Table(self.title, columns, rows, words=3, note=NOTE)


NOTE = "95 % intervals over trials; a percentile of fewer than ten has its least and greatest."


def draw(plot: Plot, trials: Trials) -> list[Drawn]:
    """A chart for each panel of a figure."""
    cells = trials.where(plot.where).cells()
    lines = _lines(plot, list(cells))
    panels: dict[str, Rows] = {}
    for key, cell in cells.items():
        said = dict(key)
        for metric in plot.y:
            if row := _row(plot, cell, metric, _name(said, lines, metric if len(plot.y) > 1 else "")):
                panels.setdefault(_name(said, plot.panels), []).append(row)
    for values in plot.paper:
        rows = panels.setdefault(_name(values.at, plot.panels), [])
        rows += _paper(values, lines, plot, {row["series"] for row in rows})
    order = {plain(level): n for n, level in enumerate(_levels(trials.frame, plot.x))}
    return [_drawn(plot, name, rows, order) for name, rows in panels.items() if rows]


def _lines(plot: Plot, keys: Sequence[Key]) -> list[str]:
    """The columns that tell lines apart: those asked for; over a factor as many others as tell all cells
    apart, while a curve over a metric holds all cells that nothing asked for tells apart."""
    lines = list(plot.lines)
    if named(plot.x):
        return lines
    for column in dict.fromkeys(column for key in keys for column, _ in key):
        held = (plot.x, *plot.panels, *lines)
        if len({tuple(dict(key).get(c) for c in held) for key in keys}) == len(keys):
            break
        if column not in held and len({dict(key).get(column) for key in keys}) > 1:
            lines.append(column)
    return lines


def _name(said: Mapping[str, Any], columns: Sequence[str], metric: str = "") -> str:
    words = [f"{column} {plain(said[column])}" for column in columns if said.get(column) is not None]
    return clean(", ".join([*([words_of(metric)] if metric else []), *words]))


def _levels(trials: pl.DataFrame, x: str) -> list[Any]:
    return trials[x].drop_nulls().unique(maintain_order=True).to_list() if x in trials.columns else []


def _row(plot: Plot, cell: Cell, metric: str, series: str) -> dict[str, Any] | None:
    sample, x = cell.sample(metric), _x(plot, cell)
    if sample is None or x is None:
        return None
    found, (factor, _) = sample.interval, unit_of(metric, plot.unit)
    bounded = math.isfinite(found.high) and (found.low > 0 or found.estimate == 0)
    low, high = (found.low, found.high) if bounded else (found.estimate, found.estimate)
    return {
        "series": series or words_of(metric),
        "x": x,
        "y": found.estimate * factor,
        "low": low * factor,
        "high": high * factor,
        "trials": len(sample.runs.values),
        "point": clean(cell.name),
        "source": MEASURED,
    }


def _x(plot: Plot, cell: Cell) -> Any:
    """The level of a factor; of a metric the cell's figure."""
    if named(plot.x) is None:
        return dict(cell.key).get(plot.x)
    sample = cell.sample(plot.x)
    return sample.interval.estimate * unit_of(plot.x, plot.unit)[0] if sample else None


def _paper(values: PaperValues, lines: Sequence[str], plot: Plot, measured: set[str]) -> Rows:
    """Over the line they belong to, or as a line of their own when none of ours is as theirs."""
    metric = values.metric or plot.y[0]
    series = _name(values.at, lines, metric if len(plot.y) > 1 else "") or words_of(metric)
    if series not in measured:
        series = f"paper: {series}"
    fixed = {"series": series, "trials": None, "point": "as printed in the paper", "source": PAPER}
    return [{**fixed, "x": x, "y": y, "low": y, "high": y} for x, y in zip(values.x, values.y, strict=True)]


def _drawn(plot: Plot, panel: str, rows: Rows, order: Mapping[str, int]) -> Drawn:
    numbers = all(isinstance(row["x"], (int, float)) and not isinstance(row["x"], bool) for row in rows)
    words = plot.mark == "bar" or not numbers
    if words:
        rows = sorted(
            ({**row, "x": plain(row["x"])} for row in rows), key=lambda row: order.get(row["x"], len(order))
        )
    key = "-".join(filter(None, ("figure", plot.id, _slug(panel))))
    title = f"Figure {plot.id}: {plot.title}" + (f" ({panel})" if panel else "")
    x_title, y_title = plot.x_title or _axis(plot.x, plot), plot.y_title or _axis(plot.y[0], plot)
    dots = Dots(
        rows, x_title, y_title, tuple(dict.fromkeys(row["x"] for row in rows)) if words else (),
        x_log=plot.x_scale == "log", y_log=plot.y_scale == "log", bars=plot.mark == "bar",
    )  # fmt: skip
    measured = any(row["source"] == MEASURED for row in rows)
    chart = Chart(key, title, _note(plot, rows), "", lambda: dots_spec(dots)) if measured else None
    return Drawn(key, title, chart, rows, x_title, y_title)


def _slug(text: str) -> str:
    return "-".join("".join(c if c.isalnum() or c == "." else " " for c in text.lower()).split())


def _axis(column: str, plot: Plot) -> str:
    unit = unit_of(column, plot.unit)[1]
    words = words_of(column)
    return f"{words}, {'operations per second' if unit == '/s' else unit}" if unit else words


def _note(plot: Plot, rows: Rows) -> str:
    told = [f"{plot.source}."] if plot.source else []
    told.append("Bars of error are 95 % intervals over trials, where there are enough to give one.")
    if any(row["source"] == PAPER for row in rows):
        told.append("Hollow squares are the paper's own values.")
    return " ".join(told)
