"""Ratios between two sides at matched cells: a geometric mean with its interval, and equality."""

from __future__ import annotations

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
from steelyard.analysis.stats.runs import FEW
from steelyard.spec.checks import Claim, Equality, Ratio, Side


@dataclass(frozen=True)
class _Cells:
    """The ratios of matched cells, and the figures beneath them."""

    found: tuple[Compared, ...]
    names: tuple[str, ...]
    evidence: tuple[Evidence, ...]

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
    if check.most:
        answer, words, p = most(compared.told, check.upwards, "cells")
        return Finding(answer, words, estimate, compared.evidence, p)
    if against := contradiction(compared.told):
        return Finding("inconclusive", f"ratios {against}", None, compared.evidence)
    cells = f"{len(compared.found)} matched cell{'s' * (len(compared.found) > 1)}"
    words = f"ratio {said(estimate)} over {cells}" + (", within repetitions" if check.paired else "")
    answer = sign(estimate, check.upwards)
    return Finding(answer, words, estimate, compared.evidence, chance(compared.found))


def equality(claim: Claim, check: Equality, pairs: Sequence[Pair]) -> Finding:
    """Whether the ratio lies within the margin around 1."""
    compared = _compared(claim, check, pairs)
    estimate = geometric_mean(compared.found)
    low, high = 1 / (1 + check.margin), 1 + check.margin
    outside = estimate.low > high or estimate.high < low
    answer: Answer = "confirmed" if estimate.within(low, high) else "refuted" if outside else "inconclusive"
    words = f"ratio {said(estimate)}, margin {check.margin:.0%}"
    p = None if outside else alike(compared.found, check.margin)
    if against := contradiction(compared.told):
        answer, words, p = "inconclusive", f"ratios {against}", None
    return Finding(answer, words, None, compared.evidence, p)
