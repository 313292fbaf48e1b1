"""A study: what is asked, the settings of each of its points, and how its trials are laid out."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from steelyard.spec.actions import Action
from steelyard.spec.asked import Asked
from steelyard.spec.base import LISTED, Model
from steelyard.spec.budget import Budget
from steelyard.spec.fleet import Fleet
from steelyard.spec.highest import Rates
from steelyard.spec.kind import declared
from steelyard.spec.load import Load
from steelyard.spec.systems import System
from steelyard.spec.workload import Workload

SWEEP_REPETITIONS = 6
"""Fewer repetitions decide no claim: the interval of a mean of logs is then too wide to be of use."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
Order = Literal["random", "interleaved", "listed"]
Reset = Literal["fresh", "truncate", "none", "restore"]
Cache = Literal["as-left", "warm", "cold", "rewarmed"]
Scalability = Literal["SB1", "SB2", "SB3"]
DROPS_CACHE = ("cold", "rewarmed")
"""States of the cache for which the page cache of the nodes' host is dropped."""


class Settings(Model):
    """What one measurement needs to be told."""

    system: System
    workload: Workload
    load: Load = Load()

    @model_validator(mode="after")
    def _engines_share(self) -> Settings:
        if declared(self.system.kind).in_engine and self.load.engines > 1:
            raise ValueError(f"the {self.system.kind} store lives in one engine's process: engines must be 1")
        return self

    @model_validator(mode="after")
    def _audit_can_judge(self) -> Settings:
        workload = self.workload
        if self.load.audit and (workload.verify != "full" or workload.values != "checked"):
            raise ValueError(
                "load.audit reads back what was acknowledged and judges it: set workload.verify = 'full' "
                f"(--verify full) and leave workload.values 'checked'; here they are '{workload.verify}' and "
                f"'{workload.values}'"
            )
        return self


class Design(Model):
    """How the trials of a study are laid out."""

    name: Name
    question: str = ""
    """What the study is to answer, in words; printed on top of its report."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 42
    repetitions: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Trials of each point; left out: 6 when the study has several points, else 1."""
    budget: Budget = Budget()
    rates: Rates = Field(default_factory=dict)
    """Highest rates that are found once; a point offers a share of one as its `load.target`."""
    order: Order = "random"
    """`random`: each repetition runs every point once, in a drawn order in which each of n points comes to
    stand at each place once in n repetitions. `interleaved`: the same, in the order of the file. `listed`:
    all repetitions of a point, then the next point's."""
    reset: Reset = "fresh"
    """Between trials: `fresh` a new cluster; `truncate` the same cluster, the table dropped and loaded anew;
    `none` the same cluster and data; `restore` a new start of a cluster whose data were loaded once, kept,
    and are put back as they were."""
    scalability: Scalability | None = None
    """What is changed between runs (Kuhlenkamp et al. 2014): `SB1` the load, `SB2` the capacity, `SB3` both
    in proportion. Points that do otherwise are refused (`spec.scalability`)."""
    starts: Annotated[int, Field(ge=1, le=1000)] = 1
    """With `truncate` or `none`: how often a cluster that trials share is started anew, the repetitions dealt
    evenly over its starts. What differs between two clusters is known over starts only."""
    cache: Cache = "as-left"
    """Before a trial is measured: `as-left` by the load; `warm`, a warm-up must be given (load.warmup_s);
    `cold`, the page cache of the nodes' host is dropped (servers keep what they hold in their own memory);
    `rewarmed`, that and then the warm-up: what is cached then the servers have read themselves, and it is
    charged to the nodes, while what a load or a restore has left there is the host's."""
    warmup: Literal["fixed", "cut"] = "fixed"
    """What the analysis leaves out: `fixed` only load.warmup_s, which is driven before the run; `cut` also
    the start of the run that is not yet steady (MSER-5)."""
    fleet: Fleet = Fleet()
    """Other machines that take part."""


class Point(Settings):
    """One combination of system, variant and levels, with the settings they make."""

    number: Annotated[int, Field(ge=1)] = 1
    system_name: str | None = None
    """Its name in [systems]."""
    variant: str | None = None
    levels: dict[str, Any] = Field(default_factory=dict)
    """Factor -> level, as the file says them; a factor that does not apply here is absent."""
    timeline: Annotated[tuple[Action, ...], LISTED] = ()
    """What is done to the system during the run: the actions of `load.timeline`."""

    @property
    def label(self) -> str:
        """`cassandra matched clients=4`; empty when the study has one point only."""
        names = [name for name in (self.system_name, self.variant) if name]
        return " ".join([*names, *(f"{factor}={_short(level)}" for factor, level in self.levels.items())])


def _short(level: Any) -> Any:
    """A level for people: of a file its name."""
    return PurePath(level).name if isinstance(level, str) and level.startswith("/") else level


class Study(Settings, Design, Asked):
    """A checked study; `system`, `workload` and `load` are those of its first point."""

    repetitions: Annotated[int, Field(ge=1, le=1000)] = 1
    points: tuple[Point, ...] = ()
    """Every point, in the order of the file; empty for a plain study, which has one."""
    source: dict[str, Any] = Field(default_factory=dict)
    """The study file as it was understood, to be written down and run again; empty for a plain study."""

    @property
    def cells(self) -> tuple[Point, ...]:
        """Its points; a plain study is its own."""
        return self.points or (Point(system=self.system, workload=self.workload, load=self.load),)


class Trial(Point):
    """One measurement: a point with its own seed and place in the order."""

    number: Annotated[int, Field(ge=1)]
    """Its place in the order in which trials run."""
    point: int = 1
    repetition: Annotated[int, Field(ge=1)]
    seed: int
    """Draws of operations and values; equal for equal repetitions, so that points are compared in pairs."""
    group: int = 1
    """Trials of one group share one start of the cluster."""
    data: int = 1
    """Trials of one data set share one load."""
    first_operation: int = 0
    """Operation numbers begin here: trials on one data set draw different operations from one seed."""
