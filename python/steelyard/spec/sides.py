"""Checks that compare two sides: a ratio, an equality, slopes, speed-ups.

The sides are compared at matched cells: those that differ in nothing but what the sides' own `where` names.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from steelyard.spec.base import Model
from steelyard.spec.printed import Paper, Papers, Printed

Level = str | int | float | bool
Where = dict[str, Level | tuple[Level, ...]]
"""Column -> the level, or one of the levels, that a trial must have."""


class Side(Model):
    """One side of a comparison: which trials, and which metric if it is not the claim's."""

    where: Where = Field(default_factory=dict)
    metric: str | None = None


class Sided(Model):
    """What all comparisons of two sides have."""

    numerator: Side
    denominator: Side
    match: tuple[str, ...] | None = None
    """The factors in which cells of both sides must agree; left out, all that the sides do not name. Systems
    whose other factors differ are paired by those they share."""


class Ratio(Sided):
    """One side's metric over the other's, at matched cells: a geometric mean. `paper`: that ratio."""

    kind: Literal["ratio"] = "ratio"
    direction: Literal["above", "below"] | None = None
    """Of 1; left out, the side on which the paper's figure lies."""
    paired: bool = False
    """Compare within repetitions, whose trials draw the same operations: what a repetition does to both sides
    does not count."""
    most: bool = False
    """The paper claims it of most cells: each is judged for itself, and they are counted, not pooled."""
    cells: Literal["all", "reached", "plateau"] = "all"
    """`reached`: only cells in which both sides reach the target within 2 %, for latencies. `plateau`: of
    each line of targets only the one with the highest throughput, for throughput."""
    target: str = "target"
    """The factor that holds the target rate."""
    throughput: str = "ok_per_s"
    """The metric that reaches it."""
    paper: Paper = None
    papers: Papers = Field(default_factory=dict)
    """Figures of several sources for this one check, by name."""

    @model_validator(mode="after")
    def _says_a_direction(self) -> Ratio:
        if self.direction is None and _side_of(self.paper, self.papers) is None:
            raise ValueError(
                "say the direction, 'above' or 'below' 1, or figures of papers that lie on one side of it"
            )
        return self

    @property
    def upwards(self) -> bool:
        """Whether the ratio is claimed to lie above 1."""
        if self.direction:
            return self.direction == "above"
        return bool(_side_of(self.paper, self.papers))


def _side_of(paper: Printed | None, papers: dict[str, Printed]) -> bool | None:
    """Whether the paper's figure, or else all papers' lie above 1; None where they do not say."""
    sides = {upwards(one) for one in ([paper] if paper else papers.values())}
    return sides.pop() if len(sides) == 1 else None


def upwards(paper: Printed) -> bool | None:
    """Whether a ratio that a paper prints lies above 1; None where its range holds 1."""
    low, high = paper.band
    return None if low <= 1 <= high else low > 1


class Equality(Sided):
    """Both sides' metrics differ by no more than a margin, at matched cells."""

    kind: Literal["equality"] = "equality"
    margin: Annotated[float, Field(gt=0, lt=1)] = 0.1
    paired: bool = False
    """As of `Ratio`."""


class SlopeCheck(Sided):
    """The metric goes more steeply with a factor on one side than on the other (logarithm over logarithm)."""

    kind: Literal["slope"] = "slope"
    factor: str
    direction: Literal["steeper", "flatter"]
    """How the numerator's line lies beside the denominator's; a falling line is flatter than a level one, and
    what is steeper must rise."""
    cells: Literal["all", "reached"] = "all"
    """`reached`: of a ladder of target rates as the factor only those that both sides reach within 2 %: past
    them what is achieved goes no further, however steep it was."""
    throughput: str = "ok_per_s"
    """The metric that reaches it."""


class Speedup(Sided):
    """What a factor brings one side over what it brings the other: the ratio of last over first level there,
    divided by that ratio here. `paper`: that ratio of ratios."""

    kind: Literal["speedup"] = "speedup"
    factor: str
    first: Level | None = None
    last: Level | None = None
    """Left out, the least and the greatest level that both sides have."""
    direction: Literal["above", "below"]
    """Of 1."""
    paired: bool = False
    """Compare both sides within repetitions at either level: what a start of the cluster, which they share,
    does to both does not count. For throughput and means."""
    paper: Paper = None
    papers: Papers = Field(default_factory=dict)
