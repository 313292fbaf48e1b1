"""A controller as an action: nodes are added and removed by a figure's moving average, until the run ends."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, PositiveFloat, PositiveInt, model_validator

from steelyard.spec.action_base import ActionBase
from steelyard.spec.triggers import Duration, as_seconds

CPU_SHARE = "cpu_share"
"""CPU that nodes use, of what their quota lets them: the mean over nodes."""
Window = Annotated[PositiveFloat, BeforeValidator(as_seconds, json_schema_input_type=float | str)]


class Scale(ActionBase):
    """One node more while a figure's moving average is above a bound, one less while it is below another.

    A rule as of benchmark EB2 of Kuhlenkamp, Klems and Röss (PVLDB 7(12), 2014). Each change is an action of
    its own, `ID-1`, `ID-2` ..., and `limit` is that of each.
    """

    needs: ClassVar[str] = "add"
    do: Literal["scale"]
    metric: Literal["cpu_share", "p50_ms", "p99_ms", "rate_per_s", "failed_per_s", "in_flight", "backlog"]
    above: PositiveFloat
    """One node more when the average lies above it; CPU as a share of quotas, p99 in ms."""
    below: PositiveFloat | None = None
    """One less when it lies below it; left out: never."""
    average: Window = 60
    """Seconds of the moving average."""
    cool_down: Duration = 120
    """Seconds after the end of a change in which nothing is decided."""
    least: PositiveInt
    most: PositiveInt
    """Nodes."""
    limited: bool = True
    """Nodes that join are under their CPU quota from their first instruction; otherwise from when they have
    joined."""

    @property
    def capabilities(self) -> tuple[str, ...]:
        """Nodes come, and go if there is a bound for that."""
        return ("add",) if self.below is None else ("add", "remove")

    @model_validator(mode="after")
    def _sound(self) -> Scale:
        if self.below is not None and self.below >= self.above:
            raise ValueError(f"below = {self.below:g} is not under above = {self.above:g}: it would swing")
        if self.least >= self.most:
            raise ValueError(f"least = {self.least} and most = {self.most} leave nothing to decide")
        if self.average < 1:
            raise ValueError("average is at least one second")
        if self.done is not None:
            raise ValueError("a controller goes on until the run ends: leave done out")
        return self
