"""A figure as data: a paper's axes and lines, drawn from our trials, with the paper's own values over them.

    [[figures]]
    id = "4.1"
    title = "Read latency over threads"
    x = "clients"
    y = "read_service_mean_ns"
    lines = ["consistency"]
    panels = ["variant"]
    where = { variant = ["a", "c"] }
    paper = [{ at = { consistency = "ONE" }, x = [1, 10], y = [0.9, 2.5] }]

Factors that are neither x, nor a line, nor a panel, nor held by `where` become lines as well.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from steelyard.spec.base import LISTED, Model
from steelyard.spec.sides import Level, Where

Metrics = Annotated[
    tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value), LISTED
]


class PaperValues(Model):
    """Values that the paper prints for one line of a figure."""

    at: Where = Field(default_factory=dict)
    """The line and panel: factor -> level."""
    metric: str | None = None
    """Of several metrics, which."""
    x: tuple[Level, ...]
    y: tuple[float, ...]
    """In the figure's unit."""

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
    """A factor; or a metric, for curves such as latency against achieved throughput."""
    y: Metrics
    """One metric, or several of one unit, each with lines of its own."""
    lines: tuple[str, ...] = ()
    panels: tuple[str, ...] = ()
    """Factors whose levels get a chart each."""
    where: Where = Field(default_factory=dict)
    mark: Literal["line", "bar"] = "line"
    unit: Literal["ns", "us", "ms", "s"] = "ms"
    """In which latencies are shown."""
    x_scale: Literal["linear", "log"] = "linear"
    y_scale: Literal["linear", "log"] = "linear"
    x_title: str = ""
    y_title: str = ""
    """As the paper has them; left out, the factor and the metric."""
    paper: tuple[PaperValues, ...] = ()
