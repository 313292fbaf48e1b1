"""Counters as read (docs/format.md, system.parquet) into increases and rates over a window."""

from __future__ import annotations

import math
from collections.abc import Iterable
from copy import copy
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NS = 1e9
HELD_BACK, PERIODS = "cpu_throttled_periods_total", "cpu_periods_total"

NO_SAMPLES: tuple[Floats, Floats] = (np.zeros(0), np.zeros(0))
OLDEST_S = 15.0
"""Of a level that is taken to hold in a part of a window: what does not change is told again after 10 s."""
LEAST_COVERAGE = 0.5
"""A mean over a window of which less than half was sampled is not given."""


def sources(system: pl.DataFrame) -> list[str]:
    """Names of all sources, sorted."""
    return sorted(system["source"].unique().to_list()) if system.height else []


def engines(system: pl.DataFrame) -> list[str]:
    """The load engines among the sources."""
    return [s for s in sources(system) if s == "engine" or s.startswith("engine-")]


def nodes(system: pl.DataFrame) -> list[str]:
    """The servers among the sources."""
    no_servers = {"machine", "lab", "others", *engines(system)}
    return [s for s in sources(system) if s not in no_servers]


def _values(rows: pl.DataFrame, source: str, metric: str) -> tuple[Floats, Floats]:
    """(seconds, values) of rows in the order of time.

    The laboratory never restarts: its counters step down where a process of its own turned out to be a
    server's. What is taken out again was never its own, at any time before. Nor does the machine: its time of
    waiting for disks may step down (proc(5)), and then stands until it is as high again.
    """
    values = rows["value"].to_numpy().astype(np.float64)
    if source == "lab" and metric.endswith("_total"):
        values = np.minimum.accumulate(values[::-1])[::-1]
    if source == "machine" and metric.endswith("_total"):
        values = np.maximum.accumulate(values)
    return rows["t_ns"].to_numpy() / NS, values


def samples(system: pl.DataFrame, source: str, metric: str) -> tuple[Floats, Floats]:
    """(seconds, values) of one metric of one source in the order of time; empty when it was not sampled."""
    rows = system.filter((pl.col("source") == source) & (pl.col("metric") == metric)).sort("t_ns")
    return _values(rows, source, metric)


def unwrapped(values: Floats) -> Floats:
    """A counter's growth since its first sample; a step down is a restart from zero, as of a restarted
    server."""
    steps = np.diff(values)
    steps = np.where(steps < 0, values[1:], steps)
    return np.concatenate([[0.0], np.cumsum(steps)]) if values.size else values


def mean_rate(t_s: Floats, values: Floats, start_s: float, end_s: float) -> float | None:
    """A counter's mean increase per second over a window, from the part of it that was sampled; None if too
    little was."""
    if t_s.size < 2 or end_s <= start_s:
        return None
    first, last = max(start_s, float(t_s[0])), min(end_s, float(t_s[-1]))
    if last - first < LEAST_COVERAGE * (end_s - start_s):
        return None
    at = np.interp([first, last], t_s, unwrapped(values))
    return float((at[1] - at[0]) / (last - first))


def grown(t_s: Floats, values: Floats, start_s: float, end_s: float) -> float | None:
    """A counter's increase between two times, from where it was sampled; None where it was not."""
    inside = t_s[(t_s >= start_s) & (t_s <= end_s)]
    if not inside.size or t_s.size < 2:
        return None
    first, last = np.interp([start_s, end_s], t_s, unwrapped(values))
    return float(last - first)


def rates(t_s: Floats, values: Floats) -> tuple[Floats, Floats]:
    """(seconds, increase per second) between consecutive samples, at the later sample's time."""
    gaps = np.diff(t_s)
    fine = gaps > 0
    return t_s[1:][fine], (np.diff(unwrapped(values)) / np.where(fine, gaps, 1.0))[fine]


class Window:
    """The samples of a system over one window of time: means of counters, maxima of levels."""

    def __init__(self, system: pl.DataFrame, start_ns: int, end_ns: int) -> None:
        self.system = system
        self.start_s, self.end_s = start_ns / NS, end_ns / NS
        self.oldest_s = math.inf

    def within(self, first_s: float, last_s: float) -> Window:
        """A part of it, in seconds since its start; its samples are not read anew. A level that was told long
        before it does not hold in it: its source may have died or left."""
        part = copy(self)
        part.__dict__["_series"] = self._series
        part.oldest_s = OLDEST_S
        part.start_s, part.end_s = self.start_s + first_s, self.start_s + last_s
        return part

    @cached_property
    def _series(self) -> dict[tuple[str, str], tuple[Floats, Floats]]:
        """(source, metric) -> its samples: one pass over all rows instead of one for each question."""
        if not self.system.height:
            return {}
        parts = self.system.sort("t_ns").partition_by("source", "metric", as_dict=True)
        return {
            (str(source), str(metric)): _values(rows, str(source), str(metric))
            for (source, metric), rows in parts.items()
        }

    def _samples(self, source: str, metric: str) -> tuple[Floats, Floats]:
        return self._series.get((source, metric), NO_SAMPLES)

    def _levels(self, source: str, metric: str) -> tuple[Floats, Floats]:
        t_s, values = self._samples(source, metric)
        there = t_s >= self.start_s - self.oldest_s
        return t_s[there], values[there]

    def rate(self, source: str, *metrics: str) -> float | None:
        """Mean increase per second, summed over `metrics`; None when none of them was sampled."""
        found = [mean_rate(*self._samples(source, m), self.start_s, self.end_s) for m in metrics]
        known = [r for r in found if r is not None]
        return sum(known) if known else None

    def rate_of_all(self, names: Iterable[str], *metrics: str) -> float | None:
        """The same, summed over sources."""
        known = [r for name in names if (r := self.rate(name, *metrics)) is not None]
        return sum(known) if known else None

    def held_back(self, source: str) -> float | None:
        """Share of its CPU quota's periods in which a source was held back; None when that was not sampled.

        Not of the time: the kernel sums seconds over processors, so that there can be more than one a second.
        """
        held, periods = self.rate(source, HELD_BACK), self.rate(source, PERIODS)
        return None if held is None or periods is None else held / periods if periods else 0.0

    def highest(self, source: str, metric: str) -> float | None:
        """Highest level in the window."""
        values = self._inside(source, metric)
        return float(values.max()) if values.size else None

    def highest_anew(self, source: str, *metrics: str) -> float | None:
        """Highest level of the first metric that was found in the window, of a source that looks now and then
        and tells its last finding meanwhile: while no metric moves it is the one from before the window.

        0 when nothing was found anew; None when it was not sampled. A further metric counts where it
        was sampled whenever the first was.
        """
        t_s, levels = self._levels(source, metrics[0])
        if not t_s.size:
            return None
        all_told = [self._levels(source, metric) for metric in metrics]
        told = [values for at_s, values in all_told if np.array_equal(at_s, t_s)]
        before = max(int(np.searchsorted(t_s, self.start_s)) - 1, 0)
        moved = np.any([values != values[before] for values in told], axis=0)
        inside = (t_s >= self.start_s) & (t_s <= self.end_s)
        return float(levels[moved & inside].max(initial=0.0))

    def lowest(self, source: str, metric: str) -> float | None:
        """Lowest level in the window."""
        values = self._inside(source, metric)
        return float(values.min()) if values.size else None

    def median(self, source: str, metric: str) -> float | None:
        """The lower median of the levels in the window, for percentiles, of which there is no mean."""
        values = self._inside(source, metric)
        return float(np.quantile(values, 0.5, method="lower")) if values.size else None

    def _inside(self, source: str, metric: str) -> Floats:
        """The levels sampled in the window; when there are none, the last one before it, which still held."""
        t_s, values = self._levels(source, metric)
        inside = values[(t_s >= self.start_s) & (t_s <= self.end_s)]
        return inside if inside.size else values[t_s < self.start_s][-1:]

    def mean(self, source: str, metric: str) -> float | None:
        """Mean level in the window, each value taken to last until the next; None when there is none."""
        t_s, values = self._levels(source, metric)
        began = t_s < self.end_s
        t_s, values = np.maximum(t_s[began], self.start_s), values[began]
        lasted = np.diff(np.append(t_s, self.end_s))
        return float(np.average(values, weights=lasted)) if lasted.sum() > 0 else None
