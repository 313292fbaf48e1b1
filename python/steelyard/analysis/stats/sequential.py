"""Several looks at growing data that share one error rate: alpha spending by Lan and DeMets (1983).

By the time that a fraction t of the most repetitions has been run, all looks together may have erred with
chance `spent(t)`; what is left is for later ones. How many looks there are, and when, need not be known
before. The function is the one like Pocock's: the first look is the end of the plan, at which most questions
are decided, and one like O'Brien and Fleming's leaves it so little that nearly every study would go on.

Levels come from the joint law of the z values of all looks, whose correlation is the square root of the ratio
of their information (Armitage, McPherson and Rowe 1969). They are applied to p-values of any test (Jennison
and Turnbull 2000, 11.4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from steelyard.analysis.stats.power import WANTED
from steelyard.analysis.stats.signs import sign_p

Floats = NDArray[np.float64]

LARGEST = 0.3
"""Repeated p-values above it are given as 1: no error rate that anybody asks for is larger."""
LEAST = 1e-9
"""Smaller p-values decide nothing more."""
FAR = 6.5
"""Standard deviations beyond which a z value without effect does not lie."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(96)
_HALVINGS = 50


@dataclass(frozen=True)
class LookAt:
    """One look at one question.

    Attributes:
        information: repetitions of each cell that were done; it grows from look to look.
        fraction: share of the most there may be, 0..1; 1 when it was known beforehand that none follows.
    """

    information: float
    fraction: float


def spent(fraction: float, level: float) -> float:
    """Chance of an error up to that fraction of the most repetitions."""
    return level * math.log1p((math.e - 1) * min(fraction, 1.0))


def levels(looks: Sequence[LookAt], level: float) -> list[float]:
    """The two-sided level of each look, so that all of them together err with chance `level` at most.

    Args:
        looks: in their order, of growing information.
        level: e.g. 0.05; of a share of a family less.
    """
    found: list[float] = []
    before: tuple[Floats, Floats] | None = None  # z values at which it went on, and their weights
    used, information = 0.0, 0.0
    for look in looks:
        budget = max(spent(look.fraction, level) - used, 0.0)
        share = information / look.information
        bound = _bound(budget, *before, share) if before else _z(budget)
        found.append(_p(bound))
        before = _going_on(bound, before, share)
        used, information = used + budget, look.information
    return found


def repeated_p(p: float, looks: Sequence[LookAt]) -> float:
    """The least error rate at which the last of these looks decides: valid at whichever look one ends.

    Args:
        p: of the last look's data alone.
        looks: all up to that one; none when there is only one test by plan.
    """
    if not looks:
        return p
    p = max(p, LEAST)
    if levels(looks, LARGEST)[-1] < p:
        return 1.0
    low, high = math.log(p), math.log(LARGEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if levels(looks, math.exp(middle))[-1] >= p else (middle, high)
    return math.exp(high)


def further(p: float, looks: Sequence[LookAt], most: int, level: float) -> int | None:
    """Further repetitions after which the question is decided with a chance of 80 %; None if none are enough.

    The effect is not the one seen: the chance is averaged over where it may lie (Spiegelhalter, Freedman and
    Blackburn 1986).

    Args:
        p: of the last look's data.
        looks: all up to that one, at least one.
        most: repetitions that there may be in all.
        level: of the question, after its share of the family's.
    """
    now = round(looks[-1].information)
    z = _z(max(p, LEAST))
    for count in range(now + 1, most + 1):
        bound = _z(levels([*looks, LookAt(count, count / most)], level)[-1])
        centre, spread = z * math.sqrt(count / now), math.sqrt((count - now) / now)
        if special.ndtr((centre - bound) / spread) + special.ndtr((-centre - bound) / spread) >= WANTED:
            return count - now
    return None


def further_signs(agree: int, count: int, looks: Sequence[LookAt], most: int, level: float) -> int | None:
    """As `further`, of a sign test in which so many of `count` units agree.

    Its p-value halves with each unit that agrees, of which the normal law knows nothing. How likely the next
    ones are to agree follows from those seen (beta-binomial, Jeffreys' prior).

    Args:
        looks, most, level: as of `further`; `count` repetitions were done at the last look.
    """
    for total in range(count + 1, most + 1):
        bound = levels([*looks, LookAt(total, total / most)], level)[-1]
        needed = next((many for many in range(total + 1) if sign_p(many, total) <= bound), None)
        if needed is not None and _agreeing(needed - agree, total - count, agree, count) >= WANTED:
            return total - count
    return None


def _agreeing(least: int, more: int, agree: int, count: int) -> float:
    """Chance that of `more` units at least so many agree, when of `count` these did."""
    alpha, beta = agree + 0.5, count - agree + 0.5
    many = np.arange(max(least, 0), more + 1)
    ways = -special.betaln(more - many + 1, many + 1) - math.log(more + 1)
    logs = ways + special.betaln(many + alpha, more - many + beta) - special.betaln(alpha, beta)
    return float(np.exp(logs).sum())


def _z(p: float) -> float:
    """How far z lies from 0 at a two-sided p."""
    return float(-special.ndtri(p / 2)) if p > 0 else math.inf


def _p(z: float) -> float:
    return float(2 * special.ndtr(-z))


def _going_on(bound: float, before: tuple[Floats, Floats] | None, share: float) -> tuple[Floats, Floats]:
    """Where z lies when a look decides nothing, and with which weight.

    Args:
        bound: of this look.
        before: the same of the look before; None at the first.
        share: information of the look before over that of this one.
    """
    reach = min(bound, FAR)
    z, weights = reach * _NODES, reach * _WEIGHTS
    if before is None:
        return z, weights * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    steps = (z[:, np.newaxis] - before[0] * math.sqrt(share)) / math.sqrt(1 - share)
    density = np.exp(-(steps**2) / 2) / math.sqrt(2 * math.pi * (1 - share))
    return z, weights * (density @ before[1])


def _bound(budget: float, z: Floats, weights: Floats, share: float) -> float:
    """The z beyond which this look ends with chance `budget`, having gone on before; by halving."""
    centre, spread = z * math.sqrt(share), math.sqrt(1 - share)

    def beyond(bound: float) -> float:
        both = special.ndtr((centre - bound) / spread) + special.ndtr((-centre - bound) / spread)
        return float(both @ weights)

    low, high = 0.0, 2 * FAR
    if budget <= 0 or beyond(high) >= budget:
        return math.inf
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > budget else (low, middle)
    return high
