"""Timelines of a study: lists of actions by name, what they need, and what of them cannot be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field

from steelyard.errors import InputError, nearest
from steelyard.spec.action_base import ActionBase
from steelyard.spec.actions import Action, Add, Remove
from steelyard.spec.base import LISTED, SystemSettings
from steelyard.spec.lines import Place
from steelyard.spec.load import NONE
from steelyard.spec.scale import CPU_SHARE, Scale
from steelyard.spec.triggers import LEAST_STEADY_S, STEADY, Figure

if TYPE_CHECKING:
    from steelyard.spec.models import Point


def _consistent(actions: tuple[Any, ...]) -> tuple[Any, ...]:
    """Ids are told apart, also from those that a controller gives (`ID-1`); `after` names what stands before,
    and `undo` has something to take back."""
    before: list[str] = []
    for action in actions:
        if action.id in before:
            raise ValueError(f"two actions are called '{action.id}'")
        if action.id == STEADY:
            raise ValueError(f"'{STEADY}' is a condition: call the action otherwise")
        if action.after not in (None, STEADY, *before):
            raise ValueError(
                f"after = '{action.after}': no action before '{action.id}' is called so"
                f"{nearest(action.after, before)}"
            )
        if action.after in {one.id for one in _controllers(actions)}:
            raise ValueError(f"after = '{action.after}': a controller goes on until the run ends")
        if action.undo and all(known.undo for known in actions[: len(before)]):
            raise ValueError(
                f"'{action.id}' has undo = true, and no action before it that it could take back"
            )
        before.append(action.id)
    if sum(isinstance(action, Scale | Add | Remove) for action in actions) > 1 and _controllers(actions):
        raise ValueError("a controller decides alone how many nodes there are: leave the others out")
    for controller in _controllers(actions):
        for id_ in before:
            if re.fullmatch(rf"{re.escape(controller.id)}-\d+", id_):
                raise ValueError(
                    f"'{id_}' is what '{controller.id}' calls one of its changes: call it otherwise"
                )
    return actions


def _controllers(actions: Sequence[Any]) -> list[Scale]:
    return [action for action in actions if isinstance(action, Scale)]


Timeline = Annotated[tuple[Action, ...], LISTED, Field(min_length=1), AfterValidator(_consistent)]
Timelines = dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")], Timeline]
"""NAME of `[[timelines.NAME]]` -> its actions, in the order of the file."""


def timeline_of(name: str, timelines: Mapping[str, tuple[Any, ...]], origin: str = "") -> tuple[Any, ...]:
    """The actions of a timeline by its name.

    Raises:
        InputError: there is none of that name.
    """
    if name == NONE:
        return ()
    if name not in timelines:
        known = [NONE, *timelines]
        said = f"{origin}: " if origin else ""
        raise InputError(
            f"{said}timeline '{name}': there is no [[timelines.{name}]]{nearest(name, known)}",
            hint=f"known: {', '.join(known)}",
        )
    return timelines[name]


def spare_nodes(timelines: Mapping[str, tuple[Any, ...]]) -> int:
    """How many nodes must be reserved: the most that any timeline has joined at once.

    Nodes that have left are spare again; they count only where the one who adds has waited for it.
    """
    return max((_spare(actions) for actions in timelines.values()), default=0)


def _spare(actions: Sequence[ActionBase]) -> int:
    by_id = {action.id: action for action in actions}
    most = max((action.most - action.least for action in _controllers(actions)), default=0)
    for place, action in enumerate(actions):
        if isinstance(action, Add):
            joined = sum(a.nodes for a in actions[: place + 1] if isinstance(a, Add))
            left = sum(a.nodes for a in _awaited(action, by_id) if isinstance(a, Remove))
            most = max(most, joined - left)
    return most


def _awaited(action: ActionBase, by_id: Mapping[str, ActionBase]) -> Iterator[ActionBase]:
    """The actions that have ended before it begins."""
    while action.after in by_id:
        action = by_id[str(action.after)]
        yield action


def check_timelines(
    timelines: Mapping[str, tuple[Any, ...]], points: Sequence[Point], origins: Mapping[Place, str]
) -> None:
    """Refuse actions that no point's system or run can have: unknown nodes, times beyond the run.

    Raises:
        InputError: a line for each, with where it was said.
    """
    faults = []
    if NONE in timelines:
        faults.append(f"'{NONE}' is the timeline in which nothing is done: call this one otherwise")
    asked = [point for point in points if point.load.after_timeline_s is not None]
    if asked and not any(point.timeline for point in asked):
        said = _nearest_origin(("load", "after_timeline_s"), origins) or "load.after_timeline_s"
        faults.append(f"{said}: no run has a timeline, so that none ends after its timeline's end")
    for point in points:
        for number, action in enumerate(point.timeline):
            place: Place = ("timelines", point.load.timeline, number)
            said = _nearest_origin(place, origins)
            told = (
                said if said.startswith("--") else f"{said}: {point.load.timeline}.{action.id}".lstrip(": ")
            )
            faults += [
                f"{told}: {fault}"
                for fault in (*_nodes(action, point.system), *_times(action, point), *_sizes(action, point))
            ]
    if faults:
        raise InputError("\n".join(dict.fromkeys(faults)))


def _nearest_origin(place: Place, origins: Mapping[Place, str]) -> str:
    inside = (said for length in range(len(place), 0, -1) if (said := origins.get(place[:length])))
    return next(inside, "")


def _nodes(action: ActionBase, system: SystemSettings) -> Iterator[str]:
    """Nodes that it names and that the system does not have; of one whose nodes are not ours to name nothing
    can be asked, and what it cannot do is told elsewhere."""
    figures = [one.node for one in (action.when, action.done) if isinstance(one, Figure) and one.node]
    known = system.node_names
    for name in (*(action.nodes_named if known else ()), *figures):
        node = name.partition("/")[0]
        if node not in known:
            has = f"; it has {', '.join(known)}" if known else " that we know by name"
            yield f"no node '{node}' in this system{nearest(node, known)}{has}"


def _sizes(action: ActionBase, point: Point) -> Iterator[str]:
    """A controller that does not know what its nodes may use, or whose bounds the cluster is not within, or
    whose end is waited for."""
    if not isinstance(action, Scale):
        return
    if point.load.after_timeline_s is not None:
        yield "a controller goes on until the run ends: leave load.after_timeline_s out"
    nodes = getattr(point.system, "nodes", None)
    if isinstance(nodes, int) and not action.least <= nodes <= action.most:
        yield f"{nodes} nodes are not between least = {action.least} and most = {action.most}"
    limits = getattr(point.system, "limits", None)
    if action.metric == CPU_SHARE and limits is not None and limits.cpu is None:
        yield f"{CPU_SHARE} is of what nodes may use, and they have no quota: system.limits.cpu"


def _times(action: ActionBase, point: Point) -> Iterator[str]:
    """Conditions that cannot come true before the run ends."""
    if action.after == STEADY and point.load.curve:
        yield "along a curve nothing is meant to be steady: say at, or after another action"
    least = _soonest(action, {one.id: one for one in point.timeline})
    ends = point.load.duration_s
    if ends is not None and least >= ends:
        why = f"; steady state is told from {LEAST_STEADY_S} s on" if action.after == STEADY else ""
        yield f"it begins at {least:g} s at the soonest, and the run ends after {ends:g} s{why}"


def _soonest(action: ActionBase, by_id: Mapping[str, ActionBase]) -> float:
    """Seconds of the run before which it cannot begin, if all before it took no time."""
    before = by_id.get(action.after or "")
    after = _soonest(before, by_id) if before else LEAST_STEADY_S if action.after == STEADY else 0.0
    return max(action.at or 0.0, after, action.when.for_s if action.when else 0.0) + action.wait


def schedule(name: str, actions: Sequence[ActionBase]) -> list[str]:
    """What will be done when, a line for each action, for people."""
    return [
        f"timeline {name}: {action.begins}: {action.id}: {action.words}"
        + ("; takes back what was done" if action.undo else "")
        + (f"; {action.ends}" if action.ends else "")
        + f"; at most {action.limit:g} s"
        for action in actions
    ]
