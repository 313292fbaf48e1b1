"""What is found out about a claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from steelyard.analysis.evidence import Sample
from steelyard.analysis.stats.runs import Interval
from steelyard.spec.printed import Printed

Answer = Literal[
    "confirmed", "refuted", "inconclusive", "not claimed", "range not covered", "cannot be seen here"
]
UNCOVERED: Answer = "range not covered"
NOTHING = "nothing to judge"

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
        estimate: what was found as one figure, which `paper` is compared with; None where there is none.
        words: the finding in a sentence.
        chance: of such a finding where nothing is to be found; None where models are weighed.
        metric: the column whose unit the estimate has; empty for a ratio or a level.
        cells: the least and the greatest ratio of the cells that were pooled, where some cell lies beyond
            chance off the pooled figure: that is the mean of unlike cells.
    """

    direction: Answer
    words: str
    estimate: Interval | None = None
    evidence: tuple[Evidence, ...] = ()
    chance: float | None = None
    metric: str = ""
    cells: tuple[float, float] | None = None


@dataclass(frozen=True)
class Source:
    """One of several sources' figures beside ours.

    Attributes:
        name: of the source; empty for the paper itself.
        printed: its figure in words.
        direction: whether ours lies on its side of 1; not claimed of what is no ratio.
        size: whether ours agrees with it.
    """

    name: str
    printed: str
    direction: Answer
    size: Answer


@dataclass(frozen=True)
class Verdict:
    """What became of a claim.

    Attributes:
        id: the claim's.
        direction, size: each for itself; size is `not claimed` when the paper prints no figure, or in the
            small form.
        words: the finding in a sentence.
        estimate: what was compared with the paper's figure.
        paper: the paper's figure as one number, in the unit of the estimate.
        evidence: the cells and figures it rests on.
        reasons: why it is inconclusive, one for each thing that speaks against judging.
        left_out: trials that do not count, and why; they are missing by chance, so that the others decide.
        chance: as of `Finding`.
        alone: the direction that it has if it stands alone, without other claims.
        over_looks: `chance` at whichever look the study ends; None where there is none.
        points: numbers of the study's points whose trials it rests on.
        lacking: repetitions that some cell has too few to be judged at all.
        least: repetitions of each of these points without which it cannot be judged; 0 where cells hold
            several points.
        curable: whether only a lack of repetitions can keep it undecided, and further ones would count.
        printed: the paper's figure as it prints it.
        sources: other sources' figures for the same check.
        metric, cells: as of `Finding`.
        same_as: the claim before it that was judged by the same contrast of the same trials; together they
            are one finding.
        wanders: whether runs came to no steady state, and it stands all the same.
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
    alone: Answer = "not claimed"
    over_looks: float | None = None
    points: frozenset[int] = frozenset()
    lacking: int = 0
    least: int = 0
    curable: bool = False
    printed: str = ""
    sources: tuple[Source, ...] = ()
    metric: str = ""
    cells: tuple[float, float] | None = None
    same_as: str = ""
    wanders: bool = False


def size(estimate: Interval | None, paper: Printed | None) -> Answer:
    """Whether the size agrees: confirmed inside the band, refuted outside it, else inconclusive.

    The band of a range begins with its lower end divided by 1.5; that of a bound has no other end.
    """
    if estimate is None or paper is None:
        return "not claimed"
    low, high = paper.band
    low, high = low / SIZE, high * SIZE
    if estimate.within(low, high):
        return "confirmed"
    return "refuted" if estimate.low > high or estimate.high < low else "inconclusive"


def sign(interval: Interval, upwards: bool, border: float = 1.0) -> Answer:
    """Whether an interval lies on the claimed side of a border."""
    if not interval.excludes(border):
        return "inconclusive"
    return "confirmed" if (interval.low > border) == upwards else "refuted"


def unanimous(answers: list[Answer]) -> Answer:
    """Of several lines: confirmed when every line confirms, refuted when one refutes."""
    if "refuted" in answers:
        return "refuted"
    return "confirmed" if answers and set(answers) == {"confirmed"} else "inconclusive"


def figure(what: str, sample: Sample) -> Evidence:
    """The figure of one cell."""
    return Evidence(what, sample.interval, sample.metric, sample.way)


def said(estimate: Interval) -> str:
    """`0.41 [0.38, 0.44]`."""
    return f"{estimate.estimate:.3g} [{estimate.low:.3g}, {estimate.high:.3g}]"
