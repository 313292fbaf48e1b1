"""A figure as data: a paper's axes and lines, drawn from our trials, with the paper's own values over them.

    [[figures]]
    id = "4.1"
    title = "Read latency over threads"
    x = "clients"
    y = "read_service_mean_ns"
    lines = ["consistency"]
    panels = ["variant"]
    where = { variant = ["a", "c"] }
    paper = [{ at = { consistency = "ONE" }, x = [1, 10], y = [0.9, "2.5 to 3"] }]

`x` may also be `time`, the seconds of the measured phase (of latencies, `ok_per_s`, and what servers and
machine did in each: CPU, waiting for disks, compactions), or `latency`, for the histogram of a latency. With
`relative = { clients = 1 }` all values, the paper's too, are over those at that level, so that shapes are
compared where one machine was ten times as fast as the other.

Factors that are neither x, nor a line, nor a panel, nor held by `where` become lines as well.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from steelyard.spec.base import LISTED, Model
from steelyard.spec.metrics import LEVELS, is_by_second, is_latency
from steelyard.spec.printed import Figure
from steelyard.spec.sides import Level, Where

Metrics = Annotated[
    tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value), LISTED
]

TIME, LATENCY = "time", "latency"
"""Axes that are neither factors nor metrics."""


class PaperValues(Model):
    """Values that the paper prints for one line of a figure."""

    at: Where = Field(default_factory=dict)
    """The line and panel: factor -> level."""
    metric: str | None = None
    """Of several metrics, which."""
    x: tuple[Level, ...]
    y: tuple[Figure, ...]
    """In the figure's unit; a range such as "2.5 to 3" or a bound such as "> 10" are drawn so, with their
    labels."""

    @model_validator(mode="after")
    def _pairs(self) -> PaperValues:
        if len(self.x) != len(self.y):
            raise ValueError(f"x has {len(self.x)} values and y has {len(self.y)}")
        return self


class Plot(Model):
    """One figure."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")]
    """The paper's number."""
    title: str
    source: str = ""
    """Where the paper has it, and what it does not say of it."""
    x: str
    """A factor; a metric, for curves such as latency against achieved throughput; `time` or `latency`."""
    y: Metrics
    """One metric, or several of one unit, each with lines of its own."""
    lines: tuple[str, ...] = ()
    panels: tuple[str, ...] = ()
    """Factors whose levels get a chart each."""
    where: Where = Field(default_factory=dict)
    relative: dict[str, Level] = Field(default_factory=dict)
    """Factor -> the level over whose value every other one is drawn."""
    mark: Literal["line", "bar"] = "line"
    unit: Literal["ns", "us", "ms", "s"] = "ms"
    """In which latencies are shown."""
    x_scale: Literal["linear", "log"] = "linear"
    y_scale: Literal["linear", "log"] = "linear"
    x_title: str = ""
    y_title: str = ""
    """As the paper has them; left out, the factor and the metric."""
    paper: tuple[PaperValues, ...] = ()

    @model_validator(mode="after")
    def _can_be_drawn(self) -> Plot:
        over = self.x in (TIME, LATENCY)
        if self.x == TIME and not all(map(is_by_second, self.y)):
            raise ValueError(f"over time there are ok_per_s, latencies, and {', '.join(sorted(LEVELS))}")
        if self.x == LATENCY and not all(is_latency(metric) for metric in self.y):
            raise ValueError("a histogram (x = 'latency') is of a latency, such as read_service_p99_ns")
        if self.relative and over:
            raise ValueError(f"relative needs a factor or a metric as x, not '{self.x}'")
        if over and self.mark == "bar":
            raise ValueError(f"over {self.x} there are lines, no bars")
        units = {one.unit for values in self.paper for one in values.y} - {"", self.unit}
        if units:
            raise ValueError(f"the figure is in {self.unit}, and the paper's values in {', '.join(units)}")
        return self
