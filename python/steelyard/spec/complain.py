"""What a validation error says to the user: where, what was found, what was expected, the nearest known name."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from steelyard.errors import nearest
from steelyard.spec.lines import Place
from steelyard.spec.study import Study


def complaints(error: ValidationError, data: Mapping[str, Any], origins: Mapping[Place, str]) -> list[str]:
    """One line for each fault."""
    return [_complaint(detail, data, origins) for detail in error.errors(include_url=False)]


def _complaint(detail: ErrorDetails, data: Mapping[str, Any], origins: Mapping[Place, str]) -> str:
    place = _without_tags(detail["loc"], data)
    origin = _origin(place, origins)
    dotted = ".".join(str(part) for part in place)
    name = "" if origin.startswith("-") else dotted  # a flag is its own name; a line of a file needs the setting's
    return ": ".join(part for part in (origin, _text(detail, place, name, data)) if part)


def _text(detail: ErrorDetails, place: Place, name: str, data: Mapping[str, Any]) -> str:
    message = detail["msg"].removeprefix("Value error, ")
    match detail["type"]:
        case "extra_forbidden":
            return _unknown(place, data)
        case "missing":
            return f"{name or place[-1]} is missing"
        case "value_error":
            return f"{name}: {message}" if name and not message.startswith(name) else message
        case "union_tag_invalid":
            return _unknown_kind(detail, name)
        case "union_tag_not_found":
            return f"{name or place[-1]}: kind is missing"
    found = detail["input"]
    shown = f"{found!r}" if isinstance(found, (str, int, float, bool)) else type(found).__name__
    return f"{name} {shown}: {message[:1].lower()}{message[1:]}".lstrip()


def _unknown(place: Place, data: Mapping[str, Any]) -> str:
    key = str(place[-1])
    model = _model_at(place[:-1], data)
    known = list(model.model_fields) if model else []
    where = ".".join(str(part) for part in place[:-1])
    kind = _kind(place[:-1], data)
    owner = f"{where} of kind '{kind}'" if kind else where or "a study"
    return f"unknown key '{key}' in {owner}{nearest(key, known)}"


def _unknown_kind(detail: ErrorDetails, name: str) -> str:
    context = detail.get("ctx", {})
    known = [word.strip(" '") for word in str(context.get("expected_tags", "")).split(",")]
    found = str(context.get("tag"))
    return f"{name} '{found}' is unknown{nearest(found, known)}; known: {', '.join(known)}".lstrip()


def _origin(place: Place, origins: Mapping[Place, str]) -> str:
    """Where the setting, or the nearest table around it, was said."""
    for length in range(len(place), 0, -1):
        if found := origins.get(place[:length]):
            return found
    return ""


def _without_tags(loc: tuple[int | str, ...], data: Any) -> Place:
    """The path in the file: pydantic puts the kind of a union into its own."""
    place: list[int | str] = []
    here = data
    for part in loc:
        if isinstance(here, dict) and part not in here and here.get("kind") == part:
            continue
        place.append(part)
        here = _child(here, part)
    return tuple(place)


def _child(here: Any, part: int | str) -> Any:
    if isinstance(here, dict):
        return here.get(part)
    if isinstance(here, list) and isinstance(part, int) and part < len(here):
        return here[part]
    return None


def _kind(place: Place, data: Any) -> str | None:
    for part in place:
        data = _child(data, part)
    return data.get("kind") if isinstance(data, dict) else None


def _model_at(place: Place, data: Any) -> type[BaseModel] | None:
    """The model that checks the table at a path."""
    model: type[BaseModel] | None = Study
    here = data
    for part in place:
        here = _child(here, part)
        if isinstance(part, int):
            continue
        info = model.model_fields.get(str(part)) if model else None
        candidates = list(_models(info.annotation)) if info else []
        kind = here.get("kind") if isinstance(here, dict) else None
        model = next((m for m in candidates if len(candidates) == 1 or _is_kind(m, kind)), None)
    return model


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _models(argument)


def _is_kind(model: type[BaseModel], kind: str | None) -> bool:
    field = model.model_fields.get("kind")
    return field is not None and kind in typing.get_args(field.annotation)
