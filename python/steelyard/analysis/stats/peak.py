"""Whether a curve rises and then falls: a question to the levels themselves, whatever their shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from steelyard.analysis.stats.percentiles import Extremes
from steelyard.analysis.stats.runs import Contrast
from steelyard.analysis.stats.verdicts import LEVEL, holm

T = TypeVar("T")
Answer = Literal["rises then falls", "no fall", "no rise", "undecided"]


@dataclass(frozen=True)
class Peak:
    """Where a curve is highest, and whether it rises to it and falls from it.

    Attributes:
        answer: `undecided` where the runs cannot tell.
        at: the highest level of the factor.
        around: the least and the greatest level that is not told apart from the highest.
        rise: highest level against the first; fall: against the last; None at the ends.
        chance: of differences from the first and the last level as large where there is none.
    """

    answer: Answer
    at: float
    around: tuple[float, float]
    rise: Contrast | Extremes | None
    fall: Contrast | Extremes | None
    chance: float


def peak(
    levels: Mapping[float, T], versus: Callable[[T, T], Contrast | Extremes], height: Callable[[T], float]
) -> Peak:
    """Judge one curve.

    Args:
        levels: factor -> the figure's runs there; at least three levels.
        versus: the contrast of the second with the first.
        height: the figure itself.

    Every level is compared with the highest, by Holm's correction for that many comparisons.
    """
    places = sorted(levels)
    if len(places) < 3:
        raise ValueError("a peak needs three levels or more")
    at = max(places, key=lambda place: height(levels[place]))
    others = [place for place in places if place != at]
    contrasts = {place: versus(levels[place], levels[at]) for place in others}
    chances = dict(zip(others, holm([contrasts[place].difference_p() for place in others]), strict=True))
    lower = {place for place, p in chances.items() if p < LEVEL}
    alike = [place for place in places if place not in lower]
    first, last = places[0], places[-1]
    return Peak(
        answer=_answer(first in lower, last in lower, at, (first, last)),
        at=at,
        around=(min(alike), max(alike)),
        rise=contrasts.get(first),
        fall=contrasts.get(last),
        chance=float(max(chances[place] for place in (first, last) if place != at)),
    )


def _answer(rises: bool, falls: bool, at: float, ends: tuple[float, float]) -> Answer:
    if rises and falls:
        return "rises then falls"
    if rises and at == ends[1]:
        return "no fall"
    if falls and at == ends[0]:
        return "no rise"
    return "undecided"
