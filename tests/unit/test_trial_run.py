"""A trial from up to down, with everything that can go wrong on the way, on the fake engine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from engine_fixtures import FakeEngine, Heard
from trial_fixtures import Bed, engine_left, events, fail, trial_run

from steelyard.engine.fleet import Fleet
from steelyard.engine.path import find_engine
from steelyard.engine.process import EngineProcess
from steelyard.engine.session import EngineSession, Queue
from steelyard.errors import InfrastructureError, Interrupted
from steelyard.hosts.host import HostLostError
from steelyard.lab.phase import PhaseRunner
from steelyard.lab.signals import Interrupts
from steelyard.lab.trial import TrialRun
from steelyard.results.read import open_run
from steelyard.systems.base import Death, Settled
from steelyard.watch import Sampler


@pytest.mark.usefixtures("fake_engine")
def test_the_way_of_a_trial(tmp_path: Path) -> None:
    bed = Bed()
    run = trial_run(tmp_path, bed, warmup_s=0.1, duration_s=0.1)
    run.run()
    assert run.error is None
    assert bed.calls == ["up", "settle", "collect", "down"]
    assert events(run) == ["command", "up", "engines", "load", "settle", "warmup", "run", "down"]
    manifest = json.loads((run.folder / "manifest.json").read_text())
    assert (manifest["status"], manifest["reason"], manifest["format"]) == ("done", None, 1)
    assert [p["name"] for p in manifest["phases"]] == ["load", "warmup", "run"]
    assert manifest["phases"][2]["summary"]["first"] == 10  # where the warm-up had ended
    assert {"command_to_first_operation", "up", "load", "settle", "run", "down"} <= manifest["timing"].keys()
    assert manifest["clock"]["start"]["monotonic_ns"] < manifest["clock"]["end"]["monotonic_ns"]
    assert manifest["engine"]["ready"] == {"kind": "fake"}
    assert {p.name for p in run.folder.iterdir()} == {
        "engine",
        "manifest.json",
        "intervals.parquet",
        "system.parquet",
    }
    [trial] = open_run(run.folder).trials
    assert set(trial.intervals()["phase"]) == {"load", "warmup", "run"}
    assert trial.system().height > 0
    assert not engine_left()


@pytest.mark.usefixtures("fake_engine")
def test_servers_are_sampled_where_the_run_begins_and_where_it_ends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told: list[int] = []
    monkeypatch.setattr(Sampler, "sample_from", lambda _self, t_ns: told.append(t_ns))
    run = trial_run(tmp_path, Bed(), warmup_s=0.1, duration_s=0.1)
    run.run()
    measured = json.loads((run.folder / "manifest.json").read_text())["phases"][-1]
    begin_ns, end_ns = told  # of the run alone
    assert (measured["name"], begin_ns) == ("run", measured["start_ns"])
    assert end_ns >= measured["end_ns"]


@pytest.mark.usefixtures("fake_engine")
def test_several_engines_are_merged(tmp_path: Path) -> None:
    run = trial_run(tmp_path, Bed(), engines=3, duration_s=0.1)
    run.run()
    assert run.manifest.status == "done"
    assert run.manifest.phases[1]["summary"] == {"engines": 3}
    assert sorted(p.name for p in (run.folder / "engines").iterdir()) == ["0", "1", "2"]


class LostEngine(EngineProcess):
    """Its machine is lost in the run."""

    def _end_of_events(self) -> None:
        self.lost = HostLostError("the host b is lost")
        super()._end_of_events()


class LoadHosts:
    """Two machines, of which one or both are lost in the run."""

    def __init__(self, lost: set[int]) -> None:
        self.lost = lost

    def launch(self, plan: dict[str, Any], folder: Path, events: Queue, index: int) -> EngineSession:
        lost = index in self.lost
        made, prefix = (LostEngine, ["env", "FAKE_ENGINE=die-in-run"]) if lost else (EngineProcess, [])
        return made(find_engine().path, plan, folder, events, index=index, prefix=prefix)

    def __getattr__(self, _name: str) -> Callable[..., None]:
        return lambda *_given: None


def with_load_hosts(run: TrialRun, *lost: int) -> TrialRun:
    run.load_hosts = cast("Any", LoadHosts({*lost}))
    return run


@pytest.mark.usefixtures("fake_engine")
def test_the_page_cache_is_dropped_on_the_nodes_host_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trial_run(tmp_path, Bed(), duration_s=0.5)
    asked: list[list[str]] = []
    monkeypatch.setattr(run.host, "drop_page_cache", lambda: asked.append(events(run)), raising=True)
    run.cold = True
    run.run()
    assert run.manifest.status == "done", run.manifest.reason
    assert len(asked) == 1
    assert "run" not in asked[0], "not yet begun"
    assert {"run", "cold"} <= {*events(run)}
    assert "cold" not in asked[0], "told once it was done"


@pytest.mark.usefixtures("fake_engine")
@pytest.mark.parametrize(
    ("cold", "kib", "told"),
    [
        (True, (8192,), 1),
        (True, (128,), 0),
        (False, (8192,), 0),
        (True, (8192, 128), 0),
        (True, (128, 128, 8192), 1),
    ],
)
def test_nodes_disks_that_read_far_ahead_are_told_of_where_the_page_cache_is_part_of_the_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cold: bool, kib: tuple[int, ...], told: int
) -> None:
    """By this machine's disk and, where nodes are on others, those of these alone."""
    here, *there = ({"file_systems": {"/": {"read_ahead_bytes": one << 10}, "/no-disk": {}}} for one in kib)
    run = trial_run(tmp_path, Bed(), duration_s=0.1)
    monkeypatch.setattr(run.host, "facts", lambda _: here, raising=True)
    monkeypatch.setattr(run.host, "drop_page_cache", lambda: None, raising=True)
    run.manifest.hosts = [{"role": "server", "facts": facts} for facts in there]
    run.cold = cold
    run.run()
    assert run.manifest.status == "done", run.manifest.reason
    said = [one["text"] for one in run.manifest.warnings if one["kind"] == "read ahead"]
    assert len(said) == told
    assert all("8,192 KiB" in text and "echo 128 >" in text for text in said)


@pytest.mark.usefixtures("fake_engine")
def test_the_others_measure_on_when_a_load_host_is_lost(tmp_path: Path) -> None:
    run = with_load_hosts(trial_run(tmp_path, Bed(), engines=2, duration_s=0.5), 1)
    run.run()
    assert (run.manifest.status, run.manifest.reason) == ("failed", "the host b is lost")
    [lost] = [entry for entry in run.manifest.timeline if entry["event"] == "host lost"]
    assert lost["detail"] == "the host b is lost; what engine 1 did in run is missing from then on"
    assert [(p["name"], p["reason"], p["summary"]) for p in run.manifest.phases][-1] == (
        "run",
        "time",
        {"engines": 2},
    )
    assert "down" in events(run)
    assert not engine_left()


@pytest.mark.usefixtures("fake_engine")
def test_samples_of_load_hosts_that_cannot_be_had_keep_no_others_from_being_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("No space left on device")

    kept: list[object] = []
    run = with_load_hosts(trial_run(tmp_path, Bed(), engines=2, duration_s=0.1))
    monkeypatch.setattr(run.load_hosts, "keep_samples", full, raising=False)
    monkeypatch.setattr(run.server_machines, "keep_samples", lambda *given: kept.append(given))
    run.run()
    assert run.manifest.status == "failed"
    assert kept == [(run.sampler, run.manifest, run.folder)]


@pytest.mark.usefixtures("fake_engine")
def test_with_the_last_load_host_the_run_ends(tmp_path: Path) -> None:
    run = with_load_hosts(trial_run(tmp_path, Bed(), engines=2, duration_s=60), 0, 1)
    run.run()
    assert (run.manifest.status, run.manifest.reason) == ("failed", "the host b is lost")
    assert [p["name"] for p in run.manifest.phases] == ["load"]
    assert not engine_left()


@pytest.mark.parametrize(
    ("step", "calls"),
    [
        ("up", ["up", "collect", "down"]),
        ("settle", ["up", "settle", "collect", "down"]),
        ("down", ["up", "settle", "collect", "down"]),
    ],
)
@pytest.mark.usefixtures("fake_engine")
def test_a_step_of_the_testbed_fails(tmp_path: Path, step: str, calls: list[str]) -> None:
    bed = Bed(**{step: fail(InfrastructureError("no luck"))})
    run = trial_run(tmp_path, bed, duration_s=0.1)
    run.run()
    assert (run.manifest.status, run.manifest.reason) == ("failed", "no luck")
    assert bed.calls == calls
    assert run.written
    assert not engine_left()


@pytest.mark.usefixtures("fake_engine")
def test_logs_that_cannot_be_collected_spoil_no_measurement(tmp_path: Path) -> None:
    run = trial_run(tmp_path, Bed(collect=fail(InfrastructureError("no luck"))), duration_s=0.1)
    run.run()
    assert run.manifest.status == "done"
    assert {"kind": "servers", "text": "no luck"} in run.manifest.warnings


@pytest.mark.usefixtures("fake_engine")
def test_a_fault_of_our_own_takes_everything_down_too(tmp_path: Path) -> None:
    bed = Bed(settle=fail(ZeroDivisionError()))
    run = trial_run(tmp_path, bed)
    with pytest.raises(ZeroDivisionError):
        run.run()
    assert bed.calls[-1] == "down"
    assert "a fault in Steelyard" in str(run.manifest.reason)
    assert not engine_left()


@pytest.mark.parametrize(
    ("mode", "exit_code", "reason"),
    [
        ("plan-refused", 2, "records must be above 0"),
        ("unreachable", 3, "connection refused"),
        ("silent-death", 3, "status 101"),
        ("die-in-load", 3, "SIGKILL"),
        ("die-in-run", 3, "SIGKILL"),
        ("garbage-in-run", 3, "no event"),
        ("refuse", 3, "not today"),
        ("disk-full-in-run", 3, "cannot write"),
        ("all-fail-in-load", 3, "none of 100000 records could be stored"),
    ],
)
def test_an_engine_that_fails(
    fake_engine: FakeEngine, tmp_path: Path, mode: str, exit_code: int, reason: str
) -> None:
    fake_engine.mode(mode)
    bed = Bed()
    run = trial_run(tmp_path, bed, duration_s=0.1)
    run.run()
    assert run.manifest.status == "failed"
    assert reason in str(run.manifest.reason)
    assert run.error is not None
    assert run.error.exit_code == exit_code
    assert bed.calls[-1] == "down"
    assert (run.folder / "manifest.json").is_file()
    assert not engine_left()


def test_what_was_measured_before_the_engine_died_is_kept(fake_engine: FakeEngine, tmp_path: Path) -> None:
    fake_engine.mode("die-in-run")
    run = trial_run(tmp_path, Bed())
    run.run()
    assert [p["name"] for p in run.manifest.phases] == ["load"]
    assert set(open_run(run.folder).trials[0].intervals()["phase"]) == {"load"}


@pytest.mark.usefixtures("fake_engine")
def test_the_search_after_the_run_stands_beside_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[bool] = []

    def find(runner: PhaseRunner, _asked: object, *, after: bool = False) -> float:
        searched.append(after)
        runner.manifest.event("probe", f"after: {after}")
        return 1000.0

    monkeypatch.setattr("steelyard.lab.stages.find_rate", find)
    search = {"probe_s": 1, "again": True}
    run = trial_run(tmp_path, Bed(), duration_s=0.1, search=search)
    run.run()
    assert run.error is None
    assert searched == [False, True]
    assert [name for name in events(run) if name in ("probe", "run")] == ["probe", "run", "probe"]


@pytest.mark.usefixtures("fake_engine")
def test_a_server_that_dies_is_noted_and_the_run_goes_on(tmp_path: Path) -> None:
    run = trial_run(tmp_path, Bed(dead=lambda: [Death("node2", "killed by SIGKILL", 1)]), duration_s=0.1)
    run.run()
    assert run.manifest.status == "done"
    assert events(run).count("server died") == 1
    assert {"kind": "server died", "text": "node2: killed by SIGKILL"} in run.manifest.warnings


def test_a_server_that_comes_back_and_dies_again_is_told_twice(tmp_path: Path) -> None:
    first, second = (
        Death("node2", why, life) for life, why in enumerate(("killed by SIGKILL", "exit status 3"))
    )
    lives: list[list[Death]] = [[first], [first], [], [second], [second]]
    run = trial_run(tmp_path, Bed(dead=lambda: lives.pop(0)))
    look_after = PhaseRunner(
        Fleet.__new__(Fleet), run.testbed, run.manifest, Heard(), Interrupts()
    ).look_after_servers
    for _ in range(5):
        look_after()
    told = [warning["text"] for warning in run.manifest.warnings if warning["kind"] == "server died"]
    assert told == ["node2: killed by SIGKILL", "node2: exit status 3"]


def test_when_nothing_answers_any_more_an_endless_phase_is_stopped(
    fake_engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.lab.phase.ALL_DEAD_LIMIT_S", 2.0)
    monkeypatch.setattr("steelyard.lab.phase.LOOK_EVERY_S", 0.0)
    fake_engine.mode("numb-in-run")
    bed = Bed(dead=lambda: [Death("node1", "killed by SIGKILL", 1), Death("node2", "exit status 3", 1)])
    run = trial_run(tmp_path, bed)
    run.run()
    assert run.manifest.status == "failed"
    assert "nothing was answered for" in str(run.manifest.reason)
    assert "node2: exit status 3" in str(run.manifest.reason)
    assert [p["reason"] for p in run.manifest.phases if p["name"] == "run"] == ["stop"]


def test_that_nobody_answers_an_audit_leaves_what_was_measured(
    fake_engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.lab.phase.ALL_DEAD_LIMIT_S", 2.0)
    monkeypatch.setattr("steelyard.lab.phase.LOOK_EVERY_S", 0.0)
    fake_engine.mode("numb-in-audit")
    deaths = [Death("node1", "killed by SIGKILL", 1), Death("node2", "exit status 3", 1)]
    run = trial_run(tmp_path, Bed(dead=lambda: deaths))
    run.trial = run.trial.model_copy(update={"load": run.trial.load.model_copy(update={"audit": True})})
    run.run()
    assert run.manifest.status == "done"
    told = {warning["kind"]: warning["text"] for warning in run.manifest.warnings}
    assert "audit was stopped: nothing was answered for" in told["unanswered"]
    assert [p["name"] for p in run.manifest.phases][-1] == "audit"


def test_an_engine_that_does_not_stop(
    fake_engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.lab.phase.STOP_GRACE_S", 0.2)
    fake_engine.mode("deaf-in-run")
    interrupts = Interrupts()
    bed = Bed(settle=lambda: _interrupt(interrupts))
    run = trial_run(tmp_path, bed, interrupts, timeout_ms=100, duration_s=60)
    run.run()
    assert run.manifest.status == "failed"
    assert "has not stopped within" in str(run.manifest.reason)
    assert not engine_left()


def _interrupt(interrupts: Interrupts) -> Settled:
    interrupts.count += 1
    return Settled(True, 0.0)


def test_asked_to_stop_while_running(fake_engine: FakeEngine, tmp_path: Path) -> None:
    fake_engine.mode("hang-in-run")
    interrupts = Interrupts()
    run = trial_run(tmp_path, Bed(settle=lambda: _interrupt(interrupts)), interrupts)
    run.run()
    assert run.manifest.status == "interrupted"
    assert isinstance(run.error, Interrupted)
    assert [p["reason"] for p in run.manifest.phases] == ["operations", "stop"]


@pytest.mark.usefixtures("fake_engine")
def test_a_result_folder_that_is_gone(tmp_path: Path) -> None:
    bed = Bed()
    run = trial_run(tmp_path, bed, duration_s=0.1)
    bed.steps["collect"] = lambda: shutil.rmtree(run.folder)
    run.run()
    assert run.manifest.status == "failed"
    assert not run.written
    assert bed.calls[-1] == "down"
