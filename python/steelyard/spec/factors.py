"""What a factor may be called: any setting's path, or a short name of the usual ones; what its levels mean.

A short name may stand for different settings in different kinds of systems; where it stands for none, that is
an error that says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steelyard.errors import InputError, nearest
from steelyard.spec.draft import Draft, place_of
from steelyard.spec.kind import declarations, declared
from steelyard.spec.units import byte_count, mebibytes, seconds

MAX = "max"
"""Level of a target rate: no target, each client sends as fast as it is answered."""

Paths = tuple[str, ...]

COMMON: dict[str, Paths] = {
    "clients": ("load.clients",),
    "target": ("load.target",),
    "in-flight": ("load.in_flight",),
    "operations": ("load.operations",),
    "duration": ("load.duration_s",),
    "engines": ("load.engines",),
    "timeline": ("load.timeline",),
    "workload": ("workload.base",),
    "records": ("workload.records",),
    "data-size": ("workload.data-size",),
    "fields": ("workload.fields.count",),
    "field-length": ("workload.fields.length",),
    "distribution": ("workload.request.kind",),
    "theta": ("workload.request.theta",),
    "version": ("system.version",),
    "nodes": ("system.nodes",),
    "cpu": ("system.limits.cpu",),
    "memory": ("system.limits.memory_mib",),
    "connections": ("system.access.connections",),
}
"""Short name -> the settings it stands for in every kind of system; each kind's record has further ones."""

ROOTS = ("system", "workload", "load")


def settings_of(factor: str, kind: str | None, origin: str) -> Paths:
    """The settings a factor varies in a system of that kind.

    Raises:
        InputError: no setting is called so, or it does not apply to that kind.
    """
    if factor.partition(".")[0] in ROOTS and "." in factor:
        return (factor,)
    if meant := COMMON.get(factor) or declared(kind or "").short_names.get(factor):
        return meant
    known = short_names()
    if factor not in known:
        raise InputError(
            f"{origin}: unknown factor '{factor}'{nearest(factor, known)}",
            hint='a factor is a setting\'s path such as "load.clients", or one of: ' + ", ".join(known),
        )
    goes = [name for name, record in declarations().items() if factor in record.short_names]
    raise InputError(
        f"{origin}: factor '{factor}' does not apply to system of kind '{kind}'; it goes with "
        f"{', '.join(goes)} (say which systems: {{ levels = [...], only = [...] }})"
    )


def short_names() -> list[str]:
    """Every short name, of all kinds of systems."""
    own = (name for record in declarations().values() for name in record.short_names)
    return list(dict.fromkeys([*COMMON, *own]))


def put_level(draft: Draft, path: str, level: Any, origin: str) -> None:
    """Set one setting to a factor's level.

    Raises:
        InputError: the level is no size, duration ...
    """
    place = place_of(path)
    if path == "load.target" and level == MAX:
        draft.drop(place)
    elif path == "workload.data-size":
        draft.put(("workload", "records"), _records(draft, level, origin), origin)
    elif path == "workload.request.kind":
        if draft.get(place) != level:  # another kind has other settings
            compat = draft.get((*place[:-1], "compat"))
            draft.put(place[:-1], {"kind": level} | ({"compat": compat} if compat else {}), origin)
    else:
        draft.put(place, _value(path, level, origin), origin)
        if isinstance(level, float):
            draft.raw[place] = str(level)  # a version may look like a number


def _value(path: str, level: Any, origin: str) -> Any:
    if path in ("workload.fields.length", "workload.scan_length") and isinstance(level, int):
        return {"kind": "constant", "length": level}
    if isinstance(level, str):
        for ending, convert in UNITS.items():
            if path.endswith(ending):
                return _converted(convert, level, origin)
    return level


UNITS: dict[str, Callable[[str], Any]] = {"_mib": mebibytes, "_s": seconds}


def _converted(convert: Callable[[str], Any], level: str, origin: str) -> Any:
    try:
        return convert(level)
    except ValueError as error:
        raise InputError(f"{origin}: {error}") from None


def _records(draft: Draft, level: Any, origin: str) -> int:
    """So many records that their fields hold `level` bytes together, one replica."""
    if not isinstance(level, str):
        raise InputError(f"{origin}: data-size = {level!r}: expected a size such as '100m'")
    count = draft.get(("workload", "fields", "count")) or 10
    length = draft.get(("workload", "fields", "length", "length")) or 100
    kind = draft.get(("workload", "fields", "length", "kind")) or "constant"
    if kind != "constant":
        raise InputError(f"{origin}: data-size needs fields of constant length, not {kind}")
    size: int = _converted(byte_count, level, origin)
    return max(1, round(size / (int(count) * int(length))))
