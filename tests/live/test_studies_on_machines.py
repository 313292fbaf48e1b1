"""Studies of real clusters on other machines: laid over server hosts, and on benches that keep data."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ssh_machines import RUN, Machines, ended, machines, until_line

from steelyard.engine.path import find_engine
from steelyard.folders import cache_folder
from steelyard.hosts import cgroup
from steelyard.results.read import TrialResult

LOAD, SERVERS = 1, (2, 3)
"""Of three machines the one that drives, and those that have nodes or are benches."""
CPU = 0.8
STUDY = """
repetitions = 2
budget.fixed = true
reset = "{reset}"
workload = {{ base = "a", records = 500 }}
system = {{ kind = "cassandra", profile = "quick", nodes = {nodes}, limits.cpu = {cpu} }}
[load]
duration_s = {seconds}
target = 200
"""


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    folder = tmp_path_factory.mktemp("machines")
    with machines(3, folder, find_engine().path, cache_folder()) as found:
        yield found


def begun(three: Machines, folder: Path, which: tuple[int, ...], *more: str) -> subprocess.Popen[str]:
    """The study of a folder, run or gone on with."""
    named = ",".join(f"root@{three.addresses[i - 1]}" for i in which)
    words = ["--out", str(folder / "run"), "--ssh", named, "--key", str(three.key), "--no-report", *more]
    return three.steelyard("run", str(folder / "laid.toml"), *words)


def rows(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "run" / "run.json").read_text())["trials"]
    return found


def manifest(folder: Path, number: int) -> dict[str, Any]:
    path = folder / "run" / "trials" / f"{number:03d}" / "manifest.json"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def nothing_left(three: Machines, *which: int) -> bool:
    """No process on machines, and no record of a cluster."""
    records = [path for i in which for path in (three.folder / f"m{i}").glob("state/clusters/*/cluster.json")]
    return not records and not any(three.processes(i) for i in which)


def quotas() -> list[str]:
    """The CPU quota of each node of the study's cluster, as the kernel has it, in us of a period."""
    old = cgroup.MOUNT.glob("cpu/steelyard/laid-*/node*/cpu.cfs_quota_us")
    new = cgroup.MOUNT.glob("steelyard/laid-*/node*/cpu.max")
    return [path.read_text().split()[0] for path in (*old, *new)]


def test_a_study_over_server_hosts_goes_on_after_a_lost_machine_and_an_interruption(
    three: Machines, tmp_path: Path
) -> None:
    study = STUDY.format(reset="truncate", nodes=2, cpu=CPU, seconds=6)
    study = study.replace("[load]", 'cache = "rewarmed"\n[load]\nwarmup_s = 1')
    (tmp_path / "laid.toml").write_text(study)
    over = (LOAD, *SERVERS)
    one = begun(three, tmp_path, over, "--server-hosts", "2")
    until_line(one, RUN)
    assert quotas() == [str(round(CPU * cgroup.CPU_PERIOD_US))] * 2
    os.kill(three.worker(SERVERS[1]), signal.SIGKILL)
    _, error = ended(one)
    assert one.returncode == 3, error
    assert f"the host root@{three.addresses[SERVERS[1] - 1]} was lost, and its nodes with it" in error
    assert [row["status"] for row in rows(tmp_path)] == ["failed", "planned"]

    one = begun(three, tmp_path, over, "--server-hosts", "2")
    until_line(one, RUN, after=("trial 2 of 2",))  # a first one that other guests disturbed runs twice
    one.send_signal(signal.SIGINT)
    _, error = ended(one)
    assert one.returncode == 130, error
    assert "--server-hosts 2" in error, "how it goes on"
    assert [row["status"] for row in rows(tmp_path)] == ["done", "interrupted"]
    assert nothing_left(three, *over)
    first = manifest(tmp_path, 1)

    one = begun(three, tmp_path, over, "--server-hosts", "2")
    _, error = ended(one)
    assert one.returncode == 0, error
    assert [row["status"] for row in rows(tmp_path)] == ["done", "done"]
    assert manifest(tmp_path, 1) == first, "what was done is kept"
    names = [f"root@{three.addresses[i - 1]}" for i in over]
    for number in (1, 2):
        said = manifest(tmp_path, number)
        assert [(host["name"], host["role"]) for host in said["hosts"]] == [
            (name, role) for name, role in zip(names, ("load", "server", "server"), strict=True)
        ]
        assert [node["host"] for node in said["system"]["nodes"]] == names[1:]
        assert "cold" in {event["event"] for event in said["timeline"]}, "of each machine's page cache"
        system = TrialResult(tmp_path / "run" / "trials" / f"{number:03d}").system()
        throttled = {row["source"] for row in system.to_dicts() if row["metric"].startswith("cpu_throttled_")}
        assert throttled == {"node1", "node2"}
    assert nothing_left(three, *over)


def test_points_with_fewer_engines_have_them_on_the_first_load_hosts(three: Machines, tmp_path: Path) -> None:
    (tmp_path / "laid.toml").write_text(
        """
repetitions = 1
budget.fixed = true
reset = "none"
workload = { base = "c", records = 100 }
system = { kind = "null" }
load = { duration_s = 2, clients = 4 }
factors = { engines = [1, 2] }
"""
    )
    one = begun(three, tmp_path, SERVERS)
    _, error = ended(one)
    assert one.returncode == 0, error
    names = [f"root@{three.addresses[i - 1]}" for i in SERVERS]
    for row in rows(tmp_path):
        engines = row["levels"]["engines"]
        said = manifest(tmp_path, row["number"])
        assert [host["name"] for host in said["hosts"]] == names[:engines]
        trial = TrialResult(tmp_path / "run" / "trials" / f"{row['number']:03d}")
        sources = {source for source in trial.system()["source"] if source.startswith("engine")}
        assert sources == ({"engine"} if engines == 1 else {"engine-0", "engine-1"})
    assert nothing_left(three, *SERVERS)


def test_benches_restore_a_real_cluster_s_data_each_from_its_own_load(
    three: Machines, tmp_path: Path
) -> None:
    study = STUDY.format(reset="restore", nodes=1, cpu=CPU, seconds=2)
    (tmp_path / "laid.toml").write_text(study)
    one = begun(three, tmp_path, SERVERS, "--benches", "2")
    _, error = ended(one)
    assert one.returncode == 0, error
    assert error.count("is loaded once") == 2
    found = rows(tmp_path)
    assert [row["status"] for row in found] == ["done", "done"]
    assert {row["host"] for row in found} == {f"root@{three.addresses[i - 1]}" for i in SERVERS}
    loads = {manifest(tmp_path, row["number"])["data"]["load"] for row in found}
    for row in found:
        said = manifest(tmp_path, row["number"])
        run = next(phase for phase in said["phases"] if phase["name"] == "run")
        assert said["data"]["how"] == "restored"
        assert (run["summary"]["failed"], run["summary"]["verify"]["corrupt"]) == ({}, 0)
    kept = {
        json.loads(path.read_text())["data"]["load"]
        for path in (tmp_path / "run").glob("loads/*/manifest.json")
    }
    assert loads == kept
    assert len(kept) == 2
    for i in SERVERS:
        assert len([*(three.folder / f"m{i}" / "state" / "snapshots").glob("*/snapshot.json")]) == 1
    assert nothing_left(three, *SERVERS)
