"""Marks and actions beside the run of a trial, and what becomes of them when it ends, on the fake engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import psutil
import pytest
from engine_fixtures import FakeEngine, Heard
from trial_fixtures import Bed, fail, trial_run, with_timeline

from steelyard.hosts.say import Say
from steelyard.lab.hopeless import HOPELESS
from steelyard.lab.signals import Interrupts
from steelyard.results.read import open_run
from steelyard.systems.changes import Note


@pytest.mark.usefixtures("fake_engine")
def test_marks_are_made_when_their_time_has_come_and_not_after_the_end(tmp_path: Path) -> None:
    run = trial_run(tmp_path, Bed(), duration_s=0.5, marks=[[0.2, "second"], [0.1, "first"]])
    load = run.trial.load  # one that ends before its time leaves marks, too
    late = load.model_copy(update={"marks": (*load.marks, (900, "never"))})
    run.trial = run.trial.model_copy(update={"load": late})
    run.run()
    assert run.manifest.status == "done"
    told = [entry for entry in run.manifest.timeline if entry["event"] == "mark"]
    assert [entry["detail"] for entry in told] == ["first", "second"]
    start_ns = run.manifest.phases[1]["start_ns"]
    assert all(entry["t_ns"] >= start_ns + n * 10**8 for n, entry in enumerate(told, start=1))


@pytest.mark.usefixtures("fake_engine")
def test_a_timeline_is_carried_out_beside_the_run(tmp_path: Path) -> None:
    texts = (f"0.1s run id=first -- touch {tmp_path}/done", "after:first run id=late -- sleep 1000")
    run = with_timeline(trial_run(tmp_path, Bed(), warmup_s=0.1, duration_s=1.0, engines=2), *texts)
    run.run()
    assert run.error is None
    assert (tmp_path / "done").exists()
    result = open_run(run.folder).trials[0]
    first, late = result.actions().each()
    began_ns = run.manifest.phases[-1]["start_ns"]
    assert first.requested_ns is not None
    assert first.requested_ns >= began_ns + 10**8
    assert (first.how, late.how, late.reason) == ("done", "unfinished", "the run ended first")
    told = [entry["detail"] for entry in run.manifest.timeline if entry["event"] == "action"]
    assert told[:2] == [f"first: started: run touch {tmp_path}/done", "first: ended: done"]
    assert told[-1] == "late: ended: unfinished: the run ended first"
    heard = cast("Heard", run.show)
    assert any(live.doing.startswith("late: run ") for live in heard.lives)
    assert not any("sleep" in p.name() for p in psutil.Process().children(recursive=True))


@pytest.mark.usefixtures("fake_engine")
def test_a_run_ends_with_its_timeline_if_it_is_to(tmp_path: Path) -> None:
    run = with_timeline(trial_run(tmp_path, Bed(), duration_s=600, after_timeline_s=0.2), "0.1s run -- true")
    run.run()
    assert run.error is None
    assert run.manifest.status == "done"
    (action,) = open_run(run.folder).trials[0].actions().each()
    phase = run.manifest.phases[-1]
    assert action.ended_ns is not None
    assert action.ended_ns + 0.2e9 <= phase["end_ns"] < phase["start_ns"] + 60e9
    assert [entry["detail"] for entry in run.manifest.timeline if entry["event"] == "enough"] == [
        "run ends: nothing more is to happen in it"
    ]


@pytest.mark.usefixtures("fake_engine")
def test_nothing_is_done_in_other_phases(tmp_path: Path) -> None:
    run = with_timeline(trial_run(tmp_path, Bed(), phases=["load"]), "0 run -- true")
    run.run()
    assert run.error is None
    assert open_run(run.folder).trials[0].actions().rows == ()


@pytest.mark.parametrize("mode", ["die-in-run", "garbage-in-run"])
def test_when_the_engine_fails_actions_end_too(fake_engine: FakeEngine, tmp_path: Path, mode: str) -> None:
    fake_engine.mode(mode)
    texts = ("0 run -- sleep 1000", "60s run id=late -- true")
    run = with_timeline(trial_run(tmp_path, Bed(), duration_s=1.0), *texts)
    run.run()
    assert run.manifest.status == "failed"
    assert {a.how for a in open_run(run.folder).trials[0].actions().each()} == {"unfinished"}
    assert not any("sleep" in p.name() for p in psutil.Process().children(recursive=True))


OUT, BACK = "0.1s run id=out -- true", "after:out run id=in undo=true -- "


@pytest.mark.usefixtures("fake_engine")
@pytest.mark.parametrize(
    ("given", "back", "left"),
    [(True, "false", "in"), (True, "sleep 1000", "in"), (True, "true", ""), (False, "false", "")],
)
def test_a_given_cluster_that_was_left_changed_ends_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: bool, back: str, left: str
) -> None:
    # What takes it back ends before the phase does, on a busy machine, too.
    run = trial_run(tmp_path, Bed(), duration_s=3.0 if back == "true" else 0.6)
    monkeypatch.setattr(type(run.trial.system), "given", property(lambda _: given))
    with_timeline(run, OUT, BACK + back)
    run.run()
    assert run.manifest.status == ("failed" if left else "done")
    assert isinstance(run.error, HOPELESS) is bool(left)
    heard = cast("Heard", run.show)
    told = "warning: the cluster was left changed: in was to take that back"
    assert any(told in line for line in heard.lines) is bool(left)


class Stubborn(Bed):
    """Its node joins for as long as its servers run, and one more is started by then."""

    capabilities = frozenset({"flush"})

    def __init__(self) -> None:
        super().__init__()
        self.downs = threading.Event()

    def flush(self, _node: str, _table: str | None = None, /) -> None:
        assert self.downs.wait(20)
        self.calls.append("flushed")

    def down(self, say: Say) -> None:
        super().down(say)
        self.downs.set()

    def members(self) -> Sequence[str]:
        return ["node1"]


class Impatient(Bed):
    """Its user asks to stop while it is flushed."""

    capabilities = frozenset({"flush"})

    def __init__(self) -> None:
        super().__init__()
        self.interrupts = Interrupts()

    def flush(self, _node: str, _table: str | None = None, /) -> None:
        self.interrupts.count += 1

    def members(self) -> Sequence[str]:
        return ["node1"]


@pytest.mark.usefixtures("fake_engine")
def test_when_the_user_asks_to_stop_no_further_action_begins(tmp_path: Path) -> None:
    bed = Impatient()
    run = trial_run(tmp_path, bed, bed.interrupts, duration_s=60)
    with_timeline(run, "0 flush", f"after:flush run -- touch {tmp_path}/begun")
    run.run()
    assert run.manifest.status == "interrupted"
    assert not (tmp_path / "begun").exists()
    how = [(action.id, action.how) for action in open_run(run.folder).trials[0].actions().each()]
    assert how == [("flush", "done"), ("run", "unfinished")]


@pytest.mark.usefixtures("fake_engine")
def test_what_an_action_did_while_the_system_went_down_goes_down_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.lab.trial.ACTIONS_GRACE_S", 0.0)
    bed = Stubborn()
    run = with_timeline(trial_run(tmp_path, bed, duration_s=0.5), "0 flush")
    run.run()
    assert run.manifest.status == "done"
    assert bed.calls[-2:] == ["flushed", "down"] or bed.calls[-2:] == ["down", "flushed"]


class Upgraded(Bed):
    """Its node comes up with another version when the run is over."""

    capabilities = frozenset({"upgrade"})

    def __init__(self) -> None:
        super().__init__()
        self.version = "4.1"

    def upgrade_order(self) -> Sequence[str]:
        return ["node1"]

    def upgrade(self, _name: str, version: str, _note: Note, _say: Say) -> None:
        time.sleep(1.5)
        self.version = version

    def versions(self) -> Mapping[str, str]:
        return {"node1": self.version}

    def members(self) -> Sequence[str]:
        return ["node1"]


@pytest.mark.usefixtures("fake_engine")
def test_versions_are_told_when_upgrades_have_ended(tmp_path: Path) -> None:
    run = with_timeline(trial_run(tmp_path, Upgraded(), duration_s=0.5), "0 upgrade version=5.0")
    run.run()
    assert run.manifest.system["upgraded"] == {"node1": "5.0"}


@pytest.mark.usefixtures("fake_engine")
@pytest.mark.parametrize("stubborn", [True, False])
def test_a_cluster_in_which_an_action_goes_on_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stubborn: bool
) -> None:
    monkeypatch.setattr("steelyard.lab.trial.ACTIONS_GRACE_S", 0.0)
    bed = Stubborn()
    if not stubborn:
        bed.downs.set()
    run = with_timeline(trial_run(tmp_path, bed, duration_s=0.5), "0 flush")
    run.lease.keep = True
    run.run()
    assert run.manifest.status == "done"
    assert run.lease.up is not stubborn
    said = {"kind": "action", "text": "still under way, so that no cluster is kept: flush"}
    assert (said in run.manifest.warnings) is stubborn


@pytest.mark.usefixtures("fake_engine")
def test_actions_that_cannot_be_written_down_any_more_keep_nothing_from_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "steelyard.lab.timeline.director.Director.join", lambda *_: fail(OSError("the disk is full"))()
    )
    run = with_timeline(trial_run(tmp_path, Bed(), duration_s=0.1), "0 run -- true")
    run.lease.keep, run.lease.up = False, True
    run.run()
    assert "the disk is full" in str(run.manifest.reason)
    assert not run.lease.up
    assert run.written
