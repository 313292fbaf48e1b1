"""What is found out about a claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from steelyard.analysis.stats.runs import Interval

Answer = Literal["confirmed", "refuted", "inconclusive", "not claimed"]

SIZE = 1.5
"""A size agrees when the interval lies within the paper's figure divided and multiplied by this."""


@dataclass(frozen=True)
class Evidence:
    """One figure a verdict rests on.

    Attributes:
        what: the cell it is of; of a ratio, which.
        figure: with its interval and how many units are in it.
        metric: the column whose unit it has; empty for a ratio.
        way: how its runs were put together (`evidence.samples`); empty for a ratio.
    """

    what: str
    figure: Interval
    metric: str = ""
    way: str = ""


@dataclass(frozen=True)
class Finding:
    """What a check found, before anything speaks against it.

    Attributes:
        direction: whether the claim's direction holds.
        estimate: what `paper` is compared with; None where there is nothing to compare.
        words: the finding in a sentence.
        chance: of such a finding where nothing is to be found; None where models are weighed.
    """

    direction: Answer
    words: str
    estimate: Interval | None = None
    evidence: tuple[Evidence, ...] = ()
    chance: float | None = None


@dataclass(frozen=True)
class Verdict:
    """What became of a claim.

    Attributes:
        id: the claim's.
        direction, size: each for itself; size is `not claimed` when the paper prints no figure, or in the
            small form.
        words: the finding in a sentence.
        estimate: what was compared with the paper's figure.
        paper: the paper's figure.
        evidence: the cells and figures it rests on.
        reasons: why it is inconclusive, one for each thing that speaks against judging.
        left_out: trials that do not count, and why; they are missing by chance, so that the others decide.
        chance: as of `Finding`.
        points: numbers of the study's points whose trials it rests on.
        lacking: repetitions that some cell has too few to be judged at all.
        curable: whether nothing but a lack of repetitions can keep it undecided.
    """

    id: str
    direction: Answer
    size: Answer
    words: str
    estimate: Interval | None = None
    paper: float | None = None
    evidence: tuple[Evidence, ...] = ()
    reasons: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    chance: float | None = None
    points: frozenset[int] = frozenset()
    lacking: int = 0
    curable: bool = False


def size(estimate: Interval | None, paper: float | None) -> Answer:
    """Whether the size agrees: confirmed inside the band, refuted outside it, else inconclusive."""
    if estimate is None or paper is None:
        return "not claimed"
    low, high = paper / SIZE, paper * SIZE
    if estimate.within(low, high):
        return "confirmed"
    return "refuted" if estimate.low > high or estimate.high < low else "inconclusive"


def sign(interval: Interval, upwards: bool, border: float = 1.0) -> Answer:
    """Whether an interval lies on the claimed side of a border."""
    if not interval.excludes(border):
        return "inconclusive"
    return "confirmed" if (interval.low > border) == upwards else "refuted"
