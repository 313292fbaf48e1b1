"""A claim as data: what a paper says, how it is checked, why the paper says it is so, and what it prints.

    [[claims]]
    id = "C1"
    statement = "Stronger consistency gives higher read latency."
    source = "table 4.1"
    metric = "read_service_mean_ns"
    where = { system = "cassandra" }
    check = { kind = "trend", factor = "consistency", levels = ["ONE", "QUORUM", "ALL"], direction = "up" }

A metric is a name of `spec.metrics`. `paper` in a check is the paper's own figure, in the unit of what the
check estimates; it is compared for size, never used for anything else.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, model_validator

from steelyard.spec.base import Model

Level = str | int | float | bool
Where = dict[str, Level | tuple[Level, ...]]
"""Column -> the level, or one of the levels, that a trial must have."""

Paper = PositiveFloat | None


class Side(Model):
    """One side of a ratio: which trials, and which metric if it is not the claim's."""

    where: Where = Field(default_factory=dict)
    metric: str | None = None


class Trend(Model):
    """The metric goes one way with a factor. `paper`: last level over first."""

    kind: Literal["trend"] = "trend"
    factor: str
    direction: Literal["up", "down"]
    levels: tuple[Level, ...] = ()
    """The order of levels that are no numbers."""
    paper: Paper = None


class Ratio(Model):
    """One side's metric over the other's, at matched cells: a geometric mean. `paper`: that ratio."""

    kind: Literal["ratio"] = "ratio"
    numerator: Side
    denominator: Side
    direction: Literal["above", "below"] | None = None
    """Of 1; left out, the side on which the paper's figure lies."""
    cells: Literal["all", "reached", "plateau"] = "all"
    """`reached`: only cells in which both sides reach the target within 2 %, for latencies. `plateau`: of
    each line of targets only the one with the highest throughput, for throughput."""
    target: str = "target"
    """The factor that holds the target rate."""
    throughput: str = "ok_per_s"
    """The metric that reaches it."""
    paper: Paper = None

    @model_validator(mode="after")
    def _says_a_direction(self) -> Ratio:
        if self.direction is None and self.paper is None:
            raise ValueError("say the direction, 'above' or 'below' 1, or the paper's ratio")
        return self

    @property
    def upwards(self) -> bool:
        """Whether the ratio is claimed to lie above 1."""
        return self.direction == "above" if self.direction else (self.paper or 1.0) > 1


class Order(Model):
    """Levels of a factor in groups, from lowest to highest metric; nothing is claimed within a group."""

    kind: Literal["order"] = "order"
    factor: str
    groups: Annotated[tuple[tuple[Level, ...], ...], Field(min_length=2)]


class Threshold(Model):
    """The metric rises with a factor to a plateau. `paper`: that, or with `of = "knee"` where it begins."""

    kind: Literal["threshold"] = "threshold"
    factor: str
    of: Literal["plateau", "knee"] = "plateau"
    largest_miss: PositiveFloat = 0.25
    """As of `Shape`."""
    paper: Paper = None


class PeakCheck(Model):
    """The metric rises with a factor and then falls. `paper`: where it is highest."""

    kind: Literal["peak"] = "peak"
    factor: str
    paper: Paper = None


class Shape(Model):
    """One model wins among several for the metric over a factor."""

    kind: Literal["shape"] = "shape"
    factor: str
    shape: str
    against: tuple[str, ...] = ()
    """The models compared; left out, those that fit a latency or a throughput."""
    largest_miss: PositiveFloat = 0.25
    """By which share the model may miss a level's mean: one that wins among worse ones does not fit."""


class Equality(Model):
    """Both sides' metrics differ by no more than a margin, at matched cells."""

    kind: Literal["equality"] = "equality"
    numerator: Side
    denominator: Side
    margin: Annotated[float, Field(gt=0, lt=1)] = 0.1


Check = Annotated[
    Trend | Ratio | Order | Threshold | PeakCheck | Shape | Equality, Field(discriminator="kind")
]


class Why(Model):
    """A reason that the paper gives, and a figure of the servers or the machine that bears it out or not."""

    reason: str
    metric: str
    expect: Literal["up", "down"]
    """How that figure goes if the reason is right: along the claim's factor, or from denominator to
    numerator."""


class Claim(Model):
    """One claim."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")]
    statement: str
    source: str = ""
    """Where the paper says so."""
    metric: str
    where: Where = Field(default_factory=dict)
    check: Check
    why: tuple[Why, ...] = ()
    unsteady: str = ""
    """Why trials without a steady state count all the same, e.g. 'the paper measures start-up'."""
    note: str = ""

    @property
    def paper(self) -> float | None:
        """The paper's figure, if it prints one."""
        found: float | None = getattr(self.check, "paper", None)
        return found
