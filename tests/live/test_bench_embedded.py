"""The main way, on the real engine: the embedded store and the null system, with no server."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from bench_command import Command, offered, summary

pytest_plugins = ["bench_fixtures"]
Start = Callable[[str], Command]


def test_a_bench(command: Start) -> None:
    one = command("bench embedded -w a --records 20000 --operations 40000 --verify full")
    assert one.end() == 0, one.stderr
    trial = one.trial()
    manifest = trial.manifest
    assert (manifest["status"], manifest["reason"]) == ("done", None)
    load, run = summary(trial, "load"), summary(trial, "run")
    assert (load["operations"], load["ok"]) == (20_000, 20_000)
    assert (run["operations"], run["ok"], run["failed"]) == (40_000, 40_000, {})
    assert run["verify"]["corrupt"] == run["verify"]["foreign"] == run["verify"]["lost"] == 0
    assert trial.histograms("run")["TOTAL.all"].get_total_count() == 40_000
    totals = trial.intervals().filter(op="TOTAL", phase="run")
    assert totals["done"].sum() == 40_000
    assert {"machine", "engine", "lab"} <= set(trial.system()["source"])
    assert manifest["timing"]["command_to_first_operation"] > 0
    assert not (trial.path / "work").exists()
    assert json.loads((one.out / "run.json").read_text())["trials"][0]["status"] == "done"


@pytest.mark.parametrize("workload", ["b", "c", "d", "e", "f"])
def test_every_core_workload(command: Start, workload: str) -> None:
    one = command(f"bench embedded -w {workload} --records 2000 --operations 4000 --clients 8")
    assert one.end() == 0, one.stderr
    run = summary(one.trial(), "run")
    assert run["operations"] == 4000
    assert run["failed"] == {}


def test_with_a_target_operations_are_due(command: Start) -> None:
    one = command(
        "bench null --records 1000 --target 5000 --arrivals poisson --in-flight 64 --duration 3s --warmup 1s"
    )
    assert one.end() == 0, one.stderr
    trial = one.trial()
    assert trial.phases == ["load", "warmup", "run"]
    run = summary(trial, "run")
    assert run["first"] == summary(trial, "warmup")["next"]
    assert abs(offered(run) - 15_000) < 1_000
    assert run["ops"]["TOTAL"]["wait"]["count"] == run["ok"]


def test_rates_along_a_curve_with_marks_and_an_audit_after_them(command: Start) -> None:
    """1 s at 500/s, 1 s that rises from 2,000 to 4,000/s, 1 s at rest: 3,500 operations, and nothing lost."""
    one = command(
        "bench embedded -w a --records 2000 --curve 0s=500,1s=500,1s=2000,2s=4000,2s=0,3s=0 --verify full "
        '--audit --set \'load.marks=[[1,"step"],[2,"rest"]]\''
    )
    assert one.end() == 0, one.stderr
    trial = one.trial()
    assert trial.phases == ["load", "run", "audit"]
    run, audit = summary(trial, "run"), summary(trial, "audit")
    assert (run["operations"], run["failed"]) == (3500, {})
    assert abs(run["seconds"] - 3) < 0.01
    due = trial.intervals().filter(phase="run", op="TOTAL").sort("second")["due"].to_list()
    assert due[:3] == [500, 3000, 0]
    found = audit["audit"]
    assert found["records"] == audit["operations"] == 2000
    assert [found[fault] for fault in ("unread", "lost", "fields_lost", "stale")] == [0, 0, 0, 0]
    marks = [(mark["label"], mark["phase"]) for mark in trial.marks()]
    assert marks == [("step", "run"), ("rest", "run")]
    told = [(e["detail"], e["t_ns"]) for e in trial.manifest["timeline"] if e["event"] == "mark"]
    assert told == [(mark["label"], mark["t_ns"]) for mark in trial.marks()]
    assert all(mark["t_ns"] >= run["start_ns"] + n * 10**9 for n, mark in enumerate(trial.marks(), start=1))


def test_several_engines_make_the_run_of_one(command: Start) -> None:
    """Operations are a function of (seed, number): split over engines they are the same ones."""
    one, three = (command(f"bench null -w a --records 999 --operations 30001 --engines {k}") for k in (1, 3))
    assert one.end() == three.end() == 0, one.stderr + three.stderr
    alone, together = (summary(c.trial(), "run") for c in (one, three))
    assert len(together["engines"]) == 3
    counts = [{op: s["ops"][op]["count"] for op in ("READ", "UPDATE")} for s in (alone, together)]
    assert counts[0] == counts[1]
    assert three.trial().histograms("run")["TOTAL.all"].get_total_count() == 30_001
    assert {"engine-0", "engine-1", "engine-2"} <= set(three.trial().system()["source"])


def test_a_given_store_is_kept(command: Start, tmp_path: Path) -> None:
    store = tmp_path / "store"
    one = command(f"bench embedded -w c --records 500 --operations 500 --path {store}")
    assert one.end() == 0, one.stderr
    assert any(store.iterdir())
    again = command(f"bench embedded -w c --records 500 --operations 500 --path {store} --fresh")
    assert again.end() == 0, again.stderr


def test_a_result_is_a_study_that_can_be_run_again(command: Start) -> None:
    one = command("bench null -w d --records 500 --operations 5000 --seed 7")
    assert one.end() == 0, one.stderr
    again = command(f"run {one.out / 'study.toml'}")
    assert again.end() == 0, again.stderr
    assert one.result().run["study"] == again.result().run["study"]
    first, second = (summary(c.trial(), "run")["ops"]["READ"]["count"] for c in (one, again))
    assert first == second


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_in_order(command: Start, number: signal.Signals) -> None:
    one = command("bench embedded -w a --records 1000 --duration 120s --clients 4")
    one.until(lambda line: "  run  " in line)
    one.process.send_signal(number)
    assert one.end() == 130, one.stderr
    trial = one.trial()
    assert trial.manifest["status"] == "interrupted"
    assert trial.manifest["phases"][-1]["reason"] == "stop"
    assert summary(trial, "run")["operations"] > 0


def test_killed_outright(command: Start) -> None:
    one = command("bench embedded -w a --records 1000 --duration 120s --clients 4")
    one.until(lambda line: "  run  " in line)
    [engine] = one.processes("steelyard-engine")
    one.process.kill()
    engine.wait(60)
    assert one.end() == -signal.SIGKILL
    trial = one.trial()
    assert trial.partial
    assert trial.intervals().filter(phase="run").height > 0
    assert trial.histograms("run")["TOTAL.response"].get_total_count() > 0


def test_an_engine_that_is_killed(command: Start) -> None:
    one = command("bench embedded -w a --records 1000 --duration 120s --clients 4")
    one.until(lambda line: line.endswith("  run"))
    [engine] = one.processes("steelyard-engine")
    engine.send_signal(signal.SIGKILL)
    assert one.end() == 3
    assert "error: the engine was killed by SIGKILL" in one.stderr
    assert one.trial().manifest["status"] == "failed"
    assert not psutil.pid_exists(engine.pid)


def test_a_plan_the_engine_refuses(command: Start) -> None:
    one = command("bench null --records 100 --operations 10 --field-length 2000000000")
    assert one.end() in (0, 2), one.stderr  # whatever the engine makes of it, it is no crash
    assert "Traceback" not in one.stderr
