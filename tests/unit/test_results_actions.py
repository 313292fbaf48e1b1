"""actions.ndjson: what is written is read again, also of a trial that was cut short."""

import json
from pathlib import Path

import pytest

from steelyard.errors import InfrastructureError
from steelyard.results.actions import FILE, ActionLog, ActionRow, MilestoneRow, read_actions
from steelyard.results.read import TrialResult

ROWS: list[ActionRow | MilestoneRow] = [
    ActionRow("join", "add", "requested", 10, parameters={"nodes": 1}),
    ActionRow("join", "add", "started", 12, ("node4",), {"nodes": 1}),
    MilestoneRow("join", "node4", "up", 20),
    ActionRow("cut", "partition", "requested", 25, ("node1",), undo=True),
    MilestoneRow("join", "node4", "joined", 30),
    ActionRow("join", "add", "ended", 31, ("node4",), {"nodes": 1}, "done", bytes=77),
]


def write(folder: Path, rows: list[ActionRow | MilestoneRow]) -> None:
    log = ActionLog(folder)
    for row in rows:
        log.action(row) if isinstance(row, ActionRow) else log.milestone(row)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    write(tmp_path, ROWS)
    found = TrialResult(tmp_path).actions()
    assert [*found.rows, *found.milestones] == sorted(ROWS, key=lambda row: isinstance(row, MilestoneRow))


def test_rows_of_an_action_make_a_whole(tmp_path: Path) -> None:
    write(tmp_path, ROWS)
    join, cut = read_actions(tmp_path).each()
    assert (join.requested_ns, join.started_ns, join.ended_ns) == (10, 12, 31)
    assert (join.how, join.bytes, join.nodes, dict(join.parameters)) == ("done", 77, ("node4",), {"nodes": 1})
    assert [m.what for m in join.milestones] == ["up", "joined"]
    assert (cut.requested_ns, cut.started_ns, cut.ended_ns, cut.how) == (25, None, None, None)
    assert (join.undo, cut.undo) == (False, True)


def test_only_the_end_says_how(tmp_path: Path) -> None:
    write(tmp_path, ROWS)
    lines = [json.loads(line) for line in (tmp_path / FILE).read_text().splitlines()]
    assert [("how" in line) for line in lines] == [False] * 5 + [True]


def test_a_torn_line_and_a_later_versions_words_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, ROWS[:2])
    with (tmp_path / FILE).open("a") as file:
        file.write('{"event": "weather", "t_ns": 1}\n')
        file.write('{"event": "milestone", "id": "join", "node": "", "what": "up", "t_ns": 3, "mood": 1}\n')
        file.write('{"event": "action", "id": "jo')
    found = read_actions(tmp_path)
    assert (len(found.rows), found.milestones) == (2, (MilestoneRow("join", "", "up", 3),))


def test_a_trial_without_actions_has_no_file(tmp_path: Path) -> None:
    assert read_actions(tmp_path).each() == []


def test_a_disk_that_refuses_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="cannot be written"):
        ActionLog(tmp_path / "gone").milestone(MilestoneRow("join", "", "up", 1))
