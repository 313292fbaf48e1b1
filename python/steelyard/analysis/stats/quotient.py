"""A ratio of two ratios, such as what nodes bring one system over what they bring another."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import overload

from steelyard.analysis.stats.percentiles import Extremes
from steelyard.analysis.stats.runs import CONFIDENCE, Contrast, Interval, Units
from steelyard.analysis.stats.signs import Signs


@dataclass(frozen=True)
class Quotient:
    """Of two ratios of which one at least is known by its least and greatest value only."""

    above: Contrast | Extremes
    below: Contrast | Extremes

    @property
    def log_ratio(self) -> float:
        """Its logarithm."""
        return self.above.log_ratio - self.below.log_ratio

    @property
    def counts(self) -> tuple[int, int]:
        """The fewest units on either side."""
        return min(self.below.counts), min(self.above.counts)

    @property
    def given(self) -> str:
        """What was not repeated."""
        return self.above.given or self.below.given

    @property
    def parts(self) -> tuple[Units, ...]:
        """The units that it was made from."""
        return (*self.above.parts, *self.below.parts)

    def interval(self) -> Interval:
        """The least and the greatest that both intervals allow."""
        above, below = self.above.interval(), self.below.interval()
        low = above.low / below.high if below.high > 0 else 0.0
        high = above.high / below.low if below.low > 0 else math.inf
        estimate = math.exp(self.log_ratio) if math.isfinite(self.log_ratio) else 1.0
        return Interval(estimate, low, high, min(self.counts), self.given)

    def difference_p(self) -> float:
        """Chance that one of the two intervals misses (Bonferroni); 1 where they allow 1."""
        return self._at_most() if self.interval().excludes(1.0) else 1.0

    def equivalence_p(self, margin: float) -> float:
        """The same for the borders of a margin."""
        inside = self.interval().within(1 / (1 + margin), 1 + margin)
        return self._at_most() if inside else 1.0

    def _at_most(self) -> float:
        sides = (self.above, self.below)
        return sum(one.miss_p() if isinstance(one, Extremes) else 1 - CONFIDENCE for one in sides)


def quotient(above: Contrast | Extremes, below: Contrast | Extremes) -> Contrast | Quotient:
    """One ratio over another; of two means errors add in squares (Welch and Satterthwaite)."""
    if not isinstance(above, Contrast) or not isinstance(below, Contrast):
        return Quotient(above, below)
    counts = (min(below.counts), min(above.counts))
    log_ratio, given = above.log_ratio - below.log_ratio, above.given or below.given
    squares, parts = [one.error**2 for one in (above, below)], (*above.parts, *below.parts)
    if not math.isfinite(sum(squares)):
        return Contrast(log_ratio, math.inf, 1.0, counts, given, parts)
    each = sum(s**2 / one.freedom for s, one in zip(squares, (above, below), strict=True))
    freedom = sum(squares) ** 2 / each if each else above.freedom
    return Contrast(log_ratio, math.sqrt(sum(squares)), freedom, counts, given, parts)


@overload
def scaled(found: Contrast | Extremes, factor: float) -> Contrast | Extremes: ...
@overload
def scaled(found: Signs, factor: float) -> Signs: ...
def scaled(found: Contrast | Extremes | Signs, factor: float) -> Contrast | Extremes | Signs:
    """A ratio times a factor that is known."""
    if isinstance(found, Signs):
        return replace(found, ratios=found.ratios * factor)
    if isinstance(found, Extremes):
        return replace(found, b=found.b * factor)
    return replace(found, log_ratio=found.log_ratio + math.log(factor))
