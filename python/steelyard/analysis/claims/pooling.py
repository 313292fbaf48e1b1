"""Several cells' findings as one: pooled, counted, or shown apart because they contradict each other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from steelyard.analysis.claims.verdict import Answer
from steelyard.analysis.evidence import Found
from steelyard.analysis.stats.percentiles import Extremes
from steelyard.analysis.stats.quotient import Quotient
from steelyard.analysis.stats.runs import Contrast, Interval, squared_error
from steelyard.analysis.stats.shared import Floats, mean_units, share_units
from steelyard.analysis.stats.signs import Signs
from steelyard.analysis.stats.slopes import Line, by_ranks
from steelyard.analysis.stats.verdicts import LEVEL, holm

Compared = Found | Signs | Quotient
"""The ratio of two samples, by whichever way they can be compared."""
Told = Sequence[tuple[str, float, float]]
"""(name, effect, its chance) of each part of a finding; an effect above 0 goes up."""


def geometric_mean(found: Sequence[Compared]) -> Interval:
    """Of ratios of cells, about these cells: errors of means add in squares; of order statistics it is the
    median ratio of two units of one cell; of a mixture, and of order statistics whose cells stand on the same
    starts or loads, all ends are averaged, as if cells erred alike."""
    plain = [c for c in found if isinstance(c, Contrast)]
    if len(plain) == len(found):
        return pooled(plain).interval()
    count, given = min(min(c.counts) for c in found), next((c.given for c in found if c.given), "")
    if ordered := _ordered(found):
        log = by_ranks(ordered).interval
        with np.errstate(over="ignore"):
            estimate, low, high = np.exp([log.estimate, log.low, log.high]).tolist()
        return Interval(estimate, low, high, count, given)
    ends = [c.interval() for c in found]
    low = _geometric([i.low for i in ends], 0.0)
    high = _geometric([i.high for i in ends], math.inf)
    return Interval(_geometric([i.estimate for i in ends], 1.0), low, high, count, given)


def _ordered(found: Sequence[Compared], factor: float = 1.0) -> list[Line]:
    """Units of A at 0 and of B, times a factor, at 1, a line for each cell; empty unless there are several
    cells, all of order statistics and none with units of another: one alone is told apart exactly, by its
    least and greatest units, and ranks take lines for independent of each other."""
    cells = [c for c in found if isinstance(c, Extremes)]
    if len(cells) < len(found) or len(cells) < 2 or share_units([c.parts for c in cells]):
        return []
    with np.errstate(divide="ignore"):
        return [(np.repeat([0.0, 1.0], c.counts), np.log(np.concatenate([c.a, c.b * factor]))) for c in cells]


def _geometric(values: Sequence[float], undecided: float) -> float:
    """The geometric mean; of values among which are both 0 and inf it is not known."""
    if 0.0 in values and math.inf in values:
        return undecided
    return math.exp(sum(math.log(v) if v else -math.inf for v in values) / len(values))


def pooled(found: Sequence[Contrast]) -> Contrast:
    """The mean of log ratios, degrees of freedom by Welch and Satterthwaite.

    Cells that stand on the same starts or loads err together: then each start's mean over all cells is one
    value. Where that cannot be formed (a start lacks a cell, percentiles of merged histograms) the error is
    the mean of the cells' errors, which it exceeds in no case.
    """
    count, given = min(min(c.counts) for c in found), next((c.given for c in found if c.given), "")
    log_ratio = sum(c.log_ratio for c in found) / len(found)
    parts = [c.parts for c in found]
    if len(found) > 1 and share_units(parts):
        if together := mean_units(parts):
            return _of_units(log_ratio, together, given)
        error = sum(c.error for c in found) / len(found)
        return Contrast(log_ratio, error, min(c.freedom for c in found), (count, count), given)
    squares = [c.error**2 for c in found]
    each = sum(s**2 / c.freedom for s, c in zip(squares, found, strict=True))
    freedom = sum(squares) ** 2 / each if each and math.isfinite(each) else found[0].freedom
    return Contrast(log_ratio, math.sqrt(sum(squares)) / len(found), freedom, (count, count), given)


def _of_units(log_ratio: float, samples: Sequence[Floats], given: str) -> Contrast:
    """A contrast of the means of independent units, of as many samples as it is made from."""
    squares = [squared_error(units) for units in samples]
    fewest = min(units.size for units in samples)
    total = sum(squares)
    if not math.isfinite(total):
        return Contrast(log_ratio, math.inf, 1.0, (fewest, fewest), given)
    each = sum(s**2 / (units.size - 1) for s, units in zip(squares, samples, strict=True))
    freedom = total**2 / each if each else fewest - 1.0
    return Contrast(log_ratio, math.sqrt(total), freedom, (fewest, fewest), given)


def chance(found: Sequence[Compared]) -> float:
    """Of ratios this far from 1 when all are 1; of a mixture the largest."""
    plain = [c for c in found if isinstance(c, Contrast)]
    if len(plain) == len(found):
        return pooled(plain).difference_p()
    if ordered := _ordered(found):
        return by_ranks(ordered).p
    return max(c.difference_p() for c in found)


def alike(found: Sequence[Compared], margin: float) -> float:
    """Chance of ratios this well inside the margin when the truth lies at its border."""
    plain = [c for c in found if isinstance(c, Contrast)]
    if len(plain) == len(found):
        return pooled(plain).equivalence_p(margin)
    if _ordered(found):
        inside = geometric_mean(found).within(1 / (1 + margin), 1 + margin)
        borders = (1 + margin, 1 / (1 + margin))
        return max(by_ranks(_ordered(found, border)).p for border in borders) if inside else 1.0
    return max(c.equivalence_p(margin) for c in found)


def contradiction(told: Told) -> str:
    """What is said when parts of one finding go opposite ways beyond chance (Holm); else nothing."""
    shown = holm([p for _, _, p in told]) < LEVEL
    up = [name for (name, effect, _), sure in zip(told, shown, strict=True) if sure and effect > 0]
    down = [name for (name, effect, _), sure in zip(told, shown, strict=True) if sure and effect < 0]
    if not up or not down:
        return ""
    return f"not pooled, since they contradict each other: up at {'; '.join(up)}, down at {'; '.join(down)}"


def most(told: Told, upwards: bool, what: str) -> tuple[Answer, str, float]:
    """Whether more than half of the parts go the claimed way: the answer, the count in words, its chance.

    By the partial conjunction of Benjamini and Heller (2008): that at least k of n go one way is shown by n -
    k + 1 times the k-th smallest one-sided chance. It is refuted when half of them or more go the other way.
    """
    ways = [_one_sided(told, up) for up in (upwards, not upwards)]
    needed = (len(told) // 2 + 1, (len(told) + 1) // 2)
    chances = [
        min(1.0, 2 * (len(told) - k + 1) * sorted(way)[k - 1]) for way, k in zip(ways, needed, strict=True)
    ]
    single = holm([p for _, _, p in told]) < LEVEL
    sure = [(effect > 0) == upwards for (_, effect, _), shown in zip(told, single, strict=True) if shown]
    words = f"{sum(sure)} of {len(told)} {what} go the claimed way, {len(sure) - sum(sure)} the other way"
    if chances[0] < LEVEL:
        return "confirmed", words, chances[0]
    return ("refuted", words, chances[1]) if chances[1] < LEVEL else ("inconclusive", words, min(chances))


def _one_sided(told: Told, upwards: bool) -> list[float]:
    return [p / 2 if (effect > 0) == upwards else 1 - p / 2 for _, effect, p in told]
