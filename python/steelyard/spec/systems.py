"""The kinds of systems, and which settings each has."""

from __future__ import annotations

import typing
from functools import cache
from typing import Any

from pydantic import BaseModel

from steelyard.spec.system import System


@cache
def kinds() -> tuple[str, ...]:
    """Every kind of system."""
    return tuple(str(model.model_fields["kind"].default) for model in _models())


def has_setting(kind: str, setting: str) -> bool:
    """Whether a kind of system has a setting, e.g. `system.access.table`."""
    model: Any = next(m for m in _models() if m.model_fields["kind"].default == kind)
    for name in setting.split(".")[1:]:
        if not (isinstance(model, type) and issubclass(model, BaseModel) and name in model.model_fields):
            return False
        model = model.model_fields[name].annotation
    return True


def _models() -> tuple[type[BaseModel], ...]:
    union, *_ = typing.get_args(System)
    return typing.get_args(union)
