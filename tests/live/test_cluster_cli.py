"""`steelyard cluster` and `steelyard doctor` as a user types them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.hosts import records
from steelyard.hosts.clusters import take_down_by_name
from steelyard.hosts.process import alive

CALL = "from steelyard.cli import app; app()"


def steelyard(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", CALL, *words], capture_output=True, text=True, check=False)


@pytest.fixture
def lab() -> Iterator[str]:
    name = "clilab"
    yield name
    if name in {record.name for record in records.records()}:
        take_down_by_name(name)


def test_a_cluster_stays_until_it_is_taken_down(lab: str) -> None:
    up = steelyard(
        *f"cluster up cassandra --nodes 1 --name {lab} --profile quick --set concurrent_reads=4".split()
    )
    assert up.returncode == 0, up.stderr
    assert f"{lab} is up after" in up.stdout
    record = records.load(lab)
    assert f"used with: steelyard bench cassandra --hosts {record.nodes[0]['address']}\n" in up.stdout
    server = record.processes["node1"]
    assert alive(server)
    assert "concurrent_reads: 4" in (Path(record.root) / "node1" / "conf" / "cassandra.yaml").read_text()
    (row,) = [line for line in steelyard("cluster", "status", lab).stdout.splitlines() if "node1" in line]
    assert [str(server.pid), "up", "1/1"] == [
        word for word in row.split() if word in {str(server.pid), "up", "1/1"}
    ]
    assert "256" in row or "24" in row  # the heap, from the agent
    assert lab in steelyard("cluster", "list").stdout
    assert (
        "Starting listening for CQL clients" in steelyard("cluster", "logs", lab, "node1", "-n", "500").stdout
    )
    twice = steelyard("cluster", "up", "cassandra", "--name", lab, "--profile", "quick")
    assert (twice.returncode, f"a cluster named '{lab}' is up" in twice.stderr) == (2, True)
    down = steelyard("cluster", "down", lab)
    assert (down.returncode, down.stdout) == (0, f"{lab} is down\n")
    assert not alive(server)
    assert not (records.clusters_folder() / lab).exists()
    assert steelyard("cluster", "status", lab).returncode == 2


def test_what_cannot_be_is_said_before_anything_is_started(state_folder: Path) -> None:
    wrong = steelyard("cluster", "up", "cassandra", "--version", "2.2", "--name", "wrong")
    assert wrong.returncode == 2
    assert "Cassandra 2.2 cannot be run" in wrong.stderr
    embedded = steelyard("cluster", "up", "embedded")
    assert embedded.returncode == 2
    assert not (state_folder / "clusters" / "wrong").exists()


def test_doctor_finds_what_is_here() -> None:
    found = steelyard("doctor")
    assert found.returncode == 0, found.stderr
    for word in ("Java for Cassandra 5.0", "Maven", "cores", "memory", "ports", "control groups"):
        assert word in found.stdout
    assert "bench embedded: ready" in found.stdout
