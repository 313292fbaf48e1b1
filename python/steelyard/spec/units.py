"""Durations and sizes as people write them: `60s`, `250ms`, `512m`, `2g`."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

from steelyard.errors import InputError

S = TypeVar("S")
T = TypeVar("T")

_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_BYTES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|min|m|h)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([kmgt])(?:i?b)?", re.IGNORECASE)


def seconds(text: str) -> float:
    """The seconds of a duration such as `60s`, `5m`, `1h30m` or `250ms`.

    Raises:
        ValueError: it is no duration; the text says what one looks like.
    """
    word = text.strip()
    parts = list(_DURATION.finditer(word))
    if not parts or "".join(part.group() for part in parts) != word:
        raise ValueError(f"{text!r} is no duration; write a number and a unit: 250ms, 60s, 5m, 1h")
    units = [_SECONDS[part[2]] for part in parts]
    if any(later >= earlier for earlier, later in pairwise(units)):
        raise ValueError(f"{text!r} is no duration; each unit stands once, the longest first: 1h30m")
    return sum(float(part[1]) * _SECONDS[part[2]] for part in parts)


def milliseconds(text: str) -> int:
    """As `seconds`, in whole milliseconds."""
    return round(seconds(text) * 1000)


def quantum(text: str) -> str | int:
    """When the engine wakes for what is due: `auto`, `exact`, or the microseconds of a time such as `250us`.

    Raises:
        ValueError: it is none of these, or a duration outside 1us to 1s.
    """
    if text in ("auto", "exact"):
        return text
    try:
        quantum_us = round(seconds(text) * 1e6)
    except ValueError:
        raise ValueError(f"{text!r} is no pacing; write auto, exact, or a time such as 250us") from None
    if not 1 <= quantum_us <= 1_000_000:
        raise ValueError(f"{text!r} is no pacing; a time is between 1us and 1s")
    return quantum_us


def byte_count(text: str) -> int:
    """The bytes of a size such as `500k`, `512m`, `2g` or `1.5GiB`, to the nearest byte.

    Raises:
        ValueError: it is no size; the text says what one looks like.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no size; write a number and a unit: 512m, 2g")
    return round(float(match[1]) * _BYTES[match[2].lower()])


def mebibytes(text: str) -> int:
    """The MiB of a size, for settings that are whole MiB.

    Raises:
        ValueError: it is no size, or none of whole MiB.
    """
    count = byte_count(text)
    if count % _BYTES["m"]:
        raise ValueError(
            f"{text!r} is {count / _BYTES['m']:g} MiB, and whole MiB are needed: write e.g. 512m"
        )
    return count // _BYTES["m"]


def bytes_text(count: float) -> str:
    """A number of bytes for people: `97.7 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def about(seconds: float) -> str:
    """A duration for people, to the precision it can have: `about 40 s`, `about 12 min`, `about 3.5 h`."""
    if seconds < 90:
        return f"about {seconds:.0f} s"
    minutes = seconds / 60
    return f"about {minutes:.0f} min" if minutes < 90 else f"about {minutes / 60:.1f} h"


def of_flag(flag: str, convert: Callable[[S], T], text: S) -> T:
    """`convert(text)`, its ValueError turned into an InputError that names the flag."""
    try:
        return convert(text)
    except ValueError as error:
        raise InputError(f"{flag}: {error}") from None
