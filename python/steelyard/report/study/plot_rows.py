"""What is drawn of a cell: its figure, its ratio to another level, its seconds, or its histogram."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from steelyard.analysis.evidence import Cell, Key, versus
from steelyard.analysis.evidence.timelines import censored
from steelyard.analysis.stats.percentiles import GRID, middle
from steelyard.analysis.stats.runs import Interval
from steelyard.report.charts.thin import bin_seconds, rounded
from steelyard.report.formatting import clean
from steelyard.report.study.amounts import unit_of
from steelyard.report.study.dots import MEASURED
from steelyard.spec.levels import level_value
from steelyard.spec.metrics import named
from steelyard.spec.plots import LATENCY, TIME, Plot

Row = dict[str, Any]
"""`x`, `y`, `low`, `high`, `trials`, `point`, `source`; `series` is added by who knows the lines."""
Seconds = Callable[[int, str], pl.DataFrame | None]
"""(trial, metric) -> `second` and `y` of its measured phase; None where there are none."""
BINS = 20
"""Of half a percent each, drawn as one: a tenth."""


@dataclass(frozen=True)
class Cells:
    """All cells of a figure, and where the seconds of their trials are read."""

    of: Mapping[Key, Cell]
    seconds: Seconds

    def rows(self, plot: Plot, key: Key, metric: str) -> list[Row]:
        """What is drawn of one cell and metric; nothing where there is nothing to draw."""
        cell = self.of[key]
        if plot.x == TIME:
            found = self._by_second(cell, metric, unit_of(metric, plot.unit)[0])
        elif plot.x == LATENCY:
            found = _histogram(cell, metric, unit_of(metric, plot.unit)[0])
        else:
            found = self._figure(plot, key, metric)
        return [{**row, "point": clean(cell.name), "source": MEASURED} for row in found]

    def _figure(self, plot: Plot, key: Key, metric: str) -> Iterator[Row]:
        sample, x = self.of[key].sample(metric), _x(plot, self.of[key])
        if sample is None or x is None or censored(self.of[key].counting, metric):
            return
        found, factor = sample.bar, unit_of(metric, plot.unit)[0]
        if plot.relative:
            factor, over = 1.0, self.base(plot, key)
            base = self.of[over].sample(metric) if over else None
            if base is None:
                return
            found = versus(base, sample).interval() if over != key else Interval(1.0, 1.0, 1.0, sample.count)
        yield {"x": x, **_bounded(found, factor), "trials": len(sample.runs.values)}

    def base(self, plot: Plot, key: Key) -> Key | None:
        """The cell that one is drawn over: at the levels of `relative`, and of what is zipped with them."""
        over = {c: level_value(level) for c, level in plot.relative.items() if c in dict(key)}
        zipped = {c for c, _ in key if c not in over and self._follows(c, over)}
        wanted = {c: over.get(c, level) for c, level in key if c not in zipped}
        return next((k for k in self.of if wanted.items() <= dict(k).items()), None)

    def _follows(self, column: str, others: Iterable[str]) -> bool:
        """Whether a column has one level for each of the others'."""
        found: dict[tuple[Any, ...], set[Any]] = {}
        for key in self.of:
            levels = dict(key)
            found.setdefault(tuple(levels.get(c) for c in others), set()).add(levels.get(column))
        return all(len(levels) == 1 for levels in found.values())

    def _by_second(self, cell: Cell, metric: str, factor: float) -> Iterator[Row]:
        """The median trial of each second, within the least and the greatest."""
        told = [self.seconds(int(row["trial"]), metric) for row in cell.counting]
        frames = [one for one in told if one is not None and one.height]
        if not frames:
            return
        every = bin_seconds(max(one.height for one in frames))
        joined = pl.concat(frames).with_columns(pl.col("second") // every * every)
        for second, of in sorted(joined.group_by("second")):
            y = of["y"].to_numpy() * factor
            ends = {"y": middle(y), "low": float(y.min()), "high": float(y.max())}
            yield {"x": int(second[0]), **{n: rounded(v) for n, v in ends.items()}, "trials": len(frames)}


def _histogram(cell: Cell, metric: str, factor: float) -> Iterator[Row]:
    """Percent of all operations in each bin, over the runs that count, within their least and greatest."""
    whole = cell.distribution(metric)
    if whole is None:
        return
    starts = np.arange(-(whole.offset % BINS), whole.runs.shape[1], BINS)
    runs = np.add.reduceat(whole.runs, np.maximum(starts, 0), axis=1)
    shares = 100 * runs / runs.sum(axis=1, keepdims=True)
    together = 100 * runs.sum(axis=0) / runs.sum()
    for place, start in enumerate(starts):
        x = math.exp(GRID * (whole.offset + int(start) + BINS / 2)) * factor
        ends = {"y": together[place], "low": shares[:, place].min(), "high": shares[:, place].max()}
        yield {"x": rounded(x), **{n: rounded(v) for n, v in ends.items()}, "trials": len(runs)}


def _bounded(found: Interval, factor: float) -> Row:
    """An interval that bounds nothing is not drawn."""
    low, high = (found.low, found.high) if math.isfinite(found.high) else (found.estimate, found.estimate)
    return {"y": found.estimate * factor, "low": low * factor, "high": high * factor}


def _x(plot: Plot, cell: Cell) -> Any:
    """The level of a factor; of a metric the cell's figure."""
    if named(plot.x) is None:
        return dict(cell.key).get(plot.x)
    sample = cell.sample(plot.x)
    return rounded(sample.interval.estimate * unit_of(plot.x, plot.unit)[0]) if sample else None
