"""A paper's figures, redrawn: from a figure's definition (`spec.plots`) and the trials to charts and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import polars as pl

from steelyard.analysis.evidence import Key, Trials
from steelyard.analysis.evidence.timelines import censored
from steelyard.report.chart import Chart, Rows
from steelyard.report.formatting import NONE, clean, digits, plain
from steelyard.report.study.amounts import unit_of, words_of
from steelyard.report.study.dots import MEASURED, PAPER, Dots
from steelyard.report.study.dots_spec import dots_spec
from steelyard.report.study.phases import Phases
from steelyard.report.study.plot_rows import Cells, Seconds
from steelyard.report.tables.base import Table
from steelyard.spec.levels import level_text
from steelyard.spec.metrics import named
from steelyard.spec.plots import LATENCY, TIME, PaperValues, Plot
from steelyard.spec.printed import Printed
from steelyard.spec.sides import Level


@dataclass(frozen=True)
class Drawn:
    """One chart of a figure.

    Attributes:
        key: `figure-4.1-a`, also its files' name.
        chart: None where no trial has a value.
        rows: what is drawn, the paper's values included.
        x_title, y_title: with units.
        dense: so many values that a table holds their ends only.
    """

    key: str
    title: str
    chart: Chart | None
    rows: Rows
    x_title: str
    y_title: str
    dense: bool = False

    @property
    def table(self) -> Table:
        """The same as a table of words."""
        if self.dense:
            return self._ends()
        rows = [
            (clean(row["series"]), _place(row["x"]), _source(row), *_value(row),
             NONE if row["trials"] is None else str(row["trials"]))
            for row in self.rows
        ]  # fmt: skip
        columns = ("line", self.x_title, "source", self.y_title, "from", "to", "trials")
        return Table(self.title, columns, rows, words=3, note=NOTE)

    def _ends(self) -> Table:
        """Of each line how many values it has, the least, and the greatest with its place."""
        rows = []
        for series in dict.fromkeys(row["series"] for row in self.rows):
            of = [row for row in self.rows if row["series"] == series]
            least, greatest = (pick(of, key=lambda row: row["y"]) for pick in (min, max))
            ends = (digits(least["y"]), digits(greatest["y"]), digits(greatest["x"]))
            rows.append((clean(series), of[0]["source"], str(len(of)), *ends))
        columns = ("line", "source", "values", f"least {self.y_title}", "greatest", f"at {self.x_title}")
        return Table(self.title, columns, rows, words=2)


def _source(row: Mapping[str, Any]) -> str:
    """`paper, E1` where its values have a name of their own."""
    return ", ".join(filter(None, (row["source"], row.get("label", ""))))


def _value(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """A value with its ends; of a paper's range, which prints no middle, these alone, and else no ends."""
    value, low, high = digits(row["y"], 4), digits(row["low"]), digits(row["high"])
    if row["source"] == MEASURED:
        return value, low, high
    printed = " ".join(filter(None, (row["bound"], value)))
    return (NONE, low, high) if row["low"] < row["high"] else (printed, NONE, NONE)


def _place(x: Any) -> str:
    """A level, or what was measured, without digits of no account."""
    return f"{x:,.10g}" if isinstance(x, float) else plain(x)


ERRORS = "Bars of error are 95 % intervals over trials, where there are enough to give one."
NOTES = {
    TIME: "The median trial of each second (of a long phase, of several), within the least and the greatest.",
    LATENCY: "All trials' operations in bins a tenth wide, within the trials' least and greatest shares.",
}
MARKED = "Shaded and dotted: actions and their milestones, of the median trial each; point at one to read it."
NOTE = (
    "95 % intervals over trials; of fewer than six starts, loads or runs, or a percentile's fewer than ten, "
    "the least and greatest."
)


def draw(plot: Plot, trials: Trials, seconds: Seconds, phases: Phases) -> list[Drawn]:
    """A chart for each panel of a figure; over seconds with the phases of what was done in its trials."""
    cells = Cells(trials.where(plot.where).cells(), seconds)
    lines = _lines(plot, list(cells.of))
    panels: dict[str, Rows] = {}
    drawn_from: dict[str, list[int]] = {}
    beyond: dict[str, list[str]] = {}
    for key, cell in cells.of.items():
        said = dict(key)
        of = drawn_from.setdefault(_name(said, plot.panels), [])
        of += [int(row["trial"]) for row in cell.counting]
        for metric in plot.y:
            series = _name(said, lines, metric if len(plot.y) > 1 else "") or words_of(metric)
            rows = [{"series": series, **row} for row in cells.rows(plot, key, metric)]
            panels.setdefault(_name(said, plot.panels), []).extend(rows)
            told = censored(cell.counting, metric) if plot.x not in (TIME, LATENCY) else []
            beyond.setdefault(_name(said, plot.panels), []).extend(f"{cell.name}, {one}" for one in told)
    for values in plot.paper:
        rows = panels.setdefault(_name(values.at, plot.panels), [])
        rows += _paper(values, lines, plot, {row["series"] for row in rows})
    order = {plain(level): n for n, level in enumerate(_levels(trials.frame, plot.x))}
    marked = {name: phases(of) for name, of in drawn_from.items() if plot.x == TIME}
    return [
        _drawn(plot, name, rows, order, (*marked.get(name, ([], [])), beyond.get(name, [])))
        for name, rows in panels.items()
        if rows
    ]


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


def _paper(values: PaperValues, lines: Sequence[str], plot: Plot, measured: set[str]) -> Rows:
    """Over the line they belong to, or as a line of their own when none of ours is as theirs."""
    metric = values.metric or plot.y[0]
    series = _name(values.at, lines, metric if len(plot.y) > 1 else "") or words_of(metric)
    if series not in measured:
        series = f"paper: {series}"
    fixed = {"series": series, "trials": None, "point": "as printed in the paper", "source": PAPER}
    rows = []
    for x, y in zip(values.x, values.y, strict=True):
        if over := _base(values, x, plot):
            rows.append({**fixed, "x": x, **_printed(y.scaled(1 / over))})
    return rows


def _base(values: PaperValues, x: Level, plot: Plot) -> float | None:
    """What a value of the paper is divided by: its own at the level of `relative`; None where it has none."""
    if not plot.relative:
        return 1.0
    wanted = _texts({**values.at, plot.x: x, **plot.relative})
    return next(
        (
            y.middle
            for other in plot.paper
            for at, y in zip(other.x, other.y, strict=True)
            if other.metric == values.metric and _texts({**other.at, plot.x: at}) == wanted
        ),
        None,
    )


def _texts(said: Mapping[str, Any]) -> dict[str, str]:
    """Levels as they are compared."""
    return {column: level_text(level) for column, level in said.items()}


def _printed(y: Printed) -> dict[str, Any]:
    """A value, a range with its middle, or a bound with an arrow to where the value lies."""
    low, high = (y.middle if end is None else end for end in (y.low, y.high))
    bound = "above" if y.high is None else "below" if y.low is None else ""
    return {"y": y.middle, "low": low, "high": high, "bound": bound, "label": clean(y.label)}


def _drawn(
    plot: Plot, panel: str, rows: Rows, order: Mapping[str, int], beside: tuple[Rows, Rows, Sequence[str]]
) -> Drawn:
    """One panel; beside it actions' times as shades and events, and which cells are not drawn."""
    numbers = all(isinstance(row["x"], (int, float)) and not isinstance(row["x"], bool) for row in rows)
    words = plot.mark == "bar" or not numbers
    if words:
        rows = sorted(
            ({**row, "x": plain(row["x"])} for row in rows), key=lambda row: order.get(row["x"], len(order))
        )
    key = "-".join(filter(None, ("figure", plot.id, _slug(panel))))
    title = f"Figure {plot.id}: {plot.title}" + (f" ({panel})" if panel else "")
    x_title, y_title = plot.x_title or _x_axis(plot), plot.y_title or y_axis(plot)
    dots = Dots(
        rows, x_title, y_title, tuple(dict.fromkeys(row["x"] for row in rows)) if words else (),
        x_levels=() if words else _named_on_x(plot, rows),
        x_log=plot.x_scale == "log" or plot.x == LATENCY, y_log=plot.y_scale == "log",
        bars=plot.mark == "bar", dense=plot.x in (TIME, LATENCY), shades=beside[0], events=beside[1],
    )  # fmt: skip
    measured = any(row["source"] == MEASURED for row in rows)
    acted = MARKED if beside[0] or beside[1] else ""
    note = " ".join(filter(None, (_note(plot, rows), acted, clean(_not_drawn(beside[2])))))
    chart = Chart(key, title, note, "", lambda: dots_spec(dots)) if measured else None
    return Drawn(key, title, chart, rows, x_title, y_title, dense=dots.dense)


def _named_on_x(plot: Plot, rows: Rows) -> Sequence[float]:
    """Levels of a factor that was run or printed; between them there is nothing to read off."""
    if plot.x in (TIME, LATENCY) or named(plot.x):
        return ()
    return sorted({row["x"] for row in rows})


def _not_drawn(beyond: Sequence[str]) -> str:
    """Of times that did not come in some trial: those in which they came are the quicker ones."""
    return f"Not drawn: {'; '.join(beyond)}." if beyond else ""


def _slug(text: str) -> str:
    return "-".join("".join(c if c.isalnum() or c == "." else " " for c in text.lower()).split())


def _x_axis(plot: Plot) -> str:
    if plot.x == TIME:
        return "seconds since the phase began"
    if plot.x == LATENCY:
        return f"{words_of(plot.y[0]).rpartition(', ')[0]}, {plot.unit}"
    return _axis(words_of(plot.x), plot.x, plot)


def y_axis(plot: Plot) -> str:
    """Title of the vertical axis, with its unit."""
    if plot.x == LATENCY:
        return "% of operations"
    if plot.relative:
        levels = ", ".join(f"{column} {plain(level)}" for column, level in plot.relative.items())
        return f"{_shared_words(plot.y)}, over {levels}".removeprefix(", ")
    return _axis(_shared_words(plot.y), plot.y[0], plot)


def _axis(words: str, column: str, plot: Plot) -> str:
    unit = unit_of(column, plot.unit)[1]
    return ", ".join(filter(None, (words, "operations per second" if unit == "/s" else unit)))


def _shared_words(columns: Sequence[str]) -> str:
    """What all figures on an axis are called at the beginning, or else at the end; the legend says more."""
    names = [words_of(column).split() for column in columns]
    shared = _beginning(names) or _beginning([name[::-1] for name in names])[::-1]
    return " ".join(shared).rstrip(",")


def _beginning(names: Sequence[Sequence[str]]) -> list[str]:
    places = zip(*names, strict=False)
    return [words[0] for words in takewhile(lambda words: len({*words}) == 1, places)]


def _note(plot: Plot, rows: Rows) -> str:
    told = [f"{plot.source}."] if plot.source else []
    told.append(NOTES.get(plot.x, ERRORS))
    paper = [row for row in rows if row["source"] == PAPER]
    if paper:
        told.append("Hollow squares are the paper's own values.")
    if any(row["bound"] for row in paper):
        told.append("Arrows: the paper says only that the value lies beyond.")
    if any(row["low"] < row["high"] for row in paper):
        told.append("Rules through them are ranges that the paper prints.")
    return " ".join(told)
