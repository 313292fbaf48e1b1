"""Deviations say the settings of the form that runs: `{records} records, {duration} s a run`.

A name in braces is a factor's short name or a setting's path; in its place stands its value at every point
of the study.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.errors import InputError
from steelyard.spec.factors import settings_of
from steelyard.spec.levels import level_number
from steelyard.spec.lines import Place
from steelyard.spec.models import Point

_NAME = re.compile(r"\{([A-Za-z][\w.-]*)\}")
MOST = 5
"""More levels than these are told by their least and greatest."""


def filled(texts: Sequence[str], points: Sequence[Point], origins: Mapping[Place, str]) -> tuple[str, ...]:
    """Deviations with the values of their names.

    Raises:
        InputError: a name is no setting, or no point has it, with where it was said.
    """
    values = [point.model_dump(mode="json") for point in points]
    return tuple(
        _NAME.sub(lambda match, n=n: _said(match[1], points, values, _place(origins, n)), text)  # type: ignore[misc]
        for n, text in enumerate(texts)
    )


def _place(origins: Mapping[Place, str], number: int) -> str:
    return origins.get(("deviations", number)) or origins.get(("deviations",), "")


def _said(name: str, points: Sequence[Point], values: Sequence[Mapping[str, Any]], origin: str) -> str:
    told: list[Any] = []
    for point, value in zip(points, values, strict=True):
        found = point.levels.get(name)
        if found is None:
            paths = settings_of(name, point.system.kind, f"{origin}: deviations")
            found = next((at for path in paths if (at := _at(value, path)) is not None), None)
        if found is not None and found not in told:
            told.append(found)
    if not told:
        raise InputError(f"{origin}: deviations: '{{{name}}}' has no value at any point".removeprefix(": "))
    return _listed(told)


def _at(values: Any, path: str) -> Any:
    for part in path.split("."):
        values = values.get(part) if isinstance(values, Mapping) else None
    return values.get("length") if isinstance(values, Mapping) else values


def _listed(told: Sequence[Any]) -> str:
    """`1, 4 and 16`; of many levels `1 to 8,000`."""
    numbers = [number for level in told if (number := level_number(level)) is not None]
    if len(told) > MOST and len(numbers) == len(told):
        return f"{_plain(min(numbers))} to {_plain(max(numbers))}"
    words = [_plain(level) for level in told]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _plain(level: Any) -> str:
    return f"{level:,.12g}" if isinstance(level, (int, float)) and not isinstance(level, bool) else str(level)
