"""A study: systems, workload and load, with a seed and repetitions."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from steelyard.spec.base import Model
from steelyard.spec.load import Load
from steelyard.spec.system import System
from steelyard.spec.workload import Workload


class Study(Model):
    """One study file."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
    question: str = ""
    """What the study is to answer, in words; printed on top of its report."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 42
    repetitions: Annotated[int, Field(ge=1, le=1000)] = 1
    system: System
    workload: Workload
    load: Load = Load()

    @model_validator(mode="after")
    def _engines_share(self) -> Study:
        if self.system.kind == "embedded" and self.load.engines > 1:
            raise ValueError("the embedded store lives in one engine's process: engines must be 1")
        return self


class Trial(Model):
    """One measurement: a study's settings with its own seed and place in the order."""

    number: Annotated[int, Field(ge=1)]
    repetition: Annotated[int, Field(ge=1)]
    seed: int
    system: System
    workload: Workload
    load: Load
