"""One figure over the counting trials of a cell, and what it is against another.

There are three ways, by what the figure is:

- `mean`: geometric over units, with Student's t on logarithms;
- `merged`: a percentile of the units' merged histograms, from ten units on with a bootstrap over them;
- `ordered`: the median unit within two others, of few the least and the greatest. Percentiles of few units,
  percentiles of which there are no histograms, minima, maxima, counts of what went wrong, and figures that
  are zero in some trial or may lie below it, which has no logarithm and is a value all the same.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.stats.percentiles import (
    LEAST_UNITS,
    Extremes,
    Merged,
    bounds,
    least_and_greatest,
    merged_contrast,
    middle,
)
from steelyard.analysis.stats.runs import FEW, Contrast, Interval, Runs, Units, contrast, mean, squared_error
from steelyard.analysis.stats.signs import border_p, median_bounds
from steelyard.spec.metrics import bounds_of, is_count, is_signed

Floats = NDArray[np.float64]
Way = Literal["mean", "merged", "ordered"]
Found = Contrast | Extremes
"""B against A."""

_PERCENTILE = re.compile(r"_(p\d+|min|max)(_ns)?$")


def is_percentile(metric: str) -> bool:
    """Whether a metric is a percentile, a minimum or a maximum, whose mean over runs says nothing."""
    return _PERCENTILE.search(metric) is not None


@dataclass(frozen=True)
class Sample:
    """A figure's runs.

    Attributes:
        metric: its column.
        runs: its values, zero or above unless the figure is signed, in their nest; at least one.
        merged: the runs' histograms, when the figure is a percentile of them.
        quantile: of `merged`.
    """

    metric: str
    runs: Runs
    merged: Merged | None = None
    quantile: float = 0.5

    @property
    def count(self) -> int:
        """Units."""
        return len(self.runs.units()[0])

    @property
    def given(self) -> str:
        """What was not repeated: `this load`, `this start`, or nothing."""
        return self.runs.units()[1]

    @property
    def way(self) -> Way:
        """How its runs are put together; what may lie below zero, or counts, goes in order always."""
        if is_signed(self.metric) or is_count(self.metric):
            return "ordered"
        if is_percentile(self.metric):
            return "merged" if self.merged and self.count >= LEAST_UNITS else "ordered"
        return "mean" if min(self.runs.values) > 0 else "ordered"

    @cached_property
    def ids(self) -> Units:
        """Which start and load each unit is of, with its figure's logarithm; empty where no other cell can
        have a part in it."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.units).tolist()
        ids = replace(self.runs, values=[1.0] * len(self.runs.values)).by_unit()
        return dict(zip(ids, logs, strict=True)) if ids else {}

    @cached_property
    def units(self) -> Floats:
        """The figure of each unit: its geometric mean, the percentile of its merged histograms, or its median
        run."""
        places = self.runs.units()[0]
        if self.way == "mean":
            return np.asarray(np.exp(self.runs.logs()))
        if self.merged:
            return self.merged.of_units(self.quantile)
        values = np.asarray(self.runs.values, dtype=np.float64)
        return np.array([middle(values[of]) for of in places])

    @cached_property
    def interval(self) -> Interval:
        """The cell's figure with its 95 % interval; in order the median unit within the least and the
        greatest, from ten units on within those two that hold it. A mean's interval, on logarithms, ends
        where the figure does: a share at its whole, the busiest node over the mean at 1."""
        if self.way == "mean":
            found, (least, greatest) = mean(self.runs), bounds_of(self.metric)
            return replace(found, low=max(found.low, least), high=min(found.high, greatest))
        if self.way == "merged" and self.merged:
            return bounds(self.merged, self.units, self.quantile)
        if self.count >= LEAST_UNITS:
            return Interval(middle(self.units), *median_bounds(self.units), self.count, self.given)
        return least_and_greatest(self.units, self.given)

    @property
    def bar(self) -> Interval:
        """The interval to draw: of fewer than six units, which bound nothing, their least and greatest."""
        if self.way != "mean" or self.count >= FEW:
            return self.interval
        return replace(self.interval, low=float(self.units.min()), high=float(self.units.max()))

    @property
    def points(self) -> Floats:
        """What a curve is fitted to: the units of a mean; of a percentile the cell's own figure alone, since
        least squares through percentiles of units would be an average of them."""
        return self.units if self.way == "mean" else np.array([self.interval.estimate])


def versus(a: Sample, b: Sample) -> Found:
    """B over A."""
    if a.way == b.way == "mean":
        return contrast(a.runs, b.runs)
    if a.way == b.way == "merged" and a.merged and b.merged:
        return merged_contrast(a.merged, b.merged, a.quantile, of_b=b.quantile)
    return Extremes(a.units, b.units, a.given or b.given, (a.ids, b.ids))


def beyond_p(sample: Sample, border: float) -> float:
    """Chance of a figure this far from a border, above zero, when it lies on it (two-sided)."""
    if sample.way == "ordered":
        return border_p(sample.units, border)
    if sample.way == "merged" and sample.merged:
        squared, freedom = sample.merged.squared_error(sample.quantile), sample.count - 1.0
    else:
        squared, freedom = squared_error(sample.runs.logs()), max(sample.count - 1.0, 1.0)
    distance = math.log(sample.interval.estimate / border)
    return Contrast(distance, math.sqrt(squared), freedom, (sample.count,) * 2).difference_p()
