"""When an action of a timeline begins, and when it is done: times, figures that hold, commands."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    Tag,
    model_validator,
)

from steelyard.errors import nearest
from steelyard.spec.base import LISTED, Model
from steelyard.spec.units import seconds

STEADY = "steady"
"""`after = "steady"`: when the run has come to a steady state, by the rules of `analysis.steady`."""
LEAST_STEADY_S = 60
"""From so many seconds on it can be told (`analysis.steady.LEAST_INTERVALS`)."""
TOLD = ("normal", "joined", "registered", "assigned", "left")
"""What a cluster that others operate tells of nodes that come and go: of Cassandra's the first two, of
HBase's the next two, of both the last."""
CLIENT = ("p50_ms", "p99_ms", "rate_per_s", "failed_per_s", "in_flight", "backlog")
"""Figures of a second that the engines tell; of a node, any level or rate that is watched."""


def as_seconds(value: Any) -> Any:
    """The seconds of a duration's text; anything else as it is."""
    return seconds(value) if isinstance(value, str) else value


Duration = Annotated[NonNegativeFloat, BeforeValidator(as_seconds, json_schema_input_type=float | str)]
"""Seconds; as text `90s`, `10m`."""
Words = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1), LISTED]
"""A command as words: no shell reads it."""


class Figure(Model):
    """A figure that lies above or below a bound, for a while without interruption."""

    model_config = ConfigDict(serialize_by_alias=True)

    metric: str
    """Without a node one of the client's: p50_ms, p99_ms, rate_per_s, failed_per_s, in_flight, backlog. Of a
    node any of system.parquet's, or `cpu_cores`; of a counter `X_total` its rate is `X_per_s`."""
    node: str | None = None
    above: float | None = None
    below: float | None = None
    for_s: Duration = Field(default=0, alias="for")

    @model_validator(mode="after")
    def _whole(self) -> Figure:
        if (self.above is None) == (self.below is None):
            raise ValueError("say either above or below")
        if self.node is None and self.metric not in CLIENT:
            raise ValueError(
                f"no metric '{self.metric}' of the client{nearest(self.metric, CLIENT)}; known: "
                f"{', '.join(CLIENT)}; of a server say its node, too"
            )
        return self

    @property
    def words(self) -> str:
        """`cpu_cores of node1 above 0.8 for 10 s`."""
        of = f" of {self.node}" if self.node else ""
        bound = f"above {self.above:g}" if self.above is not None else f"below {self.below:g}"
        return f"{self.metric}{of} {bound}" + (f" for {self.for_s:g} s" if self.for_s else "")


class Command(Model):
    """A command that is run again and again until it ends with status 0."""

    command: Words
    every: Annotated[PositiveFloat, BeforeValidator(as_seconds, json_schema_input_type=float | str)] = 2
    """Seconds between its starts."""

    @property
    def words(self) -> str:
        """`"kubectl rollout status sts/db" succeeds`."""
        return f'"{" ".join(self.command)}" succeeds'


def _form(value: Any) -> str:
    """Which of the three ways to be done it is."""
    if isinstance(value, (str, type(None))):
        return "<milestone>"
    has = value.keys() if isinstance(value, dict) else type(value).model_fields
    return "<command>" if "command" in has else "<figure>"


Done = Annotated[
    Annotated[str, Tag("<milestone>")]
    | Annotated[Command, Tag("<command>")]
    | Annotated[Figure, Tag("<figure>")],
    Discriminator(_form),
]
"""A milestone that all its nodes must have passed, a command that must succeed, a figure that must hold."""


class Triggered(Model):
    """When it begins: all of the conditions that are given must have come true, and `wait` passed since."""

    at: Duration | None = None
    """Seconds since the run phase began."""
    after: str | None = None
    """`steady`, or the id of an action before it, which has then ended in whatever way."""
    when: Figure | None = None
    wait: Duration = 0
    """Seconds more."""

    @model_validator(mode="after")
    def _begins(self) -> Triggered:
        if self.at is None and self.after is None and self.when is None:
            raise ValueError(
                "say when it begins: at = '60s', after = 'steady' or an action's id, or when = {...}"
            )
        return self

    @property
    def begins(self) -> str:
        """`at 60 s`, `5 s after join`, `once steady`."""
        said = [
            f"at {self.at:g} s" if self.at is not None and self.after is None and self.when is None else ""
        ]
        if self.after:
            said.append("once the run is steady" if self.after == STEADY else f"after {self.after}")
        if self.when:
            said.append(f"when {self.when.words}")
        if self.at is not None and not said[0]:
            said.append(f"not before {self.at:g} s")
        wait = f", and {self.wait:g} s more" if self.wait else ""
        return ", ".join(word for word in said if word) + wait
