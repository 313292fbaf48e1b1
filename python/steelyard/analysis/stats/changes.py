"""Where a series changes its level: the partition into level pieces that costs least (PELT).

Killick, Fearnhead and Eckley 2012: squared deviations from the pieces' means plus a penalty for each piece,
minimised exactly. The penalty counts in units of the series' own long-run noise, so that neighbours that
resemble each other (queues, caches) are not taken for levels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SHORTEST = 2
"""Values in a piece: one alone is an outlier, no level."""
PENALTY = 3.0
"""Times log n: at 2 (the information criterion's own count) one in ten series of level noise is cut."""
LAG = 3
"""Neighbours this far apart stand for unrelated values when the noise is estimated."""
MOST_RELATED = 0.8
LEAST_NOISE = 0.005
"""Noise below half a percent of the level is taken as that: smaller steps do not matter."""

LEAST_SPAN = 1e-6
"""The same against the whole span, for series that stand still but for a few values."""
TINY = 1e-100
QUARTILE = 0.6744897501960817
"""Of the standard normal distribution, the third."""


def _deviation(values: Floats) -> float:
    """The standard deviation that normal values of this median absolute deviation have."""
    return float(np.median(abs(values - np.median(values)))) / QUARTILE


def long_run_variance(series: Floats) -> float:
    """Variance of the noise as a mean of many values sees it, from differences, so that steps hardly enter.

    Differences of neighbours are small when neighbours are alike, so their size against that of values `LAG`
    apart tells the correlation r, and (1 + r) / (1 - r) how much it adds.
    """
    far, near = (_deviation(series[lag:] - series[:-lag]) ** 2 / 2 for lag in (LAG, 1))
    related = float(np.clip(1 - near / far, 0, MOST_RELATED)) if far else 0.0
    least = max(LEAST_NOISE * float(np.median(np.abs(series))), LEAST_SPAN * float(np.ptp(series)), TINY)
    return max(float(far) * (1 + related) / (1 - related), least**2)


def change_points(series: Floats) -> list[int]:
    """Indices at which a new level begins, ascending; empty for a level series or fewer than four values."""
    n = series.size
    if n < 2 * SHORTEST:
        return []
    scaled = (series - np.median(series)) / np.sqrt(long_run_variance(series))
    sums = np.concatenate([[0.0], np.cumsum(scaled)])
    squares = np.concatenate([[0.0], np.cumsum(scaled**2)])
    penalty = PENALTY * np.log(n)
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    before = np.zeros(n + 1, dtype=np.int64)
    starts = np.array([0])
    for end in range(SHORTEST, n + 1):
        sizes = end - starts
        costs = best[starts] + squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / sizes
        place = int(np.argmin(costs))
        best[end], before[end] = costs[place] + penalty, starts[place]
        starts = np.append(starts[costs <= best[end]], end - SHORTEST + 1)
        starts = starts[np.isfinite(best[starts])]
    return _walk_back(before, n)


def _walk_back(before: NDArray[np.int64], end: int) -> list[int]:
    found: list[int] = []
    while (end := int(before[end])) > 0:
        found.append(end)
    return found[::-1]
