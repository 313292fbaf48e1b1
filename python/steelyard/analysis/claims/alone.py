"""Claims on cells by themselves: an absolute value, and how operations are distributed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from steelyard.analysis.claims.verdict import Answer, Evidence, Finding, figure, said, unanimous
from steelyard.analysis.evidence import Cell, Sample, beyond_p
from steelyard.analysis.stats.percentiles import GRID, least_and_greatest
from steelyard.analysis.stats.runs import Interval
from steelyard.analysis.stats.signs import sign_p
from steelyard.analysis.stats.spread import modes, skewness
from steelyard.analysis.stats.verdicts import LEVEL, holm
from steelyard.spec.checks import Claim, Distribution, Value

Way = Literal["above", "below"]


def value(claim: Claim, check: Value, cells: Sequence[Cell]) -> Finding:
    """Whether every cell lies within the bounds, and what the figure is."""
    found = {cell.name: sample for cell in cells if (sample := cell.sample(claim.metric))}
    if not found:
        raise ValueError("no cell has trials to go by")
    figures = tuple(figure(name, sample) for name, sample in found.items())
    whole = _span([one.figure for one in figures])
    bounds: list[tuple[float, Way]] = []
    if check.above is not None:
        bounds.append((check.above * claim.scale(), "above"))
    if check.below is not None:
        bounds.append((check.below * claim.scale(), "below"))
    cells_said = f" over {len(found)} cells" if len(found) > 1 else ""
    words = f"{said(whole.times(1 / claim.scale()))} {claim.unit}".rstrip() + cells_said
    if not bounds:
        return Finding("not claimed", words, whole, figures, None, claim.metric)
    answer, chance = _within([*found.values()], bounds)
    if check.every and (beyond := _beyond([*found.values()], bounds)):
        words = f"{words}; {beyond} trial{'s' * (beyond > 1)} beyond"
        answer, chance = "refuted", 0.0  # a counterexample is no matter of chance
    claimed = " and ".join(f"{way} {bound / claim.scale():g} {claim.unit}".rstrip() for bound, way in bounds)
    return Finding(answer, f"{words}, claimed {claimed}", whole, figures, chance, claim.metric)


def _span(intervals: Sequence[Interval]) -> Interval:
    """Of several cells the middle one, from the least end to the greatest: what is said of all of them."""
    middle = float(np.median([one.estimate for one in intervals]))
    low, high = min(one.low for one in intervals), max(one.high for one in intervals)
    given = next((one.given for one in intervals if one.given), "")
    return Interval(middle, low, high, min(one.count for one in intervals), given)


def _beyond(found: Sequence[Sample], bounds: Sequence[tuple[float, Way]]) -> int:
    """Trials at or beyond a bound."""
    values = [value for sample in found for value in sample.runs.values]
    return sum(any(v <= b if way == "above" else v >= b for b, way in bounds) for v in values)


def _within(found: Sequence[Sample], bounds: Sequence[tuple[float, Way]]) -> tuple[Answer, float]:
    """Confirmed when all lie within all bounds; refuted when one lies beyond one (Holm)."""
    parts = [(sample, *bound) for sample in found for bound in bounds]
    plain = [beyond_p(sample, border) for sample, border, _ in parts]
    inside = [(sample.interval.estimate > border) == (way == "above") for sample, border, way in parts]
    beyond = [p for p, good in zip(holm(plain), inside, strict=True) if not good]
    if beyond and min(beyond) < LEVEL:
        return "refuted", float(min(beyond))
    if all(inside) and max(plain) < LEVEL:
        return "confirmed", max(plain)
    return "inconclusive", max(plain)


def distribution(claim: Claim, check: Distribution, cells: Sequence[Cell]) -> Finding:
    """In how many modes the operations of every unit lie, and to which side their tail is longer."""
    found = {cell.name: whole for cell in cells if (whole := cell.distribution(claim.metric))}
    if not found:
        raise ValueError(f"no cell has the histograms of {claim.metric}")
    answers: list[Answer] = []
    words: list[str] = []
    figures: list[Evidence] = []
    for name, whole in found.items():
        units = whole.counts_of_units()
        places = [modes(counts, GRID) for counts in units]
        skews = np.array([skewness(counts, GRID) for counts in units])
        at = [math.exp(GRID * (whole.offset + places_[0])) for places_ in places]
        figures.append(
            Evidence(f"highest mode{f' at {name}' if name else ''}", least_and_greatest(at), claim.metric)
        )
        numbers = sorted(len(places_) for places_ in places)
        words.append(
            f"{_range(numbers)}, skew {np.median(skews):.2g} ({skews.min():.2g} to {skews.max():.2g})"
        )
        if check.modes is not None:
            answers.append(_all_or_none([number == check.modes for number in numbers]))
        if check.skew is not None:
            answers.append(
                _all_or_none([skew > 0 if check.skew == "positive" else skew < 0 for skew in skews])
            )
    estimate = figures[0].figure if len(figures) == 1 else None
    answer = unanimous(answers)
    fewest = min(whole.count() for whole in found.values())
    chance = sign_p(fewest, fewest)
    if answer == "inconclusive":  # units that disagree stay so
        chance = 1.0
    if answer == "refuted":  # one alone refutes; all must hold
        chance = min(1.0, len(answers) * chance)
    return Finding(answer, "; ".join(words), estimate, tuple(figures), chance, claim.metric)


def _all_or_none(agree: Sequence[bool]) -> Answer:
    if all(agree):
        return "confirmed"
    return "inconclusive" if any(agree) else "refuted"


def _range(numbers: Sequence[int]) -> str:
    """`1 mode`, `1 to 2 modes`."""
    if numbers[0] == numbers[-1]:
        return f"{numbers[0]} mode{'s' * (numbers[0] > 1)}"
    return f"{numbers[0]} to {numbers[-1]} modes"
