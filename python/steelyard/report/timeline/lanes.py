"""The states of nodes over a phase, from actions and milestones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from steelyard.analysis.windows.milestones import COMING, JOINED, LEFT
from steelyard.report.acted import Acted, OneAction
from steelyard.results.actions import COMMAND

SERVES, ABSENT = "serves", "not there"
MEMBER = "belongs to it"
"""All that a cluster of others tells of a node that is not under way."""
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


def lanes(acted: Acted, nodes: Sequence[str], seconds: float, rest: str = SERVES) -> list[State]:
    """Each node's states in the order of time, leaving nothing out; nodes in the order given, then those that
    only actions name.

    Args:
        acted: what was done.
        nodes: those that were there, or are watched.
        seconds: of the phase.
        rest: what a node is to which nothing is done.
    """
    named = dict.fromkeys([*nodes, *(node for one in acted.actions for node in _acted_on(one))])
    return [state for node in named for state in _lane(node, acted, seconds, rest)]


def _acted_on(one: OneAction) -> list[str]:
    """The nodes it names, and of one that acts on all those that passed something."""
    return [*dict.fromkeys([*one.nodes, *(p.node for p in one.passed if p.node)])]


def _lane(node: str, acted: Acted, seconds: float, rest: str) -> Iterator[State]:
    own = [one for one in acted.actions if node in _acted_on(one) and one.start_s is not None]
    first = min(own, key=lambda one: one.start_s or 0.0, default=None)
    at, state = 0.0, ABSENT if first and _comes(node, first) else rest
    for moment, becomes in sorted(_changes(node, own, rest), key=lambda change: change[0]):
        if becomes == state or moment >= seconds:
            continue
        if moment > at:
            yield State(node, at, moment, state)
        at, state = max(moment, 0.0), becomes
    yield State(node, at, seconds, state)


def _comes(node: str, one: OneAction) -> bool:
    """Whether it is not there before."""
    told = next((passed.what for passed in one.passed if passed.node == node), "")
    return one.do == "add" or (one.do == COMMAND and told in COMING)


def _changes(node: str, actions: Sequence[OneAction], rest: str) -> Iterator[tuple[float, str]]:
    """(second, what the node becomes)."""
    for one in actions:
        start = one.start_s or 0.0
        if one.do == COMMAND:
            yield from ((start + p.seconds, _told(p.what, rest)) for p in one.passed if p.node == node)
        if one.do in DOING:
            yield start, DOING[one.do]
            own = (passed for passed in one.passed if passed.node == node)
            yield from ((start + p.seconds, SERVES if (one.do, p.what) in SERVING else p.what) for p in own)
        if one.took and one.took.reached and (one.do in DOING or one.do in ("thaw", "heal")):
            yield start + one.took.seconds, ENDS.get(one.do, SERVES)


def _told(what: str, rest: str) -> str:
    """What a node of a cluster of others is when it has passed a milestone."""
    return {LEFT: ABSENT, **dict.fromkeys(JOINED, rest)}.get(what, what)
