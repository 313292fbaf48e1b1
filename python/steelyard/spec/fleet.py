"""Other machines that take part in a study, and as what."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from steelyard.spec.base import Model

Count = Annotated[int, Field(ge=1, le=1000)]


class Fleet(Model):
    """Machines that are reached by ssh; flags of `run` say the same, and go before."""

    ssh: tuple[str, ...] = ()
    """`[USER@]HOST[:PORT]`; none = everything is done on the laboratory's own machine."""
    benches: Count | None = None
    """So many of them run whole trials, side by side."""
    load_hosts: Count | None = None
    """So many of them run a load engine each, together for one trial; left out: all, if none are benches."""
    key: str | None = None
    """Private key; left out: as ssh's configuration and agent have it."""
    python: str | None = None
    """Python with this Steelyard there; left out: the path of the laboratory's."""
    unlike_hosts: bool = False
    """Benches may differ in processor, cores, memory, kernel and Java."""

    @model_validator(mode="after")
    def _roles(self) -> Fleet:
        if self.benches and self.load_hosts:
            raise ValueError("benches and load_hosts exclude each other: a bench has its engines itself")
        if self.unlike_hosts and not self.benches:
            raise ValueError("unlike_hosts goes with benches")
        return self
