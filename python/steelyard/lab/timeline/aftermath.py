"""What comes of an action that has ended: what a node served that is gone is served again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.errors import SteelyardError
from steelyard.lab.timeline.perform import REGION_SERVER, Context, is_missed, members

LOSING = ("kill", "freeze", "partition", "power-loss")
"""After these nobody serves what their nodes served, until the others have noticed and taken it over."""
ASK_EVERY_S = 0.5
REASSIGNED = "reassigned"


def served_before(action: Any, nodes: Sequence[str], testbed: Any) -> int | None:
    """How many parts of the data are served before an action takes away who serves them.

    None where nothing is to be followed: of other actions, of a system in which replicas serve, of a node
    that the others miss already (what it served is being taken over), while parts are moved for another
    reason, and where nobody can tell.
    """
    if action.what not in LOSING or "reassign" not in testbed.capabilities:
        return None
    serving = {name for name, part in map(_parted, nodes) if part in ("", REGION_SERVER)} & {
        *members(testbed)
    }
    if not serving or any(is_missed(testbed, name) is not False for name in serving):
        return None
    return _served(testbed) or None


def follow(before: int, nodes: Sequence[str], context: Context) -> None:
    """Wait until as many parts are served as before, by others or by the nodes once they are back, and note
    it; returns without it when the run has ended."""
    while not context.cancelled.wait(ASK_EVERY_S):
        served = _served(context.testbed)
        if served is not None and served >= before:
            for node in dict.fromkeys(name for name, _ in map(_parted, nodes)):
                context.note(node, REASSIGNED)
            return


def _parted(node: str) -> tuple[str, str]:
    name, _, part = node.partition("/")
    return name, part


def _served(testbed: Any) -> int | None:
    """None while a server that is still counted does not answer, parts are moved, or no master tells."""
    try:
        return int(testbed.served())
    except (SteelyardError, OSError):
        return None
