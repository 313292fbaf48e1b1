"""The states of nodes over a phase, from actions and milestones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from steelyard.report.acted import Acted, OneAction

SERVES, ABSENT = "serves", "not there"
DOING = {"add": "starting", "remove": "leaving", "kill": "down", "freeze": "frozen", "partition": "cut off",
         "restart": "restarting", "resize": "resizing",
         "power-loss": "without power", "upgrade": SERVES}  # fmt: skip
"""What an action makes of its nodes as soon as it starts; others leave them serving. An upgrade comes to one
node after the other: what each is then, its milestones say."""
SERVING = (("upgrade", "assigned"), ("upgrade", "rewritten"))
"""Milestones of a node that serves already: it has its regions back, or its files in another format."""
ENDS = {"remove": ABSENT, "kill": "down", "freeze": "frozen", "partition": "cut off"}
"""What a node is when such an action is done; after others it serves."""


@dataclass(frozen=True)
class State:
    """What a node was from one second of a phase to another."""

    node: str
    first_s: float
    end_s: float
    state: str


def lanes(acted: Acted, nodes: Sequence[str], seconds: float) -> list[State]:
    """Each node's states in the order of time, leaving nothing out; nodes in the order given, then those that
    only actions name.

    Args:
        acted: what was done.
        nodes: those that were there, or are watched.
        seconds: of the phase.
    """
    named = dict.fromkeys([*nodes, *(node for one in acted.actions for node in _acted_on(one))])
    return [state for node in named for state in _lane(node, acted, seconds)]


def _acted_on(one: OneAction) -> list[str]:
    """The nodes it names, and of one that acts on all those that passed something."""
    return [*dict.fromkeys([*one.nodes, *(p.node for p in one.passed if p.node)])]


def _lane(node: str, acted: Acted, seconds: float) -> Iterator[State]:
    own = [one for one in acted.actions if node in _acted_on(one) and one.start_s is not None]
    first = min(own, key=lambda one: one.start_s or 0.0, default=None)
    at, state = 0.0, ABSENT if first and first.do == "add" else SERVES
    for moment, becomes in sorted(_changes(node, own), key=lambda change: change[0]):
        if becomes == state or moment >= seconds:
            continue
        if moment > at:
            yield State(node, at, moment, state)
        at, state = max(moment, 0.0), becomes
    yield State(node, at, seconds, state)


def _changes(node: str, actions: Sequence[OneAction]) -> Iterator[tuple[float, str]]:
    """(second, what the node becomes)."""
    for one in actions:
        start = one.start_s or 0.0
        if one.do in DOING:
            yield start, DOING[one.do]
            own = (passed for passed in one.passed if passed.node == node)
            yield from ((start + p.seconds, SERVES if (one.do, p.what) in SERVING else p.what) for p in own)
        if one.took and one.took.reached and (one.do in DOING or one.do in ("thaw", "heal")):
            yield start + one.took.seconds, ENDS.get(one.do, SERVES)
