"""The common slope of several lines, each with a level of its own: by least squares for means, by ranks for
the rest.

Least squares through percentiles would average them; ranks (Theil and Sen's median of the slopes between
runs, with Kendall's test within each line) take order statistics as they are, and zeros, whose logarithm is
-inf.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from steelyard.analysis.stats import student
from steelyard.analysis.stats.runs import CONFIDENCE, Interval

Floats = NDArray[np.float64]
NORMAL = float(special.ndtri((1 + CONFIDENCE) / 2))
Line = tuple[Floats, Floats]
"""x and y of every unit; the values of x are of two levels or more."""


@dataclass(frozen=True)
class Slope:
    """A slope with its 95 % interval, and the chance of one this far from 0 when y does not go with x.

    Attributes:
        error: its standard error; of ranks the normal one that has their interval; inf where none is known.
        freedom: degrees of freedom of that.
    """

    interval: Interval
    p: float
    error: float = math.inf
    freedom: float = 1.0


def least_squares(lines: Sequence[Line]) -> Slope:
    """Of deviations from each line's mean."""
    x = np.concatenate([x - x.mean() for x, _ in lines])
    y = np.concatenate([y - y.mean() for _, y in lines])
    freedom = x.size - len(lines) - 1
    slope = float((x * y).sum() / (x * x).sum())
    if freedom < 1:
        return Slope(Interval(slope, -math.inf, math.inf, x.size), 1.0)
    error = math.sqrt(float(((y - slope * x) ** 2).sum()) / freedom / float((x * x).sum()))
    half = student.quantile((1 + CONFIDENCE) / 2, freedom) * error
    p = student.two_sided(slope / error, freedom) if error else float(slope == 0)
    return Slope(Interval(slope, slope - half, slope + half, x.size), p, error, freedom)


def by_ranks(lines: Sequence[Line]) -> Slope:
    """The median slope between two units of one line, with Sen's interval (1968) over all lines."""
    slopes = np.sort(np.concatenate([_pairs(x, y) for x, y in lines]))
    rising = float(np.sign(slopes).sum())
    deviation = math.sqrt(sum(_variance(x) for x, _ in lines))
    reach = NORMAL * deviation
    low, high = math.floor((slopes.size - reach) / 2), math.ceil((slopes.size + reach) / 2)
    bounded = low >= 1 and high < slopes.size
    ends = (slopes[low - 1], slopes[high]) if bounded else (-math.inf, math.inf)
    middle = float(np.quantile(slopes, 0.5, method="lower"))
    p = float(2 * special.ndtr(-max(abs(rising) - 1, 0) / deviation)) if deviation else 1.0
    count = sum(x.size for x, _ in lines)
    error = float(ends[1] - ends[0]) / (2 * NORMAL) if np.isfinite(ends).all() else math.inf
    return Slope(Interval(middle, float(ends[0]), float(ends[1]), count), min(p, 1.0), error, count - 2.0)


def alike(slopes: Sequence[Slope]) -> Slope:
    """The mean of slopes that err together: its error is the mean of theirs, at most."""
    count, freedom = min(s.interval.count for s in slopes), min(s.freedom for s in slopes)
    slope = sum(s.interval.estimate for s in slopes) / len(slopes)
    error = sum(s.error for s in slopes) / len(slopes)
    if not math.isfinite(error):
        return Slope(Interval(slope, -math.inf, math.inf, count), 1.0)
    half = student.quantile((1 + CONFIDENCE) / 2, freedom) * error
    p = student.two_sided(slope / error, freedom) if error else float(slope == 0)
    return Slope(Interval(slope, slope - half, slope + half, count), p, error, freedom)


def _pairs(x: Floats, y: Floats) -> Floats:
    """Slopes between any two units at different x; between two zeros it is 0."""
    low, high = (x[:, np.newaxis] < x[np.newaxis, :]).nonzero()
    with np.errstate(invalid="ignore"):
        rise = np.where(y[high] == y[low], 0.0, y[high] - y[low])
    return np.asarray(rise / (x[high] - x[low]))


def _variance(x: Floats) -> float:
    """Of Kendall's sum of signs, units at equal x being tied (Kendall 1970)."""
    ties = np.unique(x, return_counts=True)[1].astype(np.float64)
    n = float(x.size)
    return float((n * (n - 1) * (2 * n + 5) - (ties * (ties - 1) * (2 * ties + 5)).sum()) / 18)
