"""What a validation error says to the user: where, what was found, what was expected, the nearest name."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from steelyard.errors import nearest
from steelyard.spec.base import SystemSettings
from steelyard.spec.design import StudyFile
from steelyard.spec.lines import Place
from steelyard.spec.systems import models

Origins = Mapping[Place, str]


def complaints(error: ValidationError, data: Mapping[str, Any], origins: Origins) -> list[str]:
    """One line for each fault."""
    return [_complaint(detail, data, origins) for detail in error.errors(include_url=False)]


def _complaint(detail: ErrorDetails, data: Mapping[str, Any], origins: Origins) -> str:
    place = _without_tags(detail["loc"], data)
    origin = _origin(place, origins)
    if detail["type"] == "extra_forbidden":
        inside = (said for at, said in origins.items() if at[: len(place)] == place)
        return _unknown(place, data, origins.get(place) or next(inside, origin))
    if origin.startswith("-"):  # a flag is its own name; a line of a file needs the setting's
        return _text(detail, place, data, origin, " ")
    text = _text(detail, place, data, _dotted(place), " = ")
    return f"{origin}: {text}" if origin else text


def _text(detail: ErrorDetails, place: Place, data: Any, name: str, equals: str) -> str:
    message = detail["msg"].removeprefix("Value error, ")
    match detail["type"]:
        case "missing":
            return f"{_dotted(place)} is missing"
        case "value_error":
            return f"{name}: {message}" if name and not message.startswith(name) else message
        case "union_tag_invalid":
            return _unknown_kind(detail, name)
        case "union_tag_not_found":
            return f"{_dotted(place)}.{str(detail['ctx']['discriminator']).strip(chr(39))} is missing"
    found = detail["input"]
    if detail["type"] == "model_type" and _without_name(place, data):
        return f"{name}{equals}{found!r}: expected a table with a name, as [{_dotted(place[:-1])}.NAME]"
    shown = repr(found) if isinstance(found, (str, int, float, bool)) else f"a {type(found).__name__}"
    joint = " " if message.startswith("Input should") else ": "
    return f"{name}{equals}{shown}{joint}{message.removeprefix('Input ')}"


def _unknown(place: Place, data: Any, origin: str) -> str:
    if origin.startswith("--") and not origin.startswith(("--set ", "--do ")):
        return f"{origin} does not apply to {_owner(place, data)}"
    key, table = str(place[-1]), place[:-1]
    model = _model_at(table, data)
    known = list(model.model_fields) if model else []
    text = f"unknown key '{key}' in {_owner(place, data)}{nearest(key, known)}"
    return f"{origin}: {text}" if origin else text


def _owner(place: Place, data: Any) -> str:
    """The table a key stands in, for people."""
    table = place[:-1]
    kind = _kind(table, data)
    names = "do" if _said(table, data, "kind") is None else "kind"
    return f"{_dotted(table)} of {names} '{kind}'" if kind else _dotted(table) or "a study"


def _unknown_kind(detail: ErrorDetails, name: str) -> str:
    context = detail.get("ctx", {})
    known = [word.strip(" '") for word in str(context.get("expected_tags", "")).split(",")]
    found = str(context.get("tag"))
    return f"{name} '{found}' is unknown{nearest(found, known)}; known: {', '.join(known)}".lstrip()


def _dotted(place: Place) -> str:
    return ".".join(str(part) for part in place)


def _origin(place: Place, origins: Origins) -> str:
    """Where the setting, or the nearest table around it, was said."""
    for length in range(len(place), 0, -1):
        if found := origins.get(place[:length]):
            return found
    return ""


def _without_tags(loc: tuple[int | str, ...], data: Any) -> Place:
    """The path in the file: after a union's name, pydantic puts its kind, or a tag such as `<number>`, into
    the path."""
    place: Place = ()
    tagged: Place | None = None
    for part in loc:
        if isinstance(part, str) and part.startswith("<"):
            continue
        if place != tagged and part == _kind(place, data) and _is_union(place, data):
            tagged = place  # once: a setting may be called as its table's kind is
        else:
            place = (*place, part)
    return place


def _child(here: Any, part: int | str) -> Any:
    if isinstance(here, dict):
        return here.get(part)
    if isinstance(here, list) and isinstance(part, int) and part < len(here):
        return here[part]
    return None


def _kind(place: Place, data: Any) -> str | None:
    """What tells the models of a union apart: a system's `kind`, what an action is to `do`."""
    tag: str | None = _said(place, data, "kind") or _said(place, data, "do")
    return tag


def _said(place: Place, data: Any, key: str) -> Any:
    for part in place:
        data = _child(data, part)
    return data.get(key) if isinstance(data, dict) else None


def _is_union(place: Place, data: Any) -> bool:
    return len(_candidates(place, data)) > 1


def _model_at(place: Place, data: Any) -> type[BaseModel] | None:
    """The model that checks the table at a path."""
    candidates = _candidates(place, data)
    kind = _kind(place, data)
    return next((m for m in candidates if len(candidates) == 1 or _is_kind(m, kind)), None)


def _candidates(place: Place, data: Any) -> list[type[BaseModel]]:
    """The models that may check the table at a path: several for a union."""
    if not place:
        return [StudyFile]
    if isinstance(place[-1], int) or _by_name(place[:-1], data):
        return _candidates(place[:-1], data)
    return list(_models(_annotation(place, data)))


def _annotation(place: Place, data: Any) -> Any:
    """The type of the setting at a path; None where there is none."""
    model = _model_at(place[:-1], data)
    info = model.model_fields.get(str(place[-1])) if model else None
    return info.annotation if info else None


def _without_name(place: Place, data: Any) -> bool:
    """Whether what stands where a name is wanted is a setting: `start` in [rates]."""
    model = _model_at(place, data) if _by_name(place[:-1], data) else None
    return model is not None and place[-1] in model.model_fields


def _by_name(place: Place, data: Any) -> bool:
    """Whether the table at a path holds others by names of the user's: [rates.NAME]."""
    return bool(place) and typing.get_origin(_annotation(place, data)) is dict


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if annotation is SystemSettings:
        yield from models()
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _models(argument)


def _is_kind(model: type[BaseModel], kind: str | None) -> bool:
    field = model.model_fields.get("kind") or model.model_fields.get("do")
    return field is not None and kind in typing.get_args(field.annotation)
