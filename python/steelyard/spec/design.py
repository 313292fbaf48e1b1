"""A study file as a whole: its form, for errors and editors; and the parts that say what is swept."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator, model_validator

from steelyard.spec.asked import Asked
from steelyard.spec.base import LISTED, Model
from steelyard.spec.load import Load
from steelyard.spec.models import Design
from steelyard.spec.systems import System
from steelyard.spec.timeline import Timelines
from steelyard.spec.workload import Workload

SETTINGS = ("system", "systems", "workload", "load")
"""Tables that are checked point by point, since a factor may complete them."""

Levels = Annotated[tuple[Any, ...], LISTED]
Only = Annotated[
    tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value), LISTED
]


class Factor(Model):
    """What is varied: one setting's `levels`, or several settings that move together (`zip`)."""

    levels: Levels = ()
    zip: dict[str, Levels] = Field(default_factory=dict)
    """Setting or short name -> its levels; all of one length."""
    only: Only = ()
    """Names of the systems it applies to; for the others it is left out. Empty = all."""

    @model_validator(mode="before")
    @classmethod
    def _plain_list(cls, data: Any) -> Any:
        return {"levels": data} if isinstance(data, list) else data

    @model_validator(mode="after")
    def _either(self) -> Factor:
        lengths = {len(levels) for levels in self.zip.values()}
        if bool(self.levels) == bool(self.zip) or 0 in lengths:
            raise ValueError("expected levels, e.g. clients = [1, 2, 4], or zip = { nodes = [1, 3], ... }")
        if len(lengths) > 1:
            counts = ", ".join(f"{name} has {len(levels)}" for name, levels in self.zip.items())
            raise ValueError(f"zipped settings need equally many levels: {counts}")
        if twice := [level for n, level in enumerate(self.levels) if level in self.levels[:n]]:
            raise ValueError(f"level {twice[0]!r} stands there twice")
        return self

    def steps(self, name: str) -> list[dict[str, Any]]:
        """The levels one after the other, each as setting -> level."""
        columns = self.zip or {name: self.levels}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


class Overlay(Model):
    """Settings laid over the study's: in a variant, or for one of its systems."""

    only: Only = ()
    """Names of the systems this variant is run on. Empty = all."""
    run: bool = True
    """False leaves the variant out, as a small form may."""
    system: dict[str, Any] = Field(default_factory=dict)
    """Laid over every system."""
    systems: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Laid over the system of that name."""
    workload: dict[str, Any] = Field(default_factory=dict)
    load: dict[str, Any] = Field(default_factory=dict)

    @field_validator("workload", mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        return {"base": value} if isinstance(value, str) else value


class Sweep(Design, Asked):
    """Everything of a study file but the settings themselves."""

    factors: dict[str, Factor] = Field(default_factory=dict)
    variants: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")], Overlay] = Field(
        default_factory=dict
    )
    timelines: Timelines = Field(default_factory=dict)
    """What may be done to a system during a run, by name; `load.timeline`, a factor too, says which."""


class StudyFile(Sweep):
    """The form of a study file: what editors and error messages go by."""

    system: System | None = None
    systems: dict[str, System] = Field(default_factory=dict)
    workload: Workload
    load: Load = Load()
    small: dict[str, Any] = Field(default_factory=dict)
    """Laid over the study by --small: the same form, nothing of it required."""
