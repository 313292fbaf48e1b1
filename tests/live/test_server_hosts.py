"""Clusters over machines with addresses, processes and clocks of their own, driven from others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from ssh_machines import AHEAD_S, RUN, Machines, ended, machines, until_line

from steelyard.engine.path import find_engine
from steelyard.folders import cache_folder
from steelyard.results.read import TrialResult

pytestmark = pytest.mark.beside
LOAD, SERVERS = (1, 2), (3, 4, 5)
"""Of five machines those that drive, and those that have nodes."""
LIMIT_S = 500
NS = 1_000_000_000


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    folder = tmp_path_factory.mktemp("machines")
    with machines(5, folder, find_engine().path, cache_folder()) as found:
        yield found


def ssh(five: Machines, *which: int) -> list[str]:
    """The flags that name machines."""
    named = ",".join(f"root@{five.addresses[i - 1]}" for i in which)
    return ["--ssh", named, "--key", str(five.key)]


def ends_with(process: subprocess.Popen[str], status: int = 0) -> str:
    """What it printed until it ended so."""
    told, error = ended(process)
    assert process.returncode == status, error
    return told


def manifest(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "trials" / "001" / "manifest.json").read_text())
    return found


def javas(five: Machines, i: int) -> list[str]:
    """Servers on a machine."""
    return [line for line in five.processes(i) if "CassandraDaemon" in line or "hadoop" in line]


def bench(five: Machines, kind: str, out: Path, *more: str) -> subprocess.Popen[str]:
    words = ["--profile", "quick", "-w", "a", "--records", "2000", "--target", "300", "--seed", "7"]
    roles = [*ssh(five, *LOAD, *SERVERS), "--load-hosts", "2", "--server-hosts", "3"]
    return five.steelyard("bench", kind, *words, *roles, "--no-report", "--out", str(out), *more)


def check(five: Machines, out: Path, nodes: int) -> None:
    """What every run over these machines must have."""
    said = manifest(out)
    assert said["status"] == "done"
    assert said["system"]["network"] == "hosts"
    assert len(said["system"]["nodes"]) == nodes
    by_name = {host["name"]: host for host in said["hosts"]}
    assert [host["role"] for host in said["hosts"]] == ["load"] * 2 + ["server"] * 3
    for i, host in enumerate(said["hosts"], 1):
        assert host["lost_ns"] is None
        for measured in host["clock"]["measured"]:
            assert abs(measured["offset_ns"] - i * AHEAD_S * NS) <= measured["bound_ns"]
    for node in said["system"]["nodes"]:
        assert by_name[node["host"]]["address"] == node["address"]
    run = next(phase for phase in said["phases"] if phase["name"] == "run")
    assert len(run["summary"]["engines"]) == 2
    assert not run["summary"]["failed"]
    system = TrialResult(out / "trials" / "001").system()
    names = {node["name"] for node in said["system"]["nodes"]}
    assert {*names, "engine-0", "engine-1"} <= set(system["source"])
    during = system.filter(pl.col("t_ns").is_between(run["start_ns"], run["end_ns"]))
    for name in names:  # about once a second, by the laboratory's clock
        ticks = during.filter((pl.col("source") == name) & (pl.col("metric") == "memory_bytes"))
        assert ticks.height >= 0.5 * (run["end_ns"] - run["start_ns"]) / NS
    assert any(metric.startswith("server_") for metric in during["metric"].unique())
    for i in range(1, 6):
        assert five.processes(i) == []
        assert list((five.folder / f"m{i}" / "state").glob("clusters/*/cluster.json")) == []


def test_cassandra_on_three_machines_under_load_from_two(five: Machines, tmp_path: Path) -> None:
    out = tmp_path / "one"
    ends_with(bench(five, "cassandra", out, "--rf", "3", "--write-consistency", "QUORUM", "--duration", "8s"))
    check(five, out, 3)
    assert {node["address"] for node in manifest(out)["system"]["nodes"]} == {
        five.addresses[i - 1] for i in SERVERS
    }
    assert (out / "trials" / "001" / "servers" / "node3" / "logs" / "system.log").stat().st_size > 0


def cleaned(five: Machines, name: str) -> None:
    """The last machine has what is left of a cluster, and at its next use nothing any more."""
    records = five.folder / "m5" / "state" / "clusters"
    assert [path.parent.name.startswith(name) for path in records.glob("*/cluster.json")] == [True]
    looking = five.steelyard("cluster", "list", *ssh(five, 5))
    _, error = looking.communicate(timeout=LIMIT_S)
    assert "left over by process" in error
    assert list(records.glob("*/cluster.json")) == []


def test_a_killed_worker_is_a_dead_node_of_a_secure_cluster(five: Machines, tmp_path: Path) -> None:
    """Its server ends with it, others serve on; and no key or password is among the results."""
    out = tmp_path / "one"
    one = bench(five, "cassandra", out, "--rf", "3", "--duration", "15s", "--secure")
    until_line(one, RUN)
    os.kill(five.worker(5), signal.SIGKILL)
    ends_with(one)
    assert five.processes(5) == []
    said = manifest(out)
    [death] = [entry["detail"] for entry in said["timeline"] if entry["event"] == "server died"]
    assert death.startswith(f"node3: the host root@{five.addresses[4]} is lost")
    assert [host["lost_ns"] is None for host in said["hosts"]] == [True] * 4 + [False]
    run = next(phase for phase in said["phases"] if phase["name"] == "run")
    assert len(run["summary"]["engines"]) == 2
    assert run["summary"]["ok"] > 0
    assert [path for path in out.rglob("*") if path.name in ("password", "client-key.pem")] == []
    cleaned(five, "cassandra")


def test_a_machine_that_is_cut_off_ends_its_servers(five: Machines, tmp_path: Path) -> None:
    words = [sys.executable, str(Path(__file__).with_name("sleeping_cluster.py")), ssh(five, *SERVERS)[1]]
    environment = {**os.environ, **five.environment(five.folder / "lab"), "HOME": str(five.folder)}
    with subprocess.Popen(
        [*five.inside(), *words, str(five.key), str(tmp_path)],
        stdout=subprocess.PIPE, text=True, env=environment,
    ) as lab:  # fmt: skip
        try:
            assert lab.stdout is not None
            assert any(line == "up\n" for line in lab.stdout)
            five.cut(5)
            five.until(lambda: not five.processes(5))
            five.join(5)
            lost = f"dead: node3: the host root@{five.addresses[4]} is lost"
            assert next(lab.stdout).startswith(lost)
            assert len(five.processes(4)) == 2  # the worker, and its server
        finally:
            lab.kill()
    five.until(lambda: not any(five.processes(i) for i in SERVERS))
    cleaned(five, "sleeping")


def test_a_cluster_over_machines_stays_and_goes(five: Machines, tmp_path: Path) -> None:
    there = ssh(five, *SERVERS)
    told = ends_with(
        five.steelyard("cluster", "up", "cassandra", "--profile", "quick", "--name", "lab", *there)
    )
    assert "used with: steelyard bench cassandra --hosts" in told
    assert all(len(javas(five, i)) == 1 for i in SERVERS)
    status = ends_with(five.steelyard("cluster", "status", "lab", *there))
    assert status.count(" up ") == 3
    assert status.count("3/3") == 3
    hosts = ",".join(five.addresses[i - 1] for i in SERVERS)
    words = [
        "bench",
        "cassandra",
        "--hosts",
        hosts,
        "--rf",
        "3",
        "-w",
        "a",
        "--records",
        "1000",
        "--operations",
    ]
    far = [*ssh(five, *LOAD), "--watch-hosts", there[1]]
    ends_with(five.steelyard(*words, "3000", *far, "--no-report", "--out", str(tmp_path / "given")))
    check_watched(five, tmp_path / "given")
    ends_with(five.steelyard("cluster", "down", "lab", *there))
    assert not any(javas(five, i) for i in SERVERS)
    assert "no clusters" in ends_with(five.steelyard("cluster", "list", *there))


def check_watched(five: Machines, out: Path) -> None:
    """Of a given cluster there are what its nodes tell, and what their machines use."""
    said = manifest(out)
    names = [five.addresses[i - 1] for i in SERVERS]
    assert said["status"] == "done"
    assert not [warning for warning in said["warnings"] if warning["kind"] in ("watched", "system")]
    assert [host["role"] for host in said["hosts"]] == ["load"] * 2 + ["watched"] * 3
    assert [host["node"] for host in said["hosts"][2:]] == names
    assert sorted(node["name"] for node in said["system"]["nodes"]) == sorted(names)
    told = TrialResult(out / "trials" / "001").system().group_by("source").agg(pl.col("metric").unique())
    by_source = {source: set(metrics) for source, metrics in told.iter_rows()}
    assert all(by_source[name] > {"cpu_seconds_total", "server_local_writes_total"} for name in names)
    assert not [what for what in said["host"]["missing"] if what.endswith("network")]


def test_hbase_on_three_machines_under_load_from_two(five: Machines, tmp_path: Path) -> None:
    out = tmp_path / "one"
    ends_with(bench(five, "hbase", out, "--duration", "6s"))
    check(five, out, 4)
    by_name = {node["name"]: node for node in manifest(out)["system"]["nodes"]}
    assert by_name["master1"]["host"] == by_name["node1"]["host"]
    assert {node["ports"].get("dfs.datanode.address", 9866) for node in by_name.values()} == {9866}
