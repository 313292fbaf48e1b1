"""Histograms by second: merged over windows, and over slices of at least 1,000 operations.

Percentiles are of merged histograms and never averaged. A p99 of fewer than 1,000 operations rests on fewer
than ten of them, so neighbouring seconds are put together until there are as many.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.windows.spans import Seconds

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

LEAST_OPERATIONS = 1000
"""In a slice: ten of them lie above its p99."""


@dataclass(frozen=True)
class BySecond:
    """One distribution in each second of a phase, by when its operations were due.

    Attributes:
        values_ns: (buckets) the highest value of each bucket, ascending.
        counts: (seconds, buckets).
    """

    values_ns: Floats
    counts: Counts | NDArray[np.int32]

    @property
    def seconds(self) -> Seconds:
        """All of them."""
        return Seconds(0, len(self.counts))

    def merged(self, seconds: Seconds) -> Merged:
        """Of several seconds together."""
        rows = self.counts[seconds.first : max(seconds.end, seconds.first)]
        return Merged(self.values_ns, rows.sum(axis=0, dtype=np.int64))

    def slices(self, seconds: Seconds, least: int = LEAST_OPERATIONS) -> list[Seconds]:
        """Consecutive parts of a window, each as short as holds `least` operations; a rest that holds fewer
        belongs to the last."""
        found: list[Seconds] = []
        begun, held = seconds.first, 0
        totals = self.counts.sum(axis=1)
        for second in range(seconds.first, min(seconds.end, len(totals))):
            held += int(totals[second])
            if held >= least:
                found.append(Seconds(begun, second + 1))
                begun, held = second + 1, 0
        if found and begun < seconds.end:
            found[-1] = Seconds(found[-1].first, seconds.end)
        return found


@dataclass(frozen=True)
class Merged:
    """A distribution: the highest value of each bucket, and how many operations lie in it."""

    values_ns: Floats
    counts: Counts

    @property
    def count(self) -> int:
        """Operations."""
        return int(self.counts.sum())

    @property
    def mean_ns(self) -> float | None:
        """By the buckets' values; None of none."""
        return float(self.values_ns @ self.counts) / self.count if self.count else None

    def quantile(self, share: float) -> float | None:
        """The least value with that share of all at or below it, as HdrHistogram counts; None of none."""
        if not self.count:
            return None
        percent = share * 100  # multiplied in its order: 0.7 * 45 is a hair less than 70 * 45 / 100
        wanted = max(int(percent * self.count / 100 + 0.5), 1)
        return float(self.values_ns[int(np.searchsorted(np.cumsum(self.counts), wanted))])

    @property
    def p99_ns(self) -> float | None:
        """Of at least 1,000 operations; None of fewer."""
        return self.quantile(0.99) if self.count >= LEAST_OPERATIONS else None

    def share_above(self, border_ns: float) -> float | None:
        """Share of operations that took longer; None of none."""
        return float(self.counts[self.values_ns > border_ns].sum()) / self.count if self.count else None


def by_second(log: Iterable[tuple[float, Floats, Floats]], seconds: int) -> BySecond:
    """Histograms of a log as one table.

    Args:
        log: (second since the phase began, values in ns, counts) of one tag; several of one second add up.
        seconds: whole ones of the phase; what was due later is left out.
    """
    kept = [(int(at), values, counts) for at, values, counts in log if 0 <= at < seconds]
    every = np.unique(np.concatenate([values for _, values, _ in kept])) if kept else np.zeros(0)
    table = np.zeros((seconds, every.size), dtype=np.int32)  # an hour of a long tail has tens of millions
    for at, values, counts in kept:
        table[at, np.searchsorted(every, values)] += counts.astype(np.int32)
    return BySecond(every, table)
