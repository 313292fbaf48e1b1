"""Whether a cluster is as it was before a trial's actions, so that the next trial may have it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.errors import SteelyardError
from steelyard.lab.timeline.perform import members

COUNTED_LIMIT_S = 30.0
"""A node that serves again is soon counted by all others; one that is not by then is not waited for."""
POLL_S = 0.25


@dataclass(frozen=True)
class Shape:
    """What actions change of a cluster.

    Attributes:
        members: the nodes that are part of it.
        cpu: node -> its CPU quota, in cores.
    """

    members: tuple[str, ...]
    cpu: Mapping[str, float | None]

    @classmethod
    def of(cls, testbed: Any) -> Shape:
        """That of a cluster now."""
        return cls(members(testbed), dict(getattr(testbed, "cpu", {})))


def changed(testbed: Any, before: Shape, limit_s: float = COUNTED_LIMIT_S) -> str:
    """What is not as it was, in words; empty where all is: the same nodes with the same quotas, every server
    alive, and none that the others miss.

    Args:
        testbed: the cluster.
        before: what it was.
        limit_s: how long nodes are waited for that others still miss.
    """
    now = Shape.of(testbed)
    if now.members != before.members:
        return f"its nodes are {', '.join(now.members)}"
    if now.cpu != before.cpu:
        return "CPU quotas are others"
    until = time.monotonic() + limit_s
    while missed := _missed(testbed, now):
        if time.monotonic() > until:
            return missed
        time.sleep(POLL_S)
    return "".join(f"{death.server} is dead: {death.why}" for death in testbed.dead()[:1])


def _missed(testbed: Any, shape: Shape) -> str:
    if "detect" not in testbed.capabilities:
        return ""
    try:
        return "".join([f"the others miss {name}" for name in shape.members if testbed.missed(name)][:1])
    except (SteelyardError, OSError) as error:
        return f"whether nodes are missed cannot be told: {error}"
