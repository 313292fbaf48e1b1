"""Nodes that come and go in a cluster of others, put down to the commands of a timeline."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from played_timeline import LIMIT_S, NS, Growing, Play, wait_until

from steelyard.lab.timeline import roll_call
from steelyard.systems.changes import Listed


class Counting(Growing):
    """A cluster of others, which tells who belongs to it; a command is to make it larger."""

    def __init__(self, marker: Path) -> None:
        super().__init__()
        self.marker, self.rolls, self.ended = marker, 0, False
        self.steps: tuple[str, ...] = ("normal", "joined")

    def roll(self) -> Sequence[Listed]:
        self.rolls += 1
        if self.marker.exists() and "10.0.0.4" not in self.names:
            self.names = [*self.names, "10.0.0.4"]
        return [Listed(name, name, self.steps, {"name": name}) for name in self.names]

    def end_roll(self) -> None:
        self.ended = True


def test_a_command_is_done_when_the_cluster_of_others_tells_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roll_call, "EVERY_S", 0.01)
    bed = Counting(tmp_path / "told")
    play = Play(tmp_path, f"0 run id=out done=joined -- touch {bed.marker}", bed=bed)
    wait_until(lambda: bed.rolls > 1)  # the first answer was taken in
    play.at(0)
    assert play.director.join(LIMIT_S) == []
    wait_until(lambda: bool(play.labels_now()) and play.one("out").how is not None)
    assert play.one("out").how == "done"
    told = {(m.node, m.what) for m in play.one("out").milestones}
    assert told == {("", "told"), ("10.0.0.4", "normal"), ("10.0.0.4", "joined")}
    assert play.manifest.system["spares"] == [{"name": "10.0.0.4"}]
    play.at(2)
    assert play.watch.told[-1][-1] == "10.0.0.4"
    play.director.end(play.now_ns)
    assert play.director.join(LIMIT_S) == []
    assert bed.ended


def test_what_comes_is_put_down_to_the_command_that_waits_for_it_and_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command itself goes on after its node has come, and a second one begins meanwhile."""
    monkeypatch.setattr(roll_call, "EVERY_S", 0.01)
    bed = Counting(tmp_path / "told")
    until_gone = f"touch {bed.marker}; while test -e {bed.marker}; do sleep 0.02; done"
    slow = f"0 run id=out done=joined -- sh -c '{until_gone}'"
    play = Play(tmp_path, slow, "0 run id=other -- true", bed=bed)
    wait_until(lambda: bed.rolls > 1)
    play.at(0)
    wait_until(lambda: bool(play.labels_now()) and len(play.one("out").milestones) == 2)
    assert play.one("out").how is None, "its command goes on"
    assert {m.what for m in play.one("other").milestones} <= {"told"}
    bed.marker.unlink()
    assert play.director.join(LIMIT_S) == []
    wait_until(lambda: bool(play.labels_now()) and play.one("out").how is not None)
    assert play.one("out").how == "done"
    play.director.end(time.monotonic_ns())


def test_whatever_brought_a_node_has_its_further_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roll_call, "EVERY_S", 0.01)
    bed = Counting(tmp_path / "told")
    bed.steps = ("normal",)
    play = Play(tmp_path, f"0 run id=out -- touch {bed.marker}", "1s run id=other -- true", bed=bed)
    wait_until(lambda: bed.rolls > 1)
    play.at(0)
    wait_until(lambda: bool(play.labels_now()) and len(play.one("out").milestones) == 2)
    play.at(1)
    wait_until(lambda: bool(play.labels_now()) and play.one("other").how is not None)
    bed.steps = ("normal", "joined")
    wait_until(lambda: bool(play.labels_now()) and "joined" in {m.what for m in play.kept().milestones})
    assert {m.what for m in play.one("out").milestones if m.node == "10.0.0.4"} == {"normal", "joined"}
    play.director.end(time.monotonic_ns())


def test_a_command_does_not_end_before_it_has_returned(tmp_path: Path) -> None:
    """That a node has left is known later than it is so."""
    [state] = Play(tmp_path, "900s run id=in done=left -- true").director._states
    state.requested(10)
    state.started(10, ())
    assert state.returned(50, None) == []
    end = state.noted("node4", "left", 20)[-1]
    assert (end.how, end.t_ns) == ("done", 50)  # type: ignore[union-attr]


def test_that_nobody_tells_who_is_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roll_call, "EVERY_S", 0.01)
    bed = Counting(tmp_path / "told")
    asked = threading.Event()

    def refuse() -> Sequence[Listed]:
        asked.set()
        raise OSError("no SELECT permission on system.peers")

    monkeypatch.setattr(bed, "roll", refuse)
    play = Play(tmp_path, "900s run -- true", bed=bed)
    assert asked.wait(LIMIT_S)
    wait_until(lambda: bool(play.director._roll and play.director._roll.never))
    play.director.end(play.began_ns + NS)
    assert any("no SELECT permission" in warning["text"] for warning in play.manifest.warnings)
