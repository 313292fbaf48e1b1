"""A claim as data: what a paper says, how it is checked, why the paper says it is so, and what it prints.

    [[claims]]
    id = "C1"
    statement = "Stronger consistency gives higher read latency."
    source = "table 4.1"
    metric = "read_service_mean_ns"
    where = { system = "cassandra" }
    check = { kind = "trend", factor = "consistency", levels = ["ONE", "QUORUM", "ALL"], direction = "up" }

A metric is a name of `spec.metrics`. `paper` in a check is the paper's own figure, in the unit of what the
check estimates; it is compared for size, never used for anything else. `[[checks]]` have the same form: they
are ours, and counted apart from what a paper claims.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from steelyard.spec.alone import Distribution, Value
from steelyard.spec.along import Best, Order, PeakCheck, Scaling, Shape, Threshold, Trend
from steelyard.spec.base import Model
from steelyard.spec.metrics import named
from steelyard.spec.printed import Printed
from steelyard.spec.sides import Equality, Level, Ratio, Side, Sided, SlopeCheck, Speedup, Where

__all__ = [
    "Best",
    "Check",
    "Claim",
    "Distribution",
    "Elsewhere",
    "Equality",
    "Level",
    "Order",
    "PeakCheck",
    "Ratio",
    "Scaling",
    "Shape",
    "Side",
    "Sided",
    "SlopeCheck",
    "Speedup",
    "Threshold",
    "Trend",
    "Value",
    "Where",
    "Why",
    "levels_of",
]

Check = Annotated[
    Trend
    | Ratio
    | Order
    | Threshold
    | PeakCheck
    | Shape
    | Equality
    | Value
    | SlopeCheck
    | Speedup
    | Scaling
    | Best
    | Distribution,
    Field(discriminator="kind"),
]

NS_IN = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


class Elsewhere(Model):
    """Two other sides between which a reason must show as well: where its cause is missing, or alone."""

    numerator: Side
    denominator: Side
    expect: Literal["up", "down"]
    """How the figure goes from denominator to numerator if the reason is right."""


class Why(Model):
    """A reason that the paper gives, and a figure of the servers or the machine that bears it out or not."""

    reason: str
    metric: str = ""
    expect: Literal["up", "down"] | None = None
    """How that figure goes if the reason is right: along the claim's factor, or from denominator to
    numerator."""
    unseen: str = ""
    """Why no figure of this study can bear it out or speak against it."""
    unseen_small: str = ""
    """The same of the small form alone."""
    also: Elsewhere | None = None
    """Where the reason would fail if it were wrong; it must hold there too."""

    @model_validator(mode="after")
    def _can_be_seen_or_not(self) -> Why:
        if self.unseen and (self.metric or self.expect):
            raise ValueError("a reason that cannot be seen (unseen) has no metric")
        if not self.unseen and not (self.metric and self.expect):
            raise ValueError("say the metric and how it is expected to go, or why it cannot be seen (unseen)")
        return self


class Claim(Model):
    """One claim of a paper, or one check of ours."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")]
    statement: str
    source: str = ""
    """Where the paper says so."""
    metric: str
    where: Where = Field(default_factory=dict)
    check: Check
    covers: tuple[Level, ...] = ()
    """What of the check's factor the claim speaks of: the least and the greatest number, or every word. In a
    form that leaves some of it out the verdict is 'range not covered'."""
    why: tuple[Why, ...] = ()
    unsteady: str = ""
    """Where the paper itself measured runs that never came to rest, so that trials without a steady state
    count all the same, e.g. 'table 3: runs of 1,000 operations from the first one on'."""
    note: str = ""

    @model_validator(mode="after")
    def _is_whole(self) -> Claim:
        if self.why and not self.factor and not isinstance(self.check, Sided):
            raise ValueError(
                f"a reason (why) is judged between sides or along a factor: '{self.check.kind}' has none"
            )
        if self.covers and not self.factor:
            raise ValueError(f"covers needs a check with a factor, and '{self.check.kind}' has none")
        self.scale()
        for told in self.sources.values():
            self.in_metric(told)
        return self

    @property
    def factor(self) -> str:
        """The factor along which it is checked; empty for checks that have none."""
        return str(getattr(self.check, "factor", ""))

    @property
    def printed(self) -> Printed | None:
        """The paper's figure, if it prints one."""
        found: Printed | None = getattr(self.check, "paper", None)
        return found

    @property
    def paper(self) -> float | None:
        """The paper's figure as one number, in the unit of what the check estimates."""
        return self.in_metric(self.printed).middle if self.printed else None

    @property
    def sources(self) -> dict[str, Printed]:
        """Every printed figure by its source; the paper's own has no name."""
        own = {"": self.printed} if self.printed else {}
        return {**own, **getattr(self.check, "papers", {})}

    def in_metric(self, told: Printed) -> Printed:
        """A printed figure in the unit of what the check estimates.

        Raises:
            ValueError: it has a unit that this has not, or a latency has none.
        """
        return told.scaled(self.scale(told.unit))

    def scale(self, unit: str = "") -> float:
        """What a figure in a unit (left out, the check's) is multiplied by to be in the metric's own."""
        if not isinstance(self.check, (Value, Distribution)):
            if unit:
                raise ValueError(
                    f"what '{self.check.kind}' estimates has no unit, and the paper's figure has '{unit}'"
                )
            return 1.0
        said, own = unit or self.unit, unit_of(self.metric)
        if own == "ns":
            if said not in NS_IN:
                raise ValueError(f"{self.metric} is a latency: say its unit, one of {', '.join(NS_IN)}")
            return NS_IN[said]
        if said and said != own and not (said == "%" and own == "share"):
            raise ValueError(f"{self.metric} has the unit '{own or 'none'}', not '{said}'")
        return 0.01 if said == "%" else 1.0

    @property
    def unit(self) -> str:
        """The unit in which it is spoken of: the check's, or else the first that a printed figure has."""
        said = [getattr(self.check, "unit", ""), *(told.unit for told in self.sources.values())]
        return next(filter(None, said), "")


def levels_of(check: Check) -> Where:
    """The levels of its factor that a check names."""
    if isinstance(check, Trend):
        return {check.factor: check.levels}
    if isinstance(check, Order):
        return {check.factor: tuple(level for group in check.groups for level in group)}
    if isinstance(check, Best) and check.level is not None:
        return {check.factor: check.level}
    if isinstance(check, (Scaling, Speedup)):
        return {check.factor: tuple(level for level in (check.first, check.last) if level is not None)}
    return {}


def unit_of(metric: str) -> str:
    """The unit of a metric; empty for one that has none or is not known."""
    found = named(metric)
    return found.unit if found else ""
