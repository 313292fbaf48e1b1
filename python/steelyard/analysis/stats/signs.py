"""Pairs of runs told apart by their ratios alone: the exact sign test.

For figures that have no mean (percentiles of few runs, zeros). The sides differ when more ratios lie on one
side of 1 than halves of equal samples do by chance: all of six, ten of twelve (of fair coins the tail on
both sides; Dixon and Mood 1946). Its interval holds the median pair, between two of the pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.stats.percentiles import middle
from steelyard.analysis.stats.runs import CONFIDENCE, Interval, Units

Floats = NDArray[np.float64]


def sign_p(agree: int, count: int) -> float:
    """Chance that so many of `count` units, or more, agree on a side of a border which halves them.

    Two-sided; 1 where no more than half agree. Of units that all agree it is 2 in 2^count.
    """
    tail = sum(math.comb(count, many) for many in range(agree, count + 1))
    return min(1.0, 2.0 * tail / 2.0**count)


def agreeing(p: float, count: int) -> int | None:
    """How many of `count` units agree where this is the chance; None if it is of no sign test of so many."""
    return next((many for many in range(count // 2 + 1, count + 1) if p == sign_p(many, count)), None)


def border_p(values: Floats, border: float) -> float:
    """Chance of values this one-sided about a border that halves them; one that lies on it speaks against."""
    return sign_p(max(int((values > border).sum()), int((values < border).sum())), values.size)


def median_bounds(values: Floats) -> tuple[float, float]:
    """The two values that hold the median of what they were drawn from with 95 % at least: the least and the
    greatest of six to eight, the next ones of nine; unbounded where so few bound nothing."""
    count, ordered = values.size, np.sort(values)
    left_out = [many for many in range(count // 2) if sign_p(count - many, count) <= 1 - CONFIDENCE]
    if not left_out:
        return 0.0, math.inf
    return float(ordered[left_out[-1]]), float(ordered[-1 - left_out[-1]])


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
        """The median ratio, and what holds it; see `median_bounds`."""
        return Interval(self._middle(), *median_bounds(self.ratios), self.ratios.size, self.given)

    def difference_p(self) -> float:
        """Chance of ratios this one-sided about 1 when the sides are equal."""
        return border_p(self.ratios, 1.0)

    def equivalence_p(self, margin: float) -> float:
        """Chance of so many ratios inside each border of the margin when the truth lies on that border."""
        inside = (self.ratios > 1 / (1 + margin)).sum(), (self.ratios < 1 + margin).sum()
        return max(sign_p(int(agree), self.ratios.size) for agree in inside)

    def _middle(self) -> float:
        return float(np.median(self.ratios)) if np.isinf(self.ratios).any() else middle(self.ratios)
