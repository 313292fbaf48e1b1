"""Carries a timeline out beside the run: actions on threads of their own, told by the phase's loop.

Only the loop's thread writes: action threads put what happened, with its time, into a queue that each turn of
the loop empties. So actions.ndjson, the manifest and the engines' marks are in one order.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from steelyard.analysis.windows.milestones import LEFT
from steelyard.engine.session import Event
from steelyard.errors import SteelyardError
from steelyard.hosts.host import Watch
from steelyard.lab.progress import Show
from steelyard.lab.timeline.action_state import ActionState, Row
from steelyard.lab.timeline.aftermath import follow, served_before
from steelyard.lab.timeline.commands import Cancelled
from steelyard.lab.timeline.conditions import Trigger
from steelyard.lab.timeline.figures import Key, NodeFigures, Second, Seconds
from steelyard.lab.timeline.perform import Context, nodes_of, perform
from steelyard.lab.timeline.roll_call import News, RollCall
from steelyard.lab.timeline.scaling import Scaling
from steelyard.results.actions import CONTROLLER, ActionLog, ActionRow
from steelyard.results.manifest import Manifest
from steelyard.spec.triggers import STEADY
from steelyard.systems.changes import CountsMembers

ROLL_ENDS_S = 3.0
"""How long the end of a question who is there is waited for at least: the next trial asks anew."""
IDLE_S, BUSY_S = 0.25, 0.05
"""Longest wait for the loop's next turn: while nothing is under way, and while something is."""

Told = tuple[str, str, tuple[Any, ...]]
"""(id of the action, method of its state, arguments), or ("", "say", (line,))."""


class Director:
    """Carries out the timeline of one run; an observer of that phase.

    Args:
        actions: the timeline.
        testbed: the system; it has what the actions need.
        folder: the trial's folder, which receives actions.ndjson.
        manifest: receives events, and a warning for what was not done.
        show: receives lines.
        watch: tells figures of nodes, and is told which nodes there are.
        paced: whether the run offers a rate.
        rest_s: the run is long enough so many seconds after the last action has ended; None = it goes on.
    """

    def __init__(
        self, actions: Sequence[Any], *, testbed: Any, folder: Path, manifest: Manifest, show: Show,
        watch: Watch, paced: bool, rest_s: float | None = None,
    ) -> None:  # fmt: skip
        self._actions, self._testbed, self._folder = actions, testbed, folder
        self._manifest, self._show, self._watch, self._paced = manifest, show, watch, paced
        self._rest_s, self._all_ended_ns = rest_s, 0
        self._log = ActionLog(folder)
        self._told: queue.SimpleQueue[Told] = queue.SimpleQueue()
        self._cancelled = threading.Event()
        self._threads: dict[str, threading.Thread] = {}
        self._states: list[ActionState] = []
        self._scalings: dict[str, Scaling] = {}
        self._figures = NodeFigures(watch.latest)
        self._targets: Sequence[Any] = ()
        self._roll = RollCall(testbed) if isinstance(testbed, CountsMembers) else None
        self._brought: dict[str, ActionState] = {}
        self._ended: set[str] = set()
        self._over = False
        if any(action.after == STEADY for action in actions):
            import_module("scipy.stats")  # takes a second of CPU, which would fall into the run

    # --- as an observer ---

    def begin(self, at_ns: int, engines: int) -> None:
        """See `Observer.begin`."""
        self._seconds, self._began_ns = Seconds(engines), at_ns
        self._targets = self._testbed.targets()
        self._states = [self._state(action) for action in self._actions]
        if self._roll:
            self._roll.begin()

    def tick(self, now_ns: int, newest: Mapping[int, Event]) -> Sequence[str]:
        """See `Observer.tick`."""
        labels = [*self._take_in(), *self._take_news()]
        if (second := self._seconds.take(newest)) is not None:
            figures: dict[Key, float | None] = {
                (node, metric): self._figures.get(str(node), metric, now_ns)
                for state in self._states
                for node, metric in state.asks
            }
            for state in self._states:
                labels += self._keep(state, state.second(second, now_ns, figures))
            self._control(second, now_ns)
            self._retarget()
        for state in self._states:
            labels += self._keep(state, state.late(now_ns))
            if state.due(now_ns):
                labels += self._keep(state, state.requested(now_ns))
                self._start(state)
        return labels

    def enough(self, now_ns: int) -> bool:
        """See `Observer.enough`."""
        if self._rest_s is None or not self._states or not all(state.ended for state in self._states):
            return False
        self._all_ended_ns = self._all_ended_ns or now_ns
        return now_ns - self._all_ended_ns >= self._rest_s * 1e9

    def wait_s(self, now_ns: int) -> float:
        """See `Observer.wait_s`."""
        if any(state.under_way and state.action.what != CONTROLLER for state in self._states):
            return BUSY_S
        waiting = (state.trigger.due_ns for state in self._states if state.stage == "waiting")
        due = [(due_ns - now_ns) / 1e9 for due_ns in waiting if due_ns is not None]
        return max(min([*due, IDLE_S]), 0.0)

    def doing(self, now_ns: int) -> str:
        """See `Observer.doing`: what is under way, else what is waited for."""
        under_way = [state.doing(now_ns) for state in self._states if state.under_way]
        waiting = [state.doing(now_ns) for state in self._states if state.stage == "waiting"]
        return "; ".join(under_way or [word for word in waiting if word][:1])

    def end(self, now_ns: int) -> None:
        """See `Observer.end`: what is still under way is unfinished, and commands are ended."""
        self._over = True
        self._cancelled.set()  # first: whatever cannot be written below, nothing waits any longer
        if self._roll:
            self._roll.end()
        self._take_in()
        self._take_news()
        for state in self._states:
            self._keep(state, state.cut_short(now_ns))
        if self._roll and (why := self._roll.never):
            self._manifest.warn("cluster", f"who came and who left is not known: {why}")

    # --- afterwards ---

    @property
    def undone(self) -> list[str]:
        """The ids of the actions that did not end as they should, or not yet."""
        return [state.id for state in self._states if not state.done]

    @property
    def left(self) -> list[str]:
        """The ids of the actions that did not take back what others did, of which one had begun."""
        begun = any(state.begun_ns for state in self._states if not state.action.undo)
        return [state.id for state in self._states if begun and state.action.undo and not state.done]

    def join(self, limit_s: float) -> list[str]:
        """Wait until no action is under way any more; returns the ids of those that are all the same."""
        deadline = time.monotonic() + limit_s
        for thread in self._threads.values():
            thread.join(max(deadline - time.monotonic(), 0.0))
        if self._over:  # until then the next turn of the loop takes it in
            self._take_in()
            if self._roll:
                self._roll.join(max(deadline - time.monotonic(), ROLL_ENDS_S))
        return [id_ for id_, thread in self._threads.items() if thread.is_alive()]

    # --- controllers ---

    def _state(self, action: Any, by: str = "") -> ActionState:
        return ActionState(action, Trigger(action, self._began_ns, paced=self._paced), by)

    def _control(self, second: Second, now_ns: int) -> None:
        """Let controllers that have their turn decide; what they do are actions like others."""
        for state in [one for one in self._states if one.action.what == CONTROLLER and one.under_way]:
            if state.id not in self._scalings:
                self._scalings[state.id] = Scaling(state.action, self._testbed)
            scaling = self._scalings[state.id]
            if scaling.change and not self._goes_on(scaling.change):
                scaling.ended(now_ns)

            def of_node(node: str, metric: str) -> float | None:
                return self._figures.get(node, metric, now_ns)

            if decided := scaling.second(second, now_ns, of_node):
                self._states = [*self._states, self._state(decided, by=state.id)]

    def _goes_on(self, action: str) -> bool:
        """Whether it has not ended, or is at work past its limit: the cluster is not yet what it will be."""
        thread = self._threads.get(action)
        return action not in self._ended or (thread is not None and thread.is_alive())

    # --- threads ---

    def _start(self, state: ActionState) -> None:
        thread = threading.Thread(target=self._perform, args=(state.action,), name=state.id, daemon=True)
        thread.start()
        self._threads[state.id] = thread  # only what could be started can be waited for

    def _perform(self, action: Any) -> None:
        """One action, on its own thread."""
        tell = partial(self._tell, action.id)

        def note(node: str, what: str) -> None:
            tell("noted", node, what, time.monotonic_ns())

        context = Context(self._testbed, self._folder, note, partial(self._tell, "", "say"), self._cancelled)
        try:
            nodes = nodes_of(action, self._testbed)
            served = served_before(action, nodes, self._testbed)
            tell("started", time.monotonic_ns(), nodes)
            moved = perform(action, nodes, context)
            tell("returned", time.monotonic_ns(), moved)
            if served is not None:
                follow(served, nodes, context)
        except Cancelled:
            return
        except SteelyardError as error:
            tell("failed", time.monotonic_ns(), error.message)
        except Exception as error:  # of a testbed that may be another package's: the trial goes on
            tell("failed", time.monotonic_ns(), f"a fault: {error!r}")

    def _tell(self, action: str, method: str, *said: Any) -> None:
        self._told.put((action, method, said))

    # --- what is known is kept ---

    def _take_in(self) -> list[str]:
        """Let actions' states know what their threads have told; returns labels to be marked."""
        labels: list[str] = []
        states = {state.id: state for state in self._states}
        while not self._told.empty():
            action, method, said = self._told.get()
            if not action:
                self._show.say(str(said[0]))
                continue
            labels += self._keep(states[action], getattr(states[action], method)(*said))
        return labels

    def _take_news(self) -> list[str]:
        """Nodes that come and go in a cluster of others do so for the action that waits for it, or that began
        last, as far as one can tell; returns labels to be marked."""
        labels: list[str] = []
        for one in self._roll.news() if self._roll else ():
            if one.new:
                self._manifest.system.setdefault("spares", []).append(dict(one.new.facts))
            if state := self._cause(one):
                labels += self._keep(state, state.noted(one.node, one.what, one.t_ns))
            else:
                self._manifest.warn("cluster", f"{one.node} {one.what}, and no action had begun")
        return labels

    def _cause(self, one: News) -> ActionState | None:
        """Whatever brought a node has its further steps, too, also when another action begins meanwhile."""
        if one.what != LEFT and one.node in self._brought:
            return self._brought[one.node]
        begun = [state for state in self._states if 0 < state.begun_ns <= one.t_ns]
        found = max(begun, key=lambda state: (state.waits_for(one.what), state.begun_ns), default=None)
        self._brought.pop(one.node, None)
        if found and one.what != LEFT:
            self._brought[one.node] = found
        return found

    def _keep(self, state: ActionState, rows: Sequence[Row]) -> list[str]:
        """Write rows down, and tell the others of starts and ends."""
        labels = []
        for row in rows:
            if not isinstance(row, ActionRow):
                self._log.milestone(row)
                self._show.say(f"{row.id}: {row.node} {row.what}".replace("  ", " "))
                continue
            self._log.action(row)
            if row.state == "requested" or (row.id in self._ended and row.state == "ended"):
                continue
            said = _words(row)
            self._manifest.event("action", f"{row.id}: {said}", t_ns=row.t_ns)
            self._show.say(f"{row.id}: {said}")
            if row.how not in (None, "done"):
                self._manifest.warn("action", f"{row.id}: {said}")
            if row.state == "ended":
                self._ended.add(row.id)
                for other in self._states:
                    other.trigger.ended(row.id, row.t_ns)
            labels.append(f"{state.id} {row.state}")
        return labels

    def _retarget(self) -> None:
        """Nodes come and go while an action is under way; the watch is told when they have."""
        if not self._over and (targets := self._testbed.targets()) != self._targets:
            self._targets = targets
            self._watch.retarget(targets)


def _words(row: ActionRow) -> str:
    """`started: add node4`, `started: run kubectl scale ...`, `ended: done`, `ended: failed: ...`."""
    if row.state == "started":
        return " ".join(["started:", row.do, *row.parameters.get("command", ()), *row.nodes])
    return ": ".join(word for word in ("ended", row.how, row.reason) if word)
