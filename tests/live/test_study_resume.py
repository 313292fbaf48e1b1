"""A study of two systems and two factors on the real engine: interrupted and gone on with."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench_command import Command

import steelyard

pytest_plugins = ["bench_fixtures"]
Start = Callable[[str], Command]

STUDY = """
question = "What does a synced journal cost?"
repetitions = 1
reset = "{reset}"

[systems.buffered]
kind = "embedded"

[systems.synced]
kind = "embedded"
sync = true

[workload]
base = "a"
records = 500

[load]
operations = 500

[factors]
clients = [1, 4]
workload = ["a", "c"]
"""
TRIALS = 2 * 2 * 2
PLANNED = ("number", "point", "repetition", "seed", "group", "data", "system", "variant", "levels")


def listed(out: Path) -> list[list[Any]]:
    rows = json.loads((out / "run.json").read_text())["trials"]
    return [[row[name] for name in PLANNED] for row in rows]


@pytest.fixture
def study(tmp_path: Path) -> Callable[[str], Path]:
    def write(reset: str) -> Path:
        path = tmp_path / "journal.toml"
        path.write_text(STUDY.format(reset=reset))
        return path

    return write


@pytest.mark.parametrize("reset", ["fresh", "none"])
def test_an_interrupted_study_equals_one_that_was_not(
    study: Callable[[str], Path], tmp_path: Path, reset: str
) -> None:
    path = study(reset)
    whole, out = tmp_path / "whole", tmp_path / "run"
    one = Command(f"run {path}", whole)
    assert one.end() == 0, one.stderr
    stopped = Command(f"run {path}", out)
    stopped.until(lambda line: "trial 4 of 8" in line)
    stopped.process.send_signal(signal.SIGINT)
    assert stopped.end() == 130, stopped.stderr
    done = {t.number for t in stopped.result().trials if t.status == "done"}
    assert {1, 2, 3} <= done
    assert len(done) < TRIALS
    written = {n: stopped.result().trials[n - 1].manifest["started"] for n in done}

    again = Command(f"run {path}", out)
    assert again.end() == 0, again.stderr
    assert f"going on: {len(done)} of 8 trials are done" in again.stderr
    assert listed(out) == listed(whole)
    trials = steelyard.open(out).trials()
    assert trials["status"].to_list() == ["done"] * TRIALS
    assert {n: again.result().trials[n - 1].manifest["started"] for n in done} == written
    assert trials["ok"].to_list() == steelyard.open(whole).trials()["ok"].to_list() == [500] * TRIALS
    assert not (out / "work").exists()


def test_the_same_draws_in_both_systems(study: Callable[[str], Path], tmp_path: Path) -> None:
    """Equal repetitions of equal workloads ask for the same, whatever system answers."""
    one = Command(f"run {study('truncate')}", tmp_path / "run")
    assert one.end() == 0, one.stderr
    trials = steelyard.open(tmp_path / "run").trials()
    assert set(trials["group"]) == {1, 2}
    by = ["clients", "workload", "repetition"]
    for _, pair in trials.group_by(by):
        assert pair["seed"].n_unique() == 1
        assert sorted(pair["system"]) == ["buffered", "synced"]
        assert pair["read_ok"].n_unique() == 1
