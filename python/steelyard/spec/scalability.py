"""Whether the points of a study change what its type of scalability benchmark changes.

The types are those of Kuhlenkamp et al. 2014, 3. Points of one system and mix of operations are compared.
Their capacity is their nodes with their limits and what is done to them in the run, their load the records,
the clients or operations in flight, and the rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.errors import InputError
from steelyard.spec.highest import ShareOf
from steelyard.spec.models import Point, Scalability, Study

ROUNDED = 0.02
"""Shares of a rate or of records are rounded: so far from proportion is in proportion."""
WORDS = {
    "SB1": "changes load on the same capacity",
    "SB2": "changes capacity under the same load",
    "SB3": "changes capacity and load in proportion",
}


def check_scalability(study: Study) -> None:
    """Refuse a study whose points do not do what its `scalability` says.

    Raises:
        InputError: with the points that are at fault.
    """
    kind = study.scalability
    if kind is None:
        return
    faults = [fault for line in _lines(study.cells) if (fault := _fault(kind, line))]
    if faults:
        raise InputError(f"scalability = '{kind}' {WORDS[kind]}, but {faults[0]}", hint=f"known: {_known()}")


def _known() -> str:
    return "; ".join(f"{kind} {words}" for kind, words in WORDS.items())


def _lines(points: Sequence[Point]) -> list[list[Point]]:
    """Points that are compared; one by itself, as for a trial of a study, is of any type."""
    found: dict[str, list[Point]] = {}
    for point in points:
        mix = point.workload.mix.model_dump_json()
        found.setdefault(f"{point.system_name} {mix}", []).append(point)
    return [line for line in found.values() if len(line) > 1]


def _fault(kind: Scalability, line: Sequence[Point]) -> str:
    capacities, loads = {_capacity(p): p for p in line}, {_load(p): p for p in line}
    for what, found, changes in (("capacity", capacities, kind != "SB1"), ("load", loads, kind != "SB2")):
        if changes and len(found) == 1:
            return f"{what} is the same at all points ({line[0].label})"
        if not changes and len(found) > 1:
            return f"{what} differs between {' and '.join(p.label for p in list(found.values())[:2])}"
    if kind == "SB3":
        first = line[0]
        apart = (p for p in line if not _in_proportion(first, p))
        return next((f"not from {first.label} to {p.label}" for p in apart), "")
    return ""


def _capacity(point: Point) -> tuple[int, str, str]:
    limits = getattr(point.system, "limits", None)
    return _nodes(point), limits.model_dump_json() if limits else "", point.load.timeline


def _nodes(point: Point) -> int:
    return int(getattr(point.system, "nodes", 0) or len(getattr(point.system, "hosts", ())) or 1)


def _load(point: Point) -> tuple[Any, ...]:
    target = point.load.target
    share = (target.of, target.share) if isinstance(target, ShareOf) else None
    return (*_sizes(point), share)


def _sizes(point: Point) -> tuple[float, ...]:
    """Records, clients or operations in flight, and the rate where it is a number."""
    rate = point.load.target if isinstance(point.load.target, float) else 0.0
    return float(point.workload.records), float(point.load.cap), rate


def _in_proportion(one: Point, other: Point) -> bool:
    times = _cores(other) / _cores(one)
    pairs = zip(_sizes(one), _sizes(other), strict=True)
    return all(abs(b - a * times) <= ROUNDED * a * times for a, b in pairs)


def _cores(point: Point) -> float:
    limits = getattr(point.system, "limits", None)
    return _nodes(point) * float((limits.cpu if limits else None) or 1.0)
