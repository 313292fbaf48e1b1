"""What a claim is judged on: its cells, how they stand beside each other, and the check made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.analysis.claims import alone, curves, gains, ratios, winners
from steelyard.analysis.claims.objections import Judged
from steelyard.analysis.claims.pairs import both_sides, by_match, matched, metrics, reaches
from steelyard.analysis.claims.ratios import of_side
from steelyard.analysis.claims.verdict import Finding
from steelyard.analysis.evidence import Cell, Key, Trials, known
from steelyard.spec.checks import (
    Best,
    Claim,
    Distribution,
    Equality,
    Order,
    Ratio,
    Sided,
    SlopeCheck,
    Speedup,
    Trend,
    Value,
)
from steelyard.spec.levels import level_number

CURVES: Mapping[str, Callable[[Claim, Any, Any], Finding]] = {
    "trend": curves.trend,
    "order": curves.order,
    "threshold": curves.threshold,
    "peak": curves.peak,
    "shape": curves.shape,
    "scaling": gains.scaling,
    "best": winners.best,
}


@dataclass(frozen=True)
class Case:
    """A claim with the trials that decide it.

    Attributes:
        judged: the cells, each with its metric.
        beside: cells that are compared with each other.
        find: makes the check.
        missing: levels that the check names and no trial has, in words.
        names: of the cells judged, each with what its side stands for; empty where there are no sides.
    """

    judged: Judged
    beside: Sequence[Sequence[Cell]]
    find: Callable[[], Finding]
    missing: str = ""
    names: Sequence[str] = ()


def case(claim: Claim, trials: Trials) -> Case:
    """The case of a claim.

    Raises:
        InputError: the claim names a metric, factor or column that the trials do not have.
        ValueError: nothing was measured that it could be judged on, with the reason.
    """
    check = claim.check
    for metric in (claim.metric, *(metrics(claim, check) if isinstance(check, Sided) else ())):
        known(metric, trials.frame.columns, "metric")
    if claim.factor:
        known(claim.factor, trials.frame.columns, "factor")
    if isinstance(check, (Value, Distribution)):
        return _alone(claim, check, trials)
    if isinstance(check, (SlopeCheck, Speedup)):
        return _line_pairs(claim, check, trials)
    if isinstance(check, (Ratio, Equality)):
        return _pairs(claim, check, trials)
    return _lines(claim, trials)


def _alone(claim: Claim, check: Value | Distribution, trials: Trials) -> Case:
    cells = [*trials.where(claim.where).cells().values()]
    if not cells:
        raise ValueError("no trial is as the claim asks")
    judged = [(cell, claim.metric) for cell in cells]
    if isinstance(check, Value):
        return Case(judged, (), lambda: alone.value(claim, check, cells))
    return Case(judged, (), lambda: alone.distribution(claim, check, cells))


def _pairs(claim: Claim, check: Ratio | Equality, trials: Trials) -> Case:
    pairs = matched(claim, check, trials)
    judged = [(cell, m) for pair in pairs for cell, m in zip(pair, metrics(claim, check), strict=True)]
    names = _names(check, [([one], [other]) for one, other in pairs])
    if isinstance(check, Ratio):
        return Case(judged, pairs, lambda: ratios.ratio(claim, check, pairs), names=names)
    return Case(judged, pairs, lambda: ratios.equality(claim, check, pairs), names=names)


def _names(check: Sided, pairs: Iterable[tuple[Iterable[Cell], Iterable[Cell]]]) -> list[str]:
    """Of the cells of pairs in their order, with what each one's side stands for."""
    sides = (check.numerator, check.denominator)
    beside = (both for pair in pairs for both in zip(sides, pair, strict=True))
    return [of_side(side, cell) or cell.name for side, cells in beside for cell in cells]


def _line_pairs(claim: Claim, check: SlopeCheck | Speedup, trials: Trials) -> Case:
    levels = all_levels(trials, check.factor)
    above, below = (_side_lines(side, check, levels) for side in both_sides(claim, check, trials))
    pairs = [(line, below[key]) for key, line in above.items() if key in below]
    if not pairs:
        raise ValueError(f"no line of {check.factor} has both sides")
    if isinstance(check, SlopeCheck) and check.cells == "reached":
        pairs = _both_reach(check, pairs)
    named = metrics(claim, check)
    judged = [
        (cell, m) for pair in pairs for line, m in zip(pair, named, strict=True) for cell in line.values()
    ]
    names = _names(check, [(one.values(), other.values()) for one, other in pairs])
    beside = [(*one.values(), *other.values()) for one, other in pairs]
    if isinstance(check, SlopeCheck):
        return Case(judged, beside, lambda: gains.slope(claim, check, pairs), names=names)
    return Case(judged, beside, lambda: gains.speedup(claim, check, pairs), names=names)


def _both_reach(check: SlopeCheck, pairs: Sequence[gains.LinePair]) -> list[gains.LinePair]:
    """Of each pair of lines the targets that both sides reach.

    Raises:
        ValueError: no pair has two of them.
    """
    found: list[gains.LinePair] = []
    for pair in pairs:
        above, below = (
            {p: cell for p, cell in line.items() if reaches(cell, check.factor, check.throughput)}
            for line in pair
        )
        shared = [place for place in above if place in below]
        if len(shared) > 1:
            found.append(({p: above[p] for p in shared}, {p: below[p] for p in shared}))
    if not found:
        raise ValueError(f"no line has two levels of {check.factor} that both sides reach within 2 %")
    return found


def _side_lines(
    cells: Mapping[Key, Cell], check: SlopeCheck | Speedup, levels: Sequence[Any]
) -> dict[Key, curves.Line]:
    match = None if check.match is None else (*check.match, check.factor)
    words = () if all(level_number(level) is not None for level in levels) else levels
    if words and (isinstance(check, SlopeCheck) or check.first is None or check.last is None):
        raise ValueError(f"the levels of {check.factor} are words: a speed-up needs its first and last said")
    return curves.lines(by_match(cells, match), check.factor, words)


def _lines(claim: Claim, trials: Trials) -> Case:
    check, factor = claim.check, claim.factor
    levels = _listed(claim, trials)
    found = curves.lines(trials.where(claim.where).cells(), factor, levels)
    if not found:
        raise ValueError(f"fewer than two levels of {factor} were measured")
    judged = [(cell, claim.metric) for line in found.values() for cell in line.values()]
    places = {place for line in found.values() for place in line}
    missing = [str(level) for rank, level in enumerate(levels, start=1) if rank not in places]
    if isinstance(check, Best):
        missing = []
    return Case(
        judged,
        [tuple(line.values()) for line in found.values()],
        lambda: CURVES[check.kind](claim, check, found),
        ", ".join(missing),
    )


def _listed(claim: Claim, trials: Trials) -> tuple[Any, ...]:
    """The order of a factor's levels where it is not that of numbers."""
    check = claim.check
    if isinstance(check, Trend):
        return check.levels
    if isinstance(check, Order):
        return tuple(level for group in check.groups for level in group)
    return all_levels(trials, check.factor) if isinstance(check, Best) else ()


def all_levels(trials: Trials, factor: str) -> tuple[Any, ...]:
    """Every level of a factor that a trial has."""
    return tuple(trials.frame[factor].drop_nulls().unique(maintain_order=True).to_list())
