"""What timelines need a cluster to have ready before it starts: nodes to join, versions to come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.spec.actions import Upgrade
from steelyard.spec.models import Point
from steelyard.spec.timeline import spare_nodes


def reserving(points: Sequence[Point]) -> list[Point]:
    """The points, all with as many nodes in reserve as any timeline of theirs adds, and with the versions
    that any brings a cluster of their kind to: so their clusters are alike."""
    spare = spare_nodes({point.load.timeline: point.timeline for point in points})
    return [point.model_copy(update={"system": _reserving(point.system, spare, points)}) for point in points]


def _reserving(system: Any, spare: int, points: Sequence[Point]) -> Any:
    if not hasattr(system, "spare"):
        return system
    alike = {point.load.timeline: point.timeline for point in points if point.system.kind == system.kind}
    upgrades = tuple(dict.fromkeys((*system.upgrades, *upgrades_of(alike))))
    return system.model_copy(update={"spare": max(system.spare, spare), "upgrades": upgrades})


def upgrades_of(timelines: Mapping[str, tuple[Any, ...]]) -> tuple[str, ...]:
    """The versions that any timeline brings its cluster to, as they are said, in the order of the file."""
    actions = (action for timeline in timelines.values() for action in timeline)
    return tuple(dict.fromkeys(action.version for action in actions if isinstance(action, Upgrade)))
