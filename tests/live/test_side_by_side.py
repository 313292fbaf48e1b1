"""Benches with addresses, processes and clocks of their own: a study over two is the study on one machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ssh_machines import AHEAD_S, Machines, ended, machines, until_line

from steelyard.analysis.stats.runs import FEW
from steelyard.engine.path import find_engine

NS = 1_000_000_000
STUDY = """
repetitions = {repetitions}
budget.fixed = true
workload = "c"
[system]
kind = "{kind}"
[load]
duration_s = {seconds}
[factors]
"load.target" = [400, 1200]
[[claims]]
id = "C1"
statement = "a higher rate is a higher throughput"
metric = "ok_per_s"
unsteady = "runs this short come to no rest"
[claims.check]
kind = "ratio"
numerator = {{ where = {{ "load.target" = 1200 }} }}
denominator = {{ where = {{ "load.target" = 400 }} }}
direction = "above"
"""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with machines(2, tmp_path_factory.mktemp("machines"), find_engine().path) as found:
        yield found


def begun(two: Machines, folder: Path, out: str, *more: str, **form: Any) -> subprocess.Popen[str]:
    form = {"repetitions": 6, "kind": "embedded", "seconds": 0.3} | form
    (folder / "study.toml").write_text(STUDY.format(**form))
    words = ["run", str(folder / "study.toml"), "--set", "workload.records=100", "--no-report"]
    return two.steelyard(*words, "--out", str(folder / out), *more)


def benches(two: Machines) -> list[str]:
    return ["--ssh", two.ssh, "--key", str(two.key), "--benches", "2"]


def rows(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "run.json").read_text())["trials"]
    return found


PLANNED = ("number", "point", "repetition", "seed", "group", "data", "levels", "status")


def plan(folder: Path) -> list[dict[str, Any]]:
    return [{name: row[name] for name in PLANNED} for row in rows(folder)]


def verdicts(two: Machines, folder: Path) -> dict[str, str]:
    process = two.steelyard("report", str(folder), "--format", "json")
    _, error = ended(process)
    assert process.returncode == 0, error
    claims = json.loads((folder / "report.json").read_text())["claims"]
    return {claim["id"]: claim["direction"] for claim in claims}


def decided(folder: Path) -> str:
    """What the claim must come to: other guests of the machine that runs this test may disturb trials."""
    good = [row["point"] for row in rows(folder) if not row["tainted"]]
    return "confirmed" if min(good.count(point) for point in (1, 2)) >= FEW else "inconclusive"


def test_a_study_on_two_benches_is_the_study_on_one_machine(two: Machines, tmp_path: Path) -> None:
    before = time.monotonic_ns()
    there = begun(two, tmp_path, "there", *benches(two))
    _, error = ended(there)
    assert there.returncode == 0, error
    here = begun(two, tmp_path, "here")
    _, error = ended(here)
    assert here.returncode == 0, error
    assert plan(tmp_path / "there") == plan(tmp_path / "here")
    for out in ("there", "here"):
        assert verdicts(two, tmp_path / out) == {"C1": decided(tmp_path / out)}
    hosts: dict[int, set[str]] = {}
    for row in rows(tmp_path / "there"):
        hosts.setdefault(row["repetition"], set()).add(row["host"])
    assert all(len(of) == 1 for of in hosts.values())
    assert set.union(*hosts.values()) == {f"root@{address}" for address in two.addresses}
    for row in rows(tmp_path / "there"):
        folder = tmp_path / "there" / "trials" / f"{row['number']:03d}"
        assert not (folder / "reserve").exists()
        said = json.loads((folder / "manifest.json").read_text())
        machine = [f"root@{address}" for address in two.addresses].index(row["host"]) + 1
        assert before < said["phases"][0]["start_ns"] - machine * AHEAD_S * NS < time.monotonic_ns()
    assert [*two.processes(1), *two.processes(2)] == []
    left = [{path.name for path in (tmp_path / out).iterdir()} for out in ("there", "here")]
    assert left[0] - {"attempts"} == left[1] - {"attempts"}, "but for trials that were run again"


def test_a_killed_worker_s_trial_runs_on_the_other_bench(two: Machines, tmp_path: Path) -> None:
    one = begun(two, tmp_path, "run", *benches(two), kind="null", repetitions=2, seconds=3)
    until_line(one, f"root@{two.addresses[1]}: run")
    os.kill(two.worker(2), signal.SIGKILL)
    _, error = ended(one)
    assert one.returncode == 0, error
    found = rows(tmp_path / "run")
    assert [row["status"] for row in found] == ["done"] * 4
    assert {row["host"] for row in found} == {f"root@{two.addresses[0]}"}
    tried = [attempt for row in found for attempt in row["attempts"]]  # other guests may have disturbed some
    assert [one["host"] for one in tried if one["status"] == "cut short"] == [f"root@{two.addresses[1]}"]
    two.until(lambda: not two.processes(2))


def test_an_interruption_keeps_what_is_done_and_the_rest_goes_on(two: Machines, tmp_path: Path) -> None:
    one = begun(two, tmp_path, "run", *benches(two), kind="null", repetitions=2, seconds=3)
    until_line(one, ": run", after=("trial 2 of 4", "trial 4 of 4"))  # a bench has gone on to its second
    one.send_signal(signal.SIGINT)
    _, error = ended(one)
    assert one.returncode == 130, error
    found = rows(tmp_path / "run")
    done = {row["number"]: row["host"] for row in found if row["status"] == "done"}
    assert done
    assert len(done) < 4
    assert {row["status"] for row in found} <= {"done", "interrupted", "planned"}
    assert [*two.processes(1), *two.processes(2)] == []
    again = begun(two, tmp_path, "run", *benches(two), kind="null", repetitions=2, seconds=3)
    _, error = ended(again)
    assert again.returncode == 0, error
    found = rows(tmp_path / "run")
    assert [row["status"] for row in found] == ["done"] * 4
    assert {number: host for number, host in done.items() if host != found[number - 1]["host"]} == {}
    homes: dict[int, set[str]] = {}
    for row in found:
        homes.setdefault(row["repetition"], set()).add(row["host"])
    assert all(len(of) == 1 for of in homes.values())


def test_a_killed_laboratory_leaves_nothing_on_benches(two: Machines, tmp_path: Path) -> None:
    one = begun(two, tmp_path, "run", *benches(two), kind="null", repetitions=2, seconds=300)
    until_line(one, ": run", 2)  # both are measuring
    running = [process for i in (1, 2) for process in two.processes(i)]
    assert sum("steelyard-engine run" in process for process in running) == 2, running
    one.kill()
    ended(one)
    two.until(lambda: not any(two.processes(i) for i in (1, 2)))


def test_one_machine_under_two_names_is_refused(two: Machines, tmp_path: Path) -> None:
    same = two.addresses[0].replace(".0.", ".")  # 10.77.11 is 10.77.0.11
    names = f"root@{two.addresses[0]},root@{same}"
    refused = begun(two, tmp_path, "run", "--ssh", names, "--key", str(two.key), "--benches", "2")
    _, error = ended(refused)
    assert refused.returncode == 3
    assert "two names" in error
    assert not (tmp_path / "run").exists()
