"""actions.ndjson: what was done to the cluster while it served, and what nodes passed on the way.

One object a line, appended and flushed as things happen, so that a trial that was cut short has them too.
Times are CLOCK_MONOTONIC ns (docs/format.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from steelyard.results.disk import writing

FILE = "actions.ndjson"
COMMAND = "run"
"""What rows of a command of the user's own say that they do."""
CONTROLLER = "scale"
"""What a controller's own rows say that they do."""

State = Literal["requested", "started", "ended"]
How = Literal["done", "limit", "failed", "unfinished"]


@dataclass(frozen=True)
class ActionRow:
    """One step of one action. Of several `ended` rows the last one tells most; their times are equal.

    Attributes:
        id: of the action, unique in its timeline.
        do: what it does, e.g. `add`.
        state: `requested` when its condition came true, `started` when the system was told, `ended`.
        t_ns: when, CLOCK_MONOTONIC.
        nodes: those it acts on, as far as they are known then; may be empty (a command).
        parameters: what was asked, without its condition.
        how: of `ended` alone: `done`; past its `limit`; `failed`; `unfinished` when the run's end came first.
        reason: why it failed or is unfinished, in words.
        bytes: what it moved, where the system tells.
        undo: whether it takes back what another did.
        by: id of the controller that decided it; empty where the timeline says it.
    """

    id: str
    do: str
    state: State
    t_ns: int
    nodes: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    how: How | None = None
    reason: str = ""
    bytes: int | None = None
    undo: bool = False
    by: str = ""


@dataclass(frozen=True)
class MilestoneRow:
    """What a node passed on the way of an action: `up`, `streaming`, `joined`.

    Attributes:
        id: of the action.
        node: by name; empty where it is of the whole system.
        what: the milestone.
        t_ns: when, CLOCK_MONOTONIC.
    """

    id: str
    node: str
    what: str
    t_ns: int


@dataclass(frozen=True)
class ActionTimes:
    """One action as a whole: its rows put together.

    Attributes:
        requested_ns, started_ns, ended_ns: CLOCK_MONOTONIC; None where it did not get that far.
        how: None when its end was never written: the trial was cut short.
        undo: whether it takes back what another did.
        by: id of the controller that decided it; empty where the timeline says it.
        milestones: its own, in the order of time.
    """

    id: str
    do: str
    nodes: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    requested_ns: int | None = None
    started_ns: int | None = None
    ended_ns: int | None = None
    how: How | None = None
    reason: str = ""
    bytes: int | None = None
    undo: bool = False
    by: str = ""
    milestones: tuple[MilestoneRow, ...] = ()


@dataclass(frozen=True)
class Actions:
    """All that actions.ndjson holds, in the order in which it was written."""

    rows: tuple[ActionRow, ...] = ()
    milestones: tuple[MilestoneRow, ...] = ()

    def each(self) -> list[ActionTimes]:
        """Every action, in the order of the requests; those that never came to their turn last. A controller
        is none: it does nothing itself, and what it decided are actions."""
        found: dict[str, ActionTimes] = {}
        for row in (row for row in self.rows if row.do != CONTROLLER):
            known = found.get(row.id) or ActionTimes(row.id, row.do)
            found[row.id] = _with(known, row)
        return [
            replace(one, milestones=tuple(sorted(self._of(one.id), key=lambda m: m.t_ns)))
            for one in found.values()
        ]

    def _of(self, wanted: str) -> Iterator[MilestoneRow]:
        return (m for m in self.milestones if m.id == wanted)


def _with(known: ActionTimes, row: ActionRow) -> ActionTimes:
    """What is known of an action, and one row more; nodes may be told late."""
    at: dict[str, Any] = {f"{row.state}_ns": row.t_ns, "undo": row.undo, "by": row.by}
    if row.state == "ended":
        at |= {"how": row.how, "reason": row.reason, "bytes": row.bytes}
    return replace(known, nodes=row.nodes or known.nodes, parameters=row.parameters or known.parameters, **at)


class ActionLog:
    """The file while a trial goes on: each row is on disk's way when the call returns.

    Args:
        folder: the trial's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def action(self, row: ActionRow) -> None:
        """Append a step of an action.

        Raises:
            InfrastructureError: the disk refuses.
        """
        self._append(_line("action", row))

    def milestone(self, row: MilestoneRow) -> None:
        """Append a milestone.

        Raises:
            InfrastructureError: the disk refuses.
        """
        self._append(_line("milestone", row))

    def _append(self, line: Mapping[str, Any]) -> None:
        text = json.dumps(line, ensure_ascii=False, default=str) + "\n"
        with writing(self._folder), (self._folder / FILE).open("a", encoding="utf-8") as file:
            file.write(text)


def read_actions(folder: Path) -> Actions:
    """What a trial's folder holds; a trial without actions has no file.

    A last line cut short is left out, and so are events and keys of later versions.
    """
    path = folder / FILE
    rows: list[ActionRow] = []
    milestones: list[MilestoneRow] = []
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            said = json.loads(line)
        except ValueError:
            break
        match said.get("event"):
            case "action":
                known = {k: v for k, v in said.items() if k in ActionRow.__dataclass_fields__}
                rows.append(ActionRow(**{**known, "nodes": tuple(known.get("nodes", ()))}))
            case "milestone":
                milestones.append(
                    MilestoneRow(**{k: v for k, v in said.items() if k in MilestoneRow.__dataclass_fields__})
                )
    return Actions(tuple(rows), tuple(milestones))


def _line(event: str, row: ActionRow | MilestoneRow) -> dict[str, Any]:
    """A row as its object; `how` stands in the ended one alone."""
    said = {name: getattr(row, name) for name in type(row).__dataclass_fields__}
    if isinstance(row, ActionRow) and row.state != "ended":
        said = {name: value for name, value in said.items() if name not in ("how", "reason", "bytes")}
    return {"event": event, **said}
