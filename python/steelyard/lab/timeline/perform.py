"""What an action is to a testbed: which nodes it means, and which of the testbed's methods it calls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.errors import InfrastructureError, SteelyardError
from steelyard.hosts.cgroup import DiskRates
from steelyard.hosts.say import Say
from steelyard.lab.timeline.commands import Cancelled, last_line, run_command, until_it_succeeds
from steelyard.spec.triggers import Command
from steelyard.systems.changes import AddOptions, Note

ASK_EVERY_S = 0.25
REGION_SERVER = "regionserver"
"""The one server of a node without which the others miss it."""
LOGS = "actions"
"""Folder of a trial with what commands printed, `actions/ID.txt`."""


@dataclass(frozen=True)
class Context:
    """Where an action takes place.

    Attributes:
        testbed: the system; it has what the action needs, which was asked for before anything started.
        folder: the trial's folder.
        note: records a milestone.
        say: receives progress.
        cancelled: set when nobody waits for it any more.
    """

    testbed: Any
    folder: Path
    note: Note
    say: Say
    cancelled: threading.Event


How = Callable[[Any, Sequence[str], Context], int | None]
OfNode = Callable[[Any, Any, str, Say], object]
"""(testbed, action, node, say): what is done to one node."""


def nodes_of(action: Any, testbed: Any) -> tuple[str, ...]:
    """The nodes that an action means now.

    Raises:
        InfrastructureError: fewer nodes are in reserve, or part of the cluster, than it needs.
    """
    if action.what == "add":
        return _first(testbed.spares(), action.nodes, "in reserve")
    if action.what == "remove" and action.node is None:
        return _first(list(testbed.members())[::-1], action.nodes, "in the cluster")
    if action.what in ("run", "balance", "scale"):
        return ()
    return action.nodes_named or members(testbed)


def members(testbed: Any) -> tuple[str, ...]:
    """The nodes that are part of the cluster now."""
    if hasattr(testbed, "members"):
        return tuple(testbed.members())
    return tuple(target.name for target in testbed.targets())


def _first(names: Sequence[str], count: int, where: str) -> tuple[str, ...]:
    if len(names) < count:
        raise InfrastructureError(f"{count} nodes are wanted, and {len(names)} are {where}")
    return tuple(names[:count])


def perform(action: Any, nodes: Sequence[str], context: Context) -> int | None:
    """Do it; returns when the system says that it is done, with the bytes that were moved if it knows.

    Raises:
        SteelyardError: it cannot be done.
        Cancelled: nobody waits for it any more.
    """
    moved = HOW[action.what](action, nodes, context)
    if isinstance(action.done, Command):
        log = context.folder / LOGS / f"{action.id}.done.txt"
        until_it_succeeds(action.done.command, action.done.every, log, context.cancelled)
    return moved


def _add(action: Any, nodes: Sequence[str], context: Context) -> int | None:
    options = AddOptions(
        bootstrap=action.bootstrap,
        balance=action.balance,
        stream_mbit=action.stream_mbit,
        limited=action.limited,
    )
    moved: int | None = context.testbed.add(nodes, options, context.note, context.say)
    for node in _each_in_turn(nodes if action.local else (), context):
        moved = (moved or 0) + context.testbed.localize(node, context.say)
        context.note(node, "local")
    return moved


def _remove(_action: Any, nodes: Sequence[str], context: Context) -> int | None:
    moved: int | None = context.testbed.remove(nodes, context.note, context.say)
    return moved


def _each_in_turn(nodes: Sequence[str], context: Context) -> Iterator[str]:
    """The nodes, as long as somebody waits for the action."""
    for node in nodes:
        if context.cancelled.is_set():
            raise Cancelled
        yield node


def _noticed(call: OfNode, milestone: str, *, missed: bool) -> How:
    """What makes a node unable to answer, or able again: done when the others have noticed."""

    def how(action: Any, nodes: Sequence[str], context: Context) -> None:
        for node in _each_in_turn(nodes, context):
            call(context.testbed, action, node, context.say)
            context.note(node, milestone)
            if _others_noticed(node, context, missed=missed):
                context.note(node.partition("/")[0], "detected" if missed else "serves")

    return how


def _others_noticed(server: str, context: Context, *, missed: bool) -> bool:
    """Wait until the others have noticed that a node is gone or there again; False where nobody can tell."""
    node, _, part = server.partition("/")
    known = members(context.testbed)  # a node of masters is none of them
    can_tell = "detect" in context.testbed.capabilities and node in known and len(known) > 1
    if not can_tell or part not in ("", REGION_SERVER):
        return False
    while is_missed(context.testbed, node) is not missed:
        if not context.testbed.serves():
            return False
        if not missed:
            _check_alive(node, context.testbed)
        if context.cancelled.wait(ASK_EVERY_S):
            raise Cancelled
    return True


def _check_alive(node: str, testbed: Any) -> None:
    """A server that gave up while nobody heard it is not waited for."""
    for death in testbed.dead():
        if death.server in (node, f"{node}/{REGION_SERVER}"):
            raise InfrastructureError(f"{death.server} did not come back: {death.why}")


def is_missed(testbed: Any, node: str) -> bool | None:
    """Whether the others miss it; None where they cannot tell just now."""
    try:
        return bool(testbed.missed(node))
    except (SteelyardError, OSError):
        return None


def _rates(action: Any) -> DiskRates:
    return DiskRates(action.read_mib, action.write_mib, action.read_iops, action.write_iops)


def _resize(action: Any, nodes: Sequence[str], context: Context) -> None:
    for node in _each_in_turn(nodes, context):
        context.testbed.resize(node, action.cpu or None)
        context.note(node, "resized")
        if action.restart:
            _start_again(node, context)


def _restart(_action: Any, nodes: Sequence[str], context: Context) -> None:
    for node in _each_in_turn(nodes, context):
        _start_again(node, context)


def _start_again(node: str, context: Context) -> None:
    """Restart a node; it serves when it answers and, where they can tell, the others count it again."""
    context.testbed.restart(node, context.say)
    _others_noticed(node, context, missed=False)
    context.note(node, "serves")


def _balance(_action: Any, _nodes: Sequence[str], context: Context) -> None:
    context.say(f"{context.testbed.balance()} parts were moved")
    context.note("", "balanced")


def _power_loss(_action: Any, nodes: Sequence[str], context: Context) -> None:
    context.testbed.power_loss(nodes, context.note, context.say)


def _upgrade(action: Any, _nodes: Sequence[str], context: Context) -> None:
    bed = context.testbed
    for name in _each_in_turn(bed.upgrade_order(), context):
        bed.upgrade(name, action.version, context.note, context.say)
    for node in _each_in_turn(members(bed) if action.rewrite else (), context):
        bed.rewrite(node)
        context.note(node, "rewritten")


def _run(action: Any, _nodes: Sequence[str], context: Context) -> None:
    log = context.folder / LOGS / f"{action.id}.txt"
    status = run_command(action.command, log, context.cancelled)
    if status:
        said = last_line(log)
        raise InfrastructureError(
            f"{action.command[0]} ended with status {status}" + (f": {said}" if said else "")
        )
    context.note("", "told")


def _scale(_action: Any, _nodes: Sequence[str], context: Context) -> None:
    """A controller has its turn as long as the run goes on; what it decides are actions of their own."""
    context.cancelled.wait()
    raise Cancelled


def _each(call: OfNode, milestone: str) -> How:
    """One node after the other."""

    def how(action: Any, nodes: Sequence[str], context: Context) -> None:
        for node in _each_in_turn(nodes, context):
            call(context.testbed, action, node, context.say)
            context.note(node, milestone)

    return how


HOW: Mapping[str, How] = {
    "add": _add,
    "remove": _remove,
    "kill": _noticed(lambda bed, _, node, __: bed.kill(node), "down", missed=True),
    "freeze": _noticed(lambda bed, _, node, __: bed.freeze(node), "frozen", missed=True),
    "thaw": _noticed(lambda bed, _, node, __: bed.thaw(node), "thawed", missed=False),
    "restart": _restart,
    "resize": _resize,
    "partition": _noticed(lambda bed, _, node, __: bed.partition(node), "cut", missed=True),
    "heal": _noticed(lambda bed, _, node, __: bed.heal(node), "healed", missed=False),
    "throttle": _each(lambda bed, a, node, __: bed.throttle(node, _rates(a)), "throttled"),
    "stream-limit": _each(lambda bed, a, node, __: bed.limit_streams(node, a.mbit), "limited"),
    "compaction-limit": _each(lambda bed, a, node, __: bed.limit_compactions(node, a.mbit), "limited"),
    "balance": _balance,
    "compact": _each(lambda bed, _, node, __: bed.compact(node), "compacted"),
    "flush": _each(lambda bed, _, node, __: bed.flush(node), "flushed"),
    "cleanup": _each(lambda bed, _, node, __: bed.cleanup(node), "cleaned"),
    "repair": _each(lambda bed, _, node, __: bed.repair(node), "repaired"),
    "power-loss": _power_loss,
    "upgrade": _upgrade,
    "run": _run,
    "scale": _scale,
}  # fmt: skip
"""What `do` says -> what is done."""
