"""How long an action took: to its end, and to each milestone of its nodes; censored where it never came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from steelyard.results.actions import COMMAND, ActionTimes, MilestoneRow

NS = 1e9
FIRST = ("detected", "reassigned")
"""Of these a node's first counts: that it is still missed is told again when it is killed after it hung."""
JOINED = ("joined", "assigned")
"""The milestone from which on a node that was added does its share: of Cassandra's, of HBase's."""
LEFT = "left"
COMING = ("normal", "registered")
"""What is told first of a node that joins a cluster of others: of Cassandra's, of HBase's."""


@dataclass(frozen=True)
class Elapsed:
    """A time that was waited for.

    Attributes:
        seconds: it, or how long was waited in vain.
        reached: whether it came; otherwise the time is censored: longer than `seconds`.
    """

    seconds: float
    reached: bool = True


@dataclass(frozen=True)
class Passed:
    """A milestone of an action.

    Attributes:
        what: the milestone.
        node: by name; empty where it is of the whole system.
        seconds: since the action started.
    """

    what: str
    node: str
    seconds: float


def took(action: ActionTimes, run_end_ns: int) -> Elapsed:
    """From an action's start to its end: the scaling speed of Kuhlenkamp, Klems and Röss (2014, doi
    10.14778/2732977.2732995). One that ended otherwise than `done` is censored: at its limit, its failure or
    the run's end.

    Args:
        action: one that started.
        run_end_ns: when the phase ended, CLOCK_MONOTONIC.
    """
    assert action.started_ns is not None  # noqa: S101 - of those that started
    end_ns = run_end_ns if action.ended_ns is None else action.ended_ns
    return Elapsed((end_ns - action.started_ns) / NS, action.how == "done")


def took_all(
    actions: Sequence[ActionTimes], run_end_ns: int, planned: Sequence[ActionTimes] = ()
) -> Elapsed | None:
    """From the first start to the last end of several actions; None of none. Those that take back what others
    did are left out: what they bring is no scaling.

    Args:
        actions: those that started.
        run_end_ns: when the phase ended, CLOCK_MONOTONIC.
        planned: all of the timeline: the time is censored if one of them was not done, or never started.
    """
    scaling = [a for a in actions if not a.undo]
    if not scaling:
        return None
    first = min(a.started_ns or 0 for a in scaling)
    ends = [run_end_ns if a.ended_ns is None else a.ended_ns for a in scaling]
    done = all(a.how == "done" for a in (*scaling, *planned) if not a.undo)
    return Elapsed((max(ends) - first) / NS, done)


def passed(action: ActionTimes) -> tuple[Passed, ...]:
    """The milestones of an action in the order of time."""
    assert action.started_ns is not None  # noqa: S101 - of those that started
    return tuple(
        Passed(m.what, m.node, (m.t_ns - action.started_ns) / NS)
        for m in sorted(action.milestones, key=lambda m: m.t_ns)
    )


def until(actions: Sequence[ActionTimes], run_end_ns: int) -> dict[str, float]:
    """Milestone -> seconds from the first action's start until the last node passed it, or `detected` for the
    first time; none that a node did not pass which an action names, and another of whose nodes did.

    Args:
        actions: those that started.
        run_end_ns: when the phase ended, CLOCK_MONOTONIC; what was passed after it is not counted.
    """
    if not actions:
        return {}
    first = min(a.started_ns or 0 for a in actions)
    found: dict[str, float] = {}
    for row in _told_first(_milestones(actions, run_end_ns)):
        found[row.what] = max(found.get(row.what, 0.0), (row.t_ns - first) / NS)
    lacking = {what for action in actions for what in _lacking(action, run_end_ns)}
    return {what: seconds for what, seconds in found.items() if what not in lacking}


def _told_first(rows: Iterable[MilestoneRow]) -> Iterator[MilestoneRow]:
    """All in the order of time, but what was told of a node before and counts once."""
    seen: set[tuple[str, str]] = set()
    for row in sorted(rows, key=lambda row: row.t_ns):
        if row.what not in FIRST or (row.what, row.node) not in seen:
            yield row
        seen.add((row.what, row.node))


def _lacking(action: ActionTimes, run_end_ns: int) -> set[str]:
    """Milestones that some of an action's nodes passed, and not all."""
    nodes = {*action.nodes} or newcomers(action)
    passed_by: dict[str, set[str]] = {}
    for row in _milestones([action], run_end_ns):
        if row.node in nodes:
            passed_by.setdefault(row.what, set()).add(row.node)
    return {what for what, by in passed_by.items() if not nodes <= by}


def joined(actions: Sequence[ActionTimes], run_end_ns: int) -> Elapsed | None:
    """From the first `add`, or command that had nodes join, until the last of these serves its share; None
    where nothing was added.

    Censored when one of the nodes did not pass that milestone before the phase ended.
    """
    adding = [a for a in actions if a.do == "add" or (newcomers(a) and not a.undo)]
    if not adding:
        return None
    first = min(a.started_ns or 0 for a in adding)
    names = {node for a in adding for node in a.nodes or newcomers(a)}
    rows = [m for m in _milestones(adding, run_end_ns) if m.what in JOINED]
    if not rows or not names <= {m.node for m in rows}:
        return Elapsed((run_end_ns - first) / NS, reached=False)
    return Elapsed((max(m.t_ns for m in rows) - first) / NS)


def newcomers(action: ActionTimes) -> set[str]:
    """The nodes that joined, or began to, while a command changed a cluster of others."""
    told = action.milestones if action.do == COMMAND else ()
    return {m.node for m in told if m.what in COMING}


def _milestones(actions: Iterable[ActionTimes], run_end_ns: int) -> list[MilestoneRow]:
    """Those passed while the phase went on: nobody offered a load to a node that came later. Of a command
    only what became of nodes that came or left: others may just have got their first region."""
    return [m for a in actions for m in a.milestones if m.t_ns <= run_end_ns and _of_it(m, a)]


def _of_it(row: MilestoneRow, action: ActionTimes) -> bool:
    return action.do != COMMAND or row.what == LEFT or row.node in ("", *newcomers(action))
