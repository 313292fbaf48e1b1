"""The highest rate that a system bears: how it is searched, found once for many points, and shared."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, PositiveFloat, Tag, model_validator

from steelyard.spec.base import LISTED, Model


class HighestRate(Model):
    """How the highest rate that a system bears is searched.

    Each rate is offered for `probe_s` by the same engines. It is borne when 98 % of it is answered well and,
    with a bound, the latency over all attempts stays below it; without one the search is for saturation.
    """

    bound_ms: PositiveFloat | None = None
    operation: Literal["total", "read", "update", "insert", "scan", "delete", "read_modify_write"] = "total"
    """Whose latency has the bound."""
    figure: Literal["mean", "p50", "p95", "p99", "p999"] = "p99"
    start: PositiveFloat = 1_000
    """Operations per second tried first; each trial begins up to one step above it, by its seed."""
    least: PositiveFloat = 1
    most: PositiveFloat = 10_000_000
    precision: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """How far the rate that is found may lie below the next one that is too much."""
    confirm: Annotated[int, Field(ge=1, le=20)] = 3
    """Probes of the rate that was found; more than half of them must be borne."""
    probe_s: PositiveFloat = 5

    @model_validator(mode="after")
    def _ordered(self) -> HighestRate:
        if not self.least <= self.start <= self.most:
            raise ValueError(f"start = {self.start:g} is not between least and most")
        return self


MOST_SHARE = 2
MOST_OF_CURVE = 20
"""Of a curve, whose nodes may become many: what is above it is a rate in operations per second."""


def _no_more(share: float) -> float:
    if share > MOST_SHARE:
        raise ValueError(
            f"{share:g} times the highest rate is no load that a system bears: at most {MOST_SHARE:g}, "
            "and 0.5 is half of it"
        )
    return share


Share = Annotated[PositiveFloat, AfterValidator(_no_more)]
"""Of a highest rate; somewhat more than 1 is for overload."""


class RateSearch(HighestRate):
    """Before the run, find the highest rate, and run at a share of it."""

    share: Share = 1
    """Of the rate that was found, the run offers this share."""
    again: bool = False
    """Search once more after the run: what a change of the cluster has brought."""


class ShareOf(Model):
    """A target rate as a share of a highest rate that is found once, `[rates.NAME]` of the study."""

    of: str
    """NAME."""
    share: Share = 1


Target = Annotated[
    Annotated[PositiveFloat, Tag("<number>")] | Annotated[ShareOf, Tag("<share>")],
    Discriminator(lambda value: "<share>" if isinstance(value, (dict, ShareOf)) else "<number>"),
]


class SharedRate(HighestRate):
    """A highest rate that is found once for each system, workload and capacity, before the first trial."""

    per: Annotated[tuple[str, ...], LISTED] | None = None
    """`system`, `variant` or factors whose levels have rates of their own, found at the first point of each;
    left out, all settings of the system, the workload and how the load is driven."""


Rates = dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")], SharedRate]
"""NAME of `[rates.NAME]` -> how it is found."""
