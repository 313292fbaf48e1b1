"""How values are distributed: where their modes lie, and to which side the longer tail is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SMOOTHING = 0.1
"""Standard deviation of the kernel on logarithms: what lies within a tenth of each other is one mode."""
VALLEY = 0.5
"""Two modes are two when the density between them falls below this share of the lower one."""
LEAST = 0.05
"""A mode is at least this share of the highest one."""


def skewness(counts: Floats, grid: float) -> float:
    """(p99 + p1 - 2 p50) / (p99 - p1), from -1 to 1; 0 where these are one value.

    The form of Bowley and Kelly, generalised by Hinkley (Biometrika 62(1), 1975), at the tails: quartiles or
    deciles tell to which side the middle leans, which of latencies may be neither, and one outlier moves
    the third moment.

    Args:
        counts: of bins that are even on logarithms.
        grid: the width of a bin there.
    """
    sums = counts.cumsum()
    p1, p50, p99 = (np.exp(grid * np.searchsorted(sums, q * sums[-1])) for q in (0.01, 0.5, 0.99))
    return float((p99 + p1 - 2 * p50) / (p99 - p1)) if p99 > p1 else 0.0


def modes(counts: Floats, grid: float) -> list[int]:
    """The bins in which the modes lie, the highest first; arguments as of `skewness`."""
    density = _smoothed(counts, grid)
    rises = np.diff(np.concatenate([[0.0], density, [0.0]])) > 0
    peaks = np.flatnonzero(rises[:-1] & ~rises[1:])
    found: list[int] = []
    for peak in sorted(peaks.tolist(), key=lambda at: -density[at]):
        if density[peak] >= LEAST * density.max() and all(_apart(density, peak, other) for other in found):
            found.append(peak)
    return found


def _smoothed(counts: Floats, grid: float) -> Floats:
    reach = max(1, round(3 * SMOOTHING / grid))
    steps = np.arange(-reach, reach + 1) * grid
    kernel = np.exp(-0.5 * (steps / SMOOTHING) ** 2)
    return np.convolve(np.pad(counts, reach), kernel / kernel.sum(), mode="valid")


def _apart(density: Floats, peak: int, other: int) -> bool:
    between = density[min(peak, other) : max(peak, other) + 1]
    return bool(between.min() < VALLEY * density[peak])
