"""A system of any kind: the settings of the kind that its word `kind` names."""

from __future__ import annotations

import functools
import operator
from typing import Annotated, Any

from pydantic import BaseModel, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from steelyard.spec.base import SystemSettings
from steelyard.spec.kind import declarations, declared


class _OfAnyKind:
    """In an annotation: one of the models of all kinds that are registered, told apart by `kind`."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        union = functools.reduce(operator.or_, models())
        return handler.generate_schema(Annotated[union, Field(discriminator="kind")])


System = Annotated[SystemSettings, _OfAnyKind()]


def kinds() -> tuple[str, ...]:
    """Every kind of system."""
    return tuple(declarations())


def models() -> tuple[type[SystemSettings], ...]:
    """The settings of every kind."""
    return tuple(kind.settings() for kind in declarations().values())


def has_setting(kind: str, setting: str) -> bool:
    """Whether a kind of system has a setting, e.g. `system.access.table`."""
    model: Any = declared(kind).settings()
    for name in setting.split(".")[1:]:
        if not (isinstance(model, type) and issubclass(model, BaseModel) and name in model.model_fields):
            return False
        model = model.model_fields[name].annotation
    return True
