"""Checks of how a metric goes with a factor: trend, order, threshold, peak, shape, scaling, best level."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, model_validator

from steelyard.spec.base import Model
from steelyard.spec.printed import Paper, Papers
from steelyard.spec.sides import Level


class Trend(Model):
    """The metric goes one way with a factor. `paper`: last level over first."""

    kind: Literal["trend"] = "trend"
    factor: str
    direction: Literal["up", "down"]
    levels: tuple[Level, ...] = ()
    """The order of levels that are no numbers."""
    most: bool = False
    """The paper claims it of most lines: each is judged for itself, and they are counted, not pooled."""
    paper: Paper = None
    papers: Papers = Field(default_factory=dict)


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


class Scaling(Model):
    """The metric keeps up with a factor: its last level over its first is at least a share of the ideal.
    `paper`: that share, the efficiency."""

    kind: Literal["scaling"] = "scaling"
    factor: str
    ideal: Literal["linear", "constant", "inverse"] = "linear"
    """`linear`: as many times more as the factor, for throughput. `constant`: no more than before, for
    latency. `inverse`: as many times less, for the time that a fixed amount of work takes."""
    least: Annotated[float, Field(gt=0, le=1)] = 0.8
    """The efficiency from which on it counts as keeping up."""
    first: PositiveFloat | None = None
    last: PositiveFloat | None = None
    """Levels; left out, the least and the greatest that were measured."""
    paper: Paper = None
    papers: Papers = Field(default_factory=dict)

    @model_validator(mode="after")
    def _goes_upwards(self) -> Scaling:
        if self.first is not None and self.last is not None and self.first >= self.last:
            raise ValueError(f"first = {self.first:g} must lie below last = {self.last:g}")
        return self


class Best(Model):
    """Which level of a factor wins on every line; or that it depends on another factor which one does."""

    kind: Literal["best"] = "best"
    factor: str
    want: Literal["highest", "lowest"]
    """Which metric is the best."""
    level: Level | None = None
    """The level that wins."""
    depends_on: str | None = None
    """The factor on which the winner depends."""

    @model_validator(mode="after")
    def _claims_one_thing(self) -> Best:
        if (self.level is None) == (self.depends_on is None):
            raise ValueError("say the level that wins, or the factor it depends on (depends_on)")
        return self
