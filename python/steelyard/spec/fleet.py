"""Other machines that take part in a study, and as what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, model_validator

from steelyard.spec.base import Model

Count = Annotated[int, Field(ge=1, le=1000)]
SOURCES = ("ssh", "scheduler", "cluster")
"""Settings of which one says which machines there are."""


class Fleet(Model):
    """Other machines; flags of `run` say the same, and go before."""

    ssh: tuple[str, ...] = ()
    """`[USER@]HOST[:PORT]`; none = everything is done on the laboratory's own machine."""
    scheduler: str | None = None
    """Instead of `ssh`: a running Dask scheduler, `tls://HOST:PORT`, whose workers' machines are used."""
    scheduler_ca: str | None = None
    """Certificate of the authority; left out: as Dask's own configuration says, the next two likewise."""
    scheduler_cert: str | None = None
    """Certificate of the laboratory."""
    scheduler_key: str | None = None
    """Its private key's file."""
    cluster: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")] | None = None
    """Instead of `ssh`: MODULE:CLASS of a Dask cluster, which is made, scaled, and closed at the end."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """What that cluster is made with; they are kept with the result, so that no secret belongs here."""
    benches: Count | None = None
    """So many of them run whole trials, side by side."""
    load_hosts: Count | None = None
    """So many of them run a load engine each, together for one trial; left out: all that do nothing else."""
    server_hosts: Count | None = None
    """So many of them, after the load hosts, have the nodes of local clusters."""
    watch: tuple[str, ...] = ()
    """Machines of a given cluster that are only sampled, in the same words; they are none of `ssh`."""
    key: str | None = None
    """Private key for `ssh`; left out: as ssh's configuration and agent have it."""
    python: str | None = None
    """Python with this Steelyard there; left out: the path of the laboratory's."""
    unlike_hosts: bool = False
    """Benches may differ in processor, cores, memory, kernel and Java."""

    @model_validator(mode="after")
    def _roles(self) -> Fleet:
        if self.benches and self.load_hosts:
            raise ValueError("benches and load_hosts exclude each other: a bench has its engines itself")
        if self.benches and self.server_hosts:
            raise ValueError("benches and server_hosts exclude each other: a bench has its cluster itself")
        if self.benches and self.watch:
            raise ValueError("benches and watch exclude each other: no bench uses a given cluster")
        if self.unlike_hosts and not self.benches:
            raise ValueError("unlike_hosts goes with benches")
        return self

    @model_validator(mode="after")
    def _source(self) -> Fleet:
        said = [name for name in SOURCES if getattr(self, name)]
        if len(said) > 1:
            raise ValueError(f"{' and '.join(said)} exclude each other: each says which machines there are")
        if self.arguments and not self.cluster:
            raise ValueError("arguments go with cluster")
        if (self.scheduler_ca or self.scheduler_cert or self.scheduler_key) and not self.scheduler:
            raise ValueError("scheduler_ca, scheduler_cert and scheduler_key go with scheduler")
        if (self.key or self.python) and said and not self.ssh:
            raise ValueError(f"key and python go with ssh, not with {said[0]}")
        return self

    @property
    def elsewhere(self) -> bool:
        """Whether other machines take part."""
        return any(getattr(self, name) for name in (*SOURCES, "watch"))


def source_words(names: Sequence[str], load: int | None = None) -> str:
    """The flags that name machines again, by what they are called; empty for those that a study itself names.

    Args:
        names: `USER@HOST`, `tls://SCHEDULER:PORT/HOST`, or `CLUSTER/PLACE`.
        load: how many of them are load hosts; None = all.
    """
    if not names or "/" not in names[0]:
        return f"--ssh {','.join(names)}" if names else ""
    scheduler, slashes, rest = names[0].partition("://")
    if not slashes:
        return ""
    count = len(names) if load is None else load
    return f"--scheduler {scheduler}://{rest.partition('/')[0]}" + (f" --load-hosts {count}" if count else "")
