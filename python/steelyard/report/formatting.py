"""Numbers and foreign text as words: three digits that count, units, and nothing a terminal could obey."""

from __future__ import annotations

import math
import re
from typing import Any

NONE = "-"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
MS, US = 1e6, 1e3


def clean(value: Any) -> str:
    """Text from a file or a server without control characters, which a terminal would obey."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(value))


def digits(value: float | None, count: int = 3) -> str:
    """A number with `count` digits that count and no exponent: 0.0123, 1.23, 12.3, 1,234."""
    if value is None or not math.isfinite(value):
        return NONE
    if value == 0:
        return "0"
    places = max(count - 1 - math.floor(math.log10(abs(value))), 0)
    return f"{value:,.{min(places, 6)}f}"


def whole(value: float | None) -> str:
    """A count: 12,345."""
    return NONE if value is None else f"{value:,.0f}"


def milliseconds(ns: float | None) -> str:
    """Nanoseconds as milliseconds, without the unit."""
    return NONE if ns is None else digits(ns / MS)


def duration(ns: float | None) -> str:
    """Nanoseconds with the unit that fits: 850 ns, 12.3 us, 4.56 ms, 1.20 s."""
    if ns is None:
        return NONE
    for unit, size in (("s", 1e9), ("ms", MS), ("us", US)):
        if ns >= size:
            return f"{digits(ns / size)} {unit}"
    return f"{ns:.0f} ns"


def size(number: float | None) -> str:
    """Bytes with the unit that fits: 12.3 MiB."""
    if number is None:
        return NONE
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(number) < 1024:
            return f"{digits(number)} {unit}"
        number /= 1024
    return f"{digits(number)} TiB"


def share(value: float | None) -> str:
    """A share as percent."""
    return NONE if value is None else f"{digits(value * 100, 2)} %"


def plain(value: Any) -> str:
    """A setting's value: lists and tables in one line, nothing as `-`."""
    if value is None or value == "":
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return clean(", ".join(f"{k} = {plain(v)}" for k, v in value.items())) or NONE
    if isinstance(value, (list, tuple)):
        return clean(", ".join(plain(v) for v in value)) or NONE
    return clean(value)
