"""Loads that change along a form with a name: steps, a ramp, a sine, a flash crowd, a recorded trace.

Each is made into points (seconds since the run began, operations per second) with straight lines between, the
one thing that an engine is told and a result holds.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from steelyard.spec.base import LISTED, Model
from steelyard.spec.trace import read_trace
from steelyard.spec.triggers import Duration, as_seconds

Points = list[list[float]]
Lasting = Annotated[PositiveFloat, BeforeValidator(as_seconds, json_schema_input_type=float | str)]
"""Seconds above 0; as text `90s`, `10m`."""

A_PERIOD = 60
"""Straight lines in a period of a sine: it is off by less than 0.2 % of its amplitude."""
MOST = 20_000
"""Points of a curve: more say nothing that a second of the run could show."""


class Steps(Model):
    """One rate after the other, equally long each."""

    kind: Literal["steps"]
    rates: Annotated[tuple[NonNegativeFloat, ...], Field(min_length=1), LISTED]
    every: Lasting

    def points(self) -> Points:
        """Two for each step: where it begins and ends."""
        edges = [n * self.every for n in range(len(self.rates) + 1)]
        return [[at, rate] for n, rate in enumerate(self.rates) for at in (edges[n], edges[n + 1])]


class Ramp(Model):
    """From one rate to another; before it the first, after it the second is held."""

    kind: Literal["ramp"]
    least: NonNegativeFloat = Field(alias="from")
    to: NonNegativeFloat
    over: Lasting
    before: Duration = 0
    after: Duration = 0

    def points(self) -> Points:
        """Its ends, and those of what is held."""
        found = [[0.0, self.least]] if self.before else []
        found += [[self.before, self.least], [self.before + self.over, self.to]]
        return [*found, [self.before + self.over + self.after, self.to]] if self.after else found


class Sine(Model):
    """Up and down around a mean, from its lowest on: a day, in short."""

    kind: Literal["sine"]
    mean: PositiveFloat
    amplitude: PositiveFloat
    """How far above and below the mean; at most the mean."""
    period: Lasting
    lasts: Lasting = Field(alias="for")

    @model_validator(mode="after")
    def _above_zero(self) -> Sine:
        if self.amplitude > self.mean:
            raise ValueError(f"amplitude {self.amplitude:g} is above the mean, {self.mean:g}: rates below 0")
        return self

    def points(self) -> Points:
        """`A_PERIOD` in each period, and its end. Raises ValueError: they are too many."""
        _check_count(self.lasts / self.period * A_PERIOD)
        step = self.period / A_PERIOD
        times = [n * step for n in range(math.ceil(self.lasts / step))]
        return [[at, self._rate(at)] for at in (*times, self.lasts)]

    def _rate(self, at: float) -> float:
        return max(self.mean - self.amplitude * math.cos(2 * math.pi * at / self.period), 0.0)


class FlashCrowd(Model):
    """Many come at once and leave bit by bit: a base, a steep rise, a peak that is held, a slow fall."""

    kind: Literal["flash-crowd"]
    base: NonNegativeFloat
    peak: PositiveFloat
    at: Lasting
    """When the rise begins."""
    rise: Duration = 10
    hold: Duration = 60
    fall: Duration = 120
    after: Duration = 60
    """How long the base is offered again."""

    @model_validator(mode="after")
    def _rises(self) -> FlashCrowd:
        if self.peak <= self.base:
            raise ValueError(f"peak {self.peak:g} is not above the base, {self.base:g}")
        return self

    def points(self) -> Points:
        """Its corners; a rise or fall of no time is a step."""
        found, at = [[0.0, self.base], [self.at, self.base]], self.at
        for lasts, rate in ((self.rise, self.peak), (self.hold, self.peak), (self.fall, self.base)):
            at += lasts
            if [at, rate] != found[-1]:
                found.append([at, rate])
        return [*found, [at + self.after, self.base]] if self.after else found


class Trace(Model):
    """What was recorded elsewhere: a CSV file of seconds and operations per second."""

    kind: Literal["trace"]
    file: Annotated[str, Field(min_length=1)]
    """Relative to the study file."""
    rate: PositiveFloat | None = None
    """What its rates are multiplied by."""
    peak: PositiveFloat | None = None
    """What its highest rate becomes, the others in proportion: of shares the only handy way."""
    speed: PositiveFloat = 1.0
    """How many times faster it is gone through."""

    @model_validator(mode="after")
    def _either(self) -> Trace:
        if self.rate is not None and self.peak is not None:
            raise ValueError("say either rate or peak")
        return self

    def points(self) -> Points:
        """A point a line.

        Raises:
            ValueError: the file cannot be read, or has no such lines, or none above 0 where `peak` is asked.
        """
        found = read_trace(Path(self.file))
        by = self.rate or 1.0
        if self.peak is not None:
            if not (highest := max(rate for _, rate in found)):
                raise ValueError(f"trace {self.file}: no rate is above 0")
            by = self.peak / highest
        return [[at / self.speed, rate * by] for at, rate in found]


Shape = Annotated[Steps | Ramp | Sine | FlashCrowd | Trace, Discriminator("kind")]
_SHAPES: TypeAdapter[Shape] = TypeAdapter(Shape)
KINDS = ("steps", "ramp", "sine", "flash-crowd", "trace")
EXAMPLE = "{ kind = \"sine\", mean = 2000, amplitude = 1000, period = '10m', for = '30m' }"


def points_of(said: dict[str, Any]) -> Points:
    """The points of a form with a name.

    Args:
        said: the table of a study file.

    Raises:
        ValueError: it is no such form, in words.
    """
    if said.get("kind") not in KINDS:
        raise ValueError(f"a curve's kind is {', '.join(KINDS)}, e.g. {EXAMPLE}; here {said.get('kind')!r}")
    try:
        shape = _SHAPES.validate_python(said, strict=True)
    except ValidationError as error:
        raise ValueError("; ".join(map(_fault, error.errors()))) from None
    found = shape.points()
    _check_count(len(found))
    return found


def _check_count(points: float) -> None:
    if points > MOST:
        raise ValueError(f"a curve of {points:,.0f} points; at most {MOST:,}")


def _fault(error: Any) -> str:
    """`curve.period: field required`, without the name of the form."""
    place = ".".join(str(part) for part in ("curve", *error["loc"][1:]))
    return f"{place}: {error['msg'].removeprefix('Value error, ')}"
