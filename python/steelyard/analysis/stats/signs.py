"""Pairs of runs told apart by their ratios alone: the sign test at its widest.

For figures that have no mean (percentiles of few runs, zeros). The sides differ when every pair's ratio lies
on one side of 1, which n pairs of equal samples do in 2 of 2^n cases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.stats.percentiles import middle
from steelyard.analysis.stats.runs import CONFIDENCE, Interval, Units

Floats = NDArray[np.float64]


def unanimous_p(count: int) -> float:
    """Chance that so many units all lie on one side of a border which halves them."""
    return float(2.0 ** (1 - count))


@dataclass(frozen=True)
class Signs:
    """B against A in pairs.

    Attributes:
        ratios: of each unit, B over A; zero, or inf where A is zero.
        given: what was not repeated.
    """

    ratios: Floats
    given: str = ""
    parts: tuple[Units, ...] = field(default=(), compare=False, repr=False)

    @property
    def log_ratio(self) -> float:
        """Of the median pair; -inf and inf where it is zero or has none."""
        centre = self._middle()
        return math.log(centre) if centre > 0 else -math.inf

    @property
    def counts(self) -> tuple[int, int]:
        """Units of A and B."""
        return self.ratios.size, self.ratios.size

    def interval(self) -> Interval:
        """The median ratio within the least and the greatest; unbounded where so few pairs bound nothing."""
        low, high = float(self.ratios.min()), float(self.ratios.max())
        if unanimous_p(self.ratios.size) > 1 - CONFIDENCE:
            low, high = 0.0, math.inf
        return Interval(self._middle(), low, high, self.ratios.size, self.given)

    def difference_p(self) -> float:
        """Chance of ratios all on one side of 1 when the sides are equal; 1 when they are not."""
        return unanimous_p(self.ratios.size) if self.interval().excludes(1.0) else 1.0

    def equivalence_p(self, margin: float) -> float:
        """The same for the borders of the margin; 1 unless all ratios lie inside."""
        inside = self.interval().within(1 / (1 + margin), 1 + margin)
        return unanimous_p(self.ratios.size) if inside else 1.0

    def _middle(self) -> float:
        return float(np.median(self.ratios)) if np.isinf(self.ratios).any() else middle(self.ratios)
