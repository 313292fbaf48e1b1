"""Checks of cells by themselves: an absolute value, and how a latency is distributed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, model_validator

from steelyard.spec.base import Model
from steelyard.spec.printed import Paper, Papers


class Value(Model):
    """A figure with its unit, the same in every cell asked for. `paper`: that figure, which is judged for
    size; bounds, stated before the run, are judged for direction."""

    kind: Literal["value"] = "value"
    unit: str = ""
    """Of bounds and papers: of latencies `ns`, `us`, `ms` or `s`; left out, the metric's own."""
    above: PositiveFloat | None = None
    below: PositiveFloat | None = None
    every: bool = False
    """The statement is of every trial: one at or beyond a bound refutes it."""
    paper: Paper = None
    papers: Papers = Field(default_factory=dict)

    @model_validator(mode="after")
    def _claims_something(self) -> Value:
        if self.above is None and self.below is None and self.paper is None and not self.papers:
            raise ValueError("say a bound (above, below) or the paper's figure")
        if self.every and self.above is None and self.below is None:
            raise ValueError("every wants a bound (above, below)")
        return self


class Distribution(Model):
    """How the operations of a cell are distributed: in how many modes, and to which side the tail is longer.
    `paper`: where the highest mode lies."""

    kind: Literal["distribution"] = "distribution"
    modes: Annotated[int, Field(ge=1, le=9)] | None = None
    skew: Literal["positive", "negative"] | None = None
    """`positive`: the tail of slow operations is the longer one."""
    unit: Literal["ns", "us", "ms", "s"] = "ms"
    """Of the paper's figure."""
    paper: Paper = None

    @model_validator(mode="after")
    def _claims_something(self) -> Distribution:
        if self.modes is None and self.skew is None:
            raise ValueError("say how many modes, or the skew")
        return self
