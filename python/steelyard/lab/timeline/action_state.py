"""One action from its condition to its end: a pure state machine, told what happened and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from steelyard.analysis.windows.milestones import COMING, LEFT
from steelyard.lab.timeline.conditions import NS, Holds, Trigger
from steelyard.lab.timeline.figures import Key, Second
from steelyard.results.actions import COMMAND, CONTROLLER, ActionRow, How, MilestoneRow
from steelyard.spec.triggers import Figure

Stage = Literal["waiting", "requested", "running", "settling", "ended"]
"""`settling`: the system has been told and has answered; what the user calls done has not come true yet."""
Row = ActionRow | MilestoneRow


class ActionState:
    """What is known of one action. Methods that are told something return the rows that are to be kept.

    Args:
        action: what is to be done.
        trigger: when it begins.
        by: id of the controller that decided it; empty where the timeline says it.
    """

    def __init__(self, action: Any, trigger: Trigger, by: str = "") -> None:
        self.action, self.trigger, self._by = action, trigger, by
        self.stage: Stage = "waiting"
        self.nodes: tuple[str, ...] = action.nodes_named
        self._parameters = action.parameters
        self._done = Holds(action.done) if isinstance(action.done, Figure) else None
        self._passed: set[tuple[str, str]] = set()
        self._newest: tuple[str, int] | None = None
        self._since_ns = self._returned_ns = 0
        self._bytes: int | None = None
        self._ended: ActionRow | None = None

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.action.id)

    @property
    def ended(self) -> bool:
        """Whether its end is known."""
        return self.stage == "ended"

    @property
    def begun_ns(self) -> int:
        """When the system was told of it, CLOCK_MONOTONIC; 0 before."""
        return self._since_ns

    @property
    def done(self) -> bool:
        """Whether it ended as it should."""
        return self._ended is not None and self._ended.how == "done"

    @property
    def under_way(self) -> bool:
        """Whether it has begun and not ended."""
        return self.stage in ("requested", "running", "settling")

    @property
    def asks(self) -> Iterator[Key]:
        """The figures of nodes that it wants to be told."""
        figures = [self.action.when if self.stage == "waiting" else None]
        figures.append(self.action.done if self.stage == "settling" else None)
        return ((one.node, one.metric) for one in figures if isinstance(one, Figure) and one.node)

    def waits_for(self, what: str) -> bool:
        """Whether it is a command that is done when nodes come, or leave, and this is a step of that."""
        done = self.action.done
        waits = self.under_way and self.action.what == COMMAND and isinstance(done, str)
        return waits and (done == LEFT) == (what == LEFT)

    def second(self, second: Second, now_ns: int, figures: Mapping[Key, float | None]) -> list[Row]:
        """A second of the run has passed."""
        if self.stage == "waiting":
            self.trigger.second(second, now_ns, figures)
        if self.stage == "settling" and self._done:
            self._done.second(second, now_ns, figures)
            if self._done.since_ns is not None:
                return [self._end("done", now_ns)]
        return []

    def due(self, now_ns: int) -> bool:
        """Whether its time has come."""
        due_ns = self.trigger.due_ns
        return self.stage == "waiting" and due_ns is not None and due_ns <= now_ns

    def requested(self, now_ns: int) -> list[Row]:
        """It has been handed to whoever does it."""
        self.stage, self._since_ns = "requested", now_ns
        return [self._row("requested", now_ns)]

    def started(self, t_ns: int, nodes: Sequence[str]) -> list[Row]:
        """The system is being told, for these nodes."""
        self.nodes = tuple(nodes)
        if self.stage == "requested":
            self.stage, self._since_ns = "running", t_ns
        return [self._row("started", t_ns)]

    def noted(self, node: str, what: str, t_ns: int) -> list[Row]:
        """A node has passed a milestone; one that comes after its end is kept, too."""
        self._passed.add((node, what))
        self._newest = (what, t_ns)
        rows: list[Row] = [MilestoneRow(self.id, node, what, t_ns)]
        wanted = self.action.done
        goes_on = self.action.what == COMMAND and self.stage != "settling"
        if self.under_way and not goes_on and isinstance(wanted, str) and self._all_passed(wanted):
            rows.append(self._end("done", max(t_ns, self._returned_ns)))
        return rows

    def returned(self, t_ns: int, moved: int | None) -> list[Row]:
        """The system says that it is done; `moved` bytes, if it knows.

        Of one that a milestone has ended before, its end is told once more, at the same time, with the bytes.
        """
        if not self.under_way:
            ended = self._ended if moved is not None and self._ended and self._ended.how == "done" else None
            return [replace(ended, bytes=moved)] if ended else []
        self._bytes = moved
        if self._done:
            self.stage = "settling"
            return []
        wanted = self.action.done
        if isinstance(wanted, str) and self.action.what == COMMAND and not self._all_passed(wanted):
            self.stage, self._returned_ns = "settling", t_ns  # the command has only told what is wanted
            return []
        if isinstance(wanted, str) and not self._all_passed(wanted):
            return [self._end("failed", t_ns, f"it ended, and '{wanted}' was not passed by all its nodes")]
        return [self._end("done", t_ns)]

    def failed(self, t_ns: int, reason: str) -> list[Row]:
        """It cannot be done, or not to its end."""
        return [self._end("failed", t_ns, reason)] if self.under_way else []

    def late(self, now_ns: int) -> list[Row]:
        """Its limit has passed, if it has: it is let be."""
        late = self.under_way and now_ns - self._since_ns >= self.action.limit * NS
        if not late or self.action.what == CONTROLLER:  # the limit is that of each of its changes
            return []
        return [self._end("limit", now_ns, f"not done within {self.action.limit:g} s")]

    def cut_short(self, now_ns: int) -> list[Row]:
        """The run is over: how long it would have taken is not known."""
        if self.ended:
            return []
        if self.under_way and self.action.what == CONTROLLER:  # it goes on until then
            return [self._end("done", now_ns)]
        why = (
            "the run ended first" if self.under_way else "its condition had not come true when the run ended"
        )
        return [self._end("unfinished", now_ns, why)]

    def doing(self, now_ns: int) -> str:
        """`join: streaming 12 s`; while its turn is not known, what it waits for."""
        if self.under_way:
            what, since_ns = self._newest or (self.action.what, self._since_ns)
            return f"{self.id}: {what} {max(now_ns - since_ns, 0) / NS:.0f} s"
        waits = self.stage == "waiting" and self.trigger.due_ns is None
        return f"{self.id}: {self.action.begins}" if waits else ""

    def _all_passed(self, what: str) -> bool:
        if self.action.what == COMMAND:
            return len(self._brought(what)) >= (self.action.nodes or 1)
        return bool(self.nodes) and all((node, what) in self._passed for node in self.nodes)

    def _brought(self, what: str) -> set[str]:
        """The nodes that passed it and came with this command; others may get their first region, too."""
        came = {node for node, passed in self._passed if passed in COMING}
        return {node for node, passed in self._passed if passed == what and (what == LEFT or node in came)}

    def _end(self, how: How, t_ns: int, reason: str = "") -> ActionRow:
        self.stage = "ended"
        self._ended = self._row("ended", t_ns, how=how, reason=reason, bytes=self._bytes)
        return self._ended

    def _row(self, state: Any, t_ns: int, **more: Any) -> ActionRow:
        return ActionRow(
            self.id,
            self.action.what,
            state,
            t_ns,
            self.nodes,
            self._parameters,
            undo=self.action.undo,
            by=self._by,
            **more,
        )
