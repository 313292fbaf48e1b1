"""Ratios between two sides at matched cells: a geometric mean with its interval, and equality."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.analysis.claims.pairs import Pair, metrics
from steelyard.analysis.claims.pooling import (
    Compared,
    Told,
    alike,
    chance,
    contradiction,
    geometric_mean,
    most,
)
from steelyard.analysis.claims.verdict import Answer, Evidence, Finding, figure, said, sign
from steelyard.analysis.evidence import Cell, versus, within
from steelyard.analysis.stats.percentiles import Extremes
from steelyard.analysis.stats.quotient import scaled
from steelyard.analysis.stats.runs import FEW, Contrast, Interval
from steelyard.analysis.stats.signs import Signs
from steelyard.analysis.stats.verdicts import LEVEL, holm
from steelyard.spec.checks import Claim, Equality, Ratio, Side


@dataclass(frozen=True)
class _Cells:
    """The ratios of matched cells, and the figures beneath them."""

    found: tuple[Compared, ...]
    names: tuple[str, ...]
    evidence: tuple[Evidence, ...]

    def unlike(self, whole: Interval | None) -> tuple[float, float] | None:
        """The least and the greatest of them, where one lies beyond chance (Holm) off what they were pooled
        to."""
        ratios = [math.exp(one.log_ratio) for one in self.found]
        if whole is None or not all(0 < ratio < math.inf for ratio in (*ratios, whole.estimate)):
            return None
        apart = [scaled(one, 1 / whole.estimate).difference_p() for one in _plain(self.found)]
        shown = len(apart) > 1 and min(holm(apart)) < LEVEL
        return (min(ratios), max(ratios)) if shown else None

    @property
    def told(self) -> Told:
        parts = zip(self.names, self.found, strict=True)
        return [(name, one.log_ratio, one.difference_p()) for name, one in parts]


def _compared(claim: Claim, check: Ratio | Equality, pairs: Sequence[Pair]) -> _Cells:
    above, below = metrics(claim, check)
    found: list[Compared] = []
    names, evidence = [], []
    for numerator, denominator in pairs:
        a, b = numerator.sample(above), denominator.sample(below)
        if a is None or b is None:
            continue
        one = within(denominator, numerator, below, above) if check.paired else versus(b, a)
        if one is None:
            continue
        found.append(one)
        names.append(numerator.name)
        evidence += [
            figure(of_side(check.numerator, numerator), a),
            figure(of_side(check.denominator, denominator), b),
            Evidence(f"ratio at {numerator.name}", one.interval()),
        ]
    if not found:
        raise ValueError("no cell has trials to go by on both sides")
    if check.paired and (fewest := min(min(one.counts) for one in found)) < FEW:
        raise ValueError(f"{fewest} of {FEW} pairs needed were measured in the same repetitions")
    return _Cells(tuple(found), tuple(names), tuple(evidence))


def of_side(side: Side, cell: Cell) -> str:
    """A cell's name with what its side stands for."""
    return ", ".join([*(f"{c} {v}" for c, v in side.where.items()), *([cell.name] if cell.key else [])])


def ratio(claim: Claim, check: Ratio, pairs: Sequence[Pair]) -> Finding:
    """Whether the ratio lies on the claimed side of 1, and how large it is."""
    compared = _compared(claim, check, pairs)
    estimate = geometric_mean(compared.found)
    unlike = compared.unlike(estimate)
    if check.most:
        answer, words, p = most(compared.told, check.upwards, "cells")
        return Finding(answer, words, estimate, compared.evidence, p, cells=unlike)
    if against := contradiction(compared.told):
        return Finding("inconclusive", f"ratios {against}", None, compared.evidence)
    cells = f"{len(compared.found)} matched cell{'s' * (len(compared.found) > 1)}"
    words = f"ratio {said(estimate)} over {cells}" + (", within repetitions" if check.paired else "")
    answer = sign(estimate, check.upwards)
    return Finding(answer, words, estimate, compared.evidence, chance(compared.found), cells=unlike)


def equality(claim: Claim, check: Equality, pairs: Sequence[Pair]) -> Finding:
    """Whether the ratio lies within the margin around 1; of cells that contradict each other each must, for
    they are not pooled."""
    compared = _compared(claim, check, pairs)
    against = contradiction(compared.told)
    whole = None if against else geometric_mean(compared.found)
    low, high = 1 / (1 + check.margin), 1 + check.margin
    found = f"ratio {said(whole)}" if whole else f"ratios {against}"
    words = f"{found}, margin {check.margin:.0%}"
    far = _beyond(compared, whole, (low, high))
    unlike = compared.unlike(whole)
    if far < LEVEL:
        return Finding("refuted", words, whole, compared.evidence, far, cells=unlike)
    if whole:
        near, inside = alike(compared.found, check.margin), whole.within(low, high)
    else:
        near = max(one.equivalence_p(check.margin) for one in compared.found)
        inside = all(one.interval().within(low, high) for one in compared.found)
    answer: Answer = "confirmed" if inside else "inconclusive"
    return Finding(answer, words, whole, compared.evidence, near, cells=unlike)


def _plain(found: Sequence[Compared]) -> list[Contrast | Extremes | Signs]:
    """Ratios that can be held against another value than 1."""
    return [one for one in found if isinstance(one, (Contrast, Extremes, Signs))]


def _beyond(compared: _Cells, whole: Interval | None, borders: tuple[float, float]) -> float:
    """The chance at which the whole, or one cell (Holm), lies beyond the margin; of either (Bonferroni).
    Without a whole, of one cell."""
    low, high = borders
    plain = _plain(compared.found)
    cells = [
        scaled(one, 1 / (high if one.log_ratio > 0 else low)).difference_p()
        if not math.log(low) <= one.log_ratio <= math.log(high)
        else 1.0
        for one in plain
    ]
    if whole is None:
        return float(min(holm(cells)))
    together = 1.0
    if not low <= whole.estimate <= high and len(plain) == len(compared.found):
        together = chance([scaled(one, 1 / (high if whole.estimate > 1 else low)) for one in plain])
    if len(cells) < 2:
        return together if plain else 1.0
    return min(1.0, 2 * min(together, float(min(holm(cells)))))
