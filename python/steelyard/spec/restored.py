"""Whether a timeline leaves a cluster as it found it, so that further trials may share it.

This is told from the plan; what has happened all the same is looked at after each trial (`lab.intact`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.spec.action_base import ALL, ActionBase
from steelyard.spec.base import SystemSettings

DOWN, STILL, CUT, SLOW, SIZED = "killed", "frozen", "cut off", "throttled", "resized"
TAKES = {"kill": DOWN, "freeze": STILL, "partition": CUT}
GIVES = {"restart": (DOWN, STILL), "thaw": (STILL,), "heal": (CUT,)}
"""Action -> what of its node is over then."""


def unrestored(actions: Sequence[ActionBase], system: SystemSettings) -> str:
    """The first change that a timeline does not take back, in words; empty where it takes back all.

    Nodes that join or leave, limits of which nobody knows what they were, and lost power, which takes what
    the system itself had not synced, cannot be taken back. A change is taken back by what stands after it.

    Args:
        actions: in the order of the file.
        system: whose nodes' limits are known.
    """
    open_: dict[tuple[str, str], str] = {}
    for action in actions:
        node = str(getattr(action, "node", None) or ALL)
        if action.what in TAKES:
            open_[TAKES[action.what], node] = action.words
        elif action.what in GIVES:
            open_ = {key: said for key, said in open_.items() if not _over(key, GIVES[action.what], node)}
        elif action.what in ("throttle", "resize"):
            state = SLOW if action.what == "throttle" else SIZED
            open_ = {key: said for key, said in open_.items() if not _over(key, (state,), node)}
            if not _as_given(action, system):
                open_[state, node] = action.words
        elif action.changes:
            return action.words
    return next(iter(open_.values()), "")


def _over(change: tuple[str, str], states: Sequence[str], node: str) -> bool:
    """Whether a change is taken back on a node (`all`: on every one) or on all servers of one."""
    state, changed = change
    return state in states and node in (ALL, changed, changed.partition("/")[0])


def _as_given(action: Any, system: Any) -> bool:
    """Whether a node has its first limits after it."""
    limits = getattr(system, "limits", None)
    if limits is None:
        return False
    if action.what == "resize":
        return bool((action.cpu or None) == limits.cpu)
    first = (limits.disk_read_mib_per_s, limits.disk_write_mib_per_s, limits.disk_read_iops)
    now = (action.read_mib, action.write_mib, action.read_iops, action.write_iops)
    return not any((*now, *first, limits.disk_write_iops))
