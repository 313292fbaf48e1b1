"""`steelyard ycsb` from its words to its exit code, on the fake engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from engine_fixtures import FakeEngine
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.ycsb.differences import DIFFERENCES

SHIPPED = Path(__file__).parents[2] / "workloads"
A = f"-P {SHIPPED / 'workloada'}"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ycsb(words: str) -> Any:
    return CliRunner().invoke(app, ["ycsb", *words.split()])


def test_help_teaches() -> None:
    shown = ycsb("--help")
    assert shown.exit_code == 0
    words = " ".join(shown.stdout.split())
    for said in ("-threads N", "cassandra-cql", "--as-ycsb", "Example: steelyard ycsb run cassandra-cql"):
        assert said in words
    for difference in DIFFERENCES.values():
        assert f"YCSB: {difference.ycsb}. Here: {difference.here}." in words


@pytest.mark.usefixtures("fake_engine")
def test_output_goes_to_stdout_and_all_else_to_stderr(tmp_path: Path) -> None:
    done = ycsb(f"run basic {A} -p recordcont=5 -threads 2000 -p cassandra.password=secret")
    assert "secret" not in done.stderr
    assert done.exit_code == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first.startswith("Warning: the threadcount is bigger than recordcount")
    assert rest[0].startswith("[OVERALL], RunTime(ms), ")
    lines = done.stderr.splitlines()
    assert lines[0].startswith("Command line: run basic -P ")
    assert "Loading workload..." in lines
    assert "Starting test." in lines
    assert done.stderr.count("unlike YCSB: the exit code is 2") == 1
    assert "unknown property 'recordcont' is ignored (did you mean 'recordcount'?)" in done.stderr
    [result] = (tmp_path / "results").iterdir()
    assert f"result: {result}" in lines


@pytest.mark.usefixtures("fake_engine")
def test_a_file_takes_the_output_and_no_result_stays(tmp_path: Path) -> None:
    done = ycsb(f"load basic {A} --no-result -p exportfile=out.json -p exporter=json")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "RunTime(ms)" in json.loads((tmp_path / "out.json").read_text())["OVERALL"]
    assert not (tmp_path / "results").exists()


@pytest.mark.usefixtures("fake_engine")
def test_as_ycsb_says_nothing_of_differences() -> None:
    assert "unlike YCSB" not in ycsb(f"run basic {A} --as-ycsb --no-result").stderr


@pytest.mark.parametrize(
    ("mode", "words", "code", "said"),
    [
        ("", "run bsic", 2, "no database 'bsic'"),
        ("", "run basic -p exportfile=nowhere/x", 2, "is no folder that can be written to"),
        ("", "run basic --out .", 2, "exists already"),
        ("unreachable", "run basic", 3, "cannot reach the database"),
        ("plan-refused", "run basic", 2, "workload.records must be above 0"),
        ("all-fail-in-run", "run basic", 3, "none of "),
        ("die-in-run", "run basic", 3, "was killed by SIGKILL"),
    ],
)
def test_exit_codes(fake_engine: FakeEngine, mode: str, words: str, code: int, said: str) -> None:
    fake_engine.mode(mode)
    ours = ycsb(f"{words} {A}")
    assert (ours.exit_code, said in ours.stderr) == (code, True), ours.stderr
    theirs = ycsb(f"{words} {A} --as-ycsb")
    assert (theirs.exit_code, said in theirs.stderr) == (0, True), theirs.stderr
