"""The user's commands on real Cassandra nodes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bench_command import Command, offered, summary

pytestmark = pytest.mark.live
pytest_plugins = ["bench_fixtures"]
Start = Callable[[str], Command]
SMALL = "--profile quick --records 2000 --operations 4000 --clients 8"


def test_three_nodes_at_quorum(command: Start) -> None:
    level = "--rf 3 --read-consistency QUORUM --write-consistency QUORUM"
    one = command(f"bench cassandra -w a --nodes 3 {level} --verify full {SMALL}")
    assert one.end() == 0, one.stderr
    trial = one.trial()
    manifest = trial.manifest
    assert manifest["status"] == "done"
    run = summary(trial, "run")
    assert (run["ok"], run["failed"]) == (4000, {})
    assert [run["verify"][v] for v in ("corrupt", "foreign", "stale", "lost")] == [0, 0, 0, 0]
    assert {"node1", "node2", "node3"} <= set(trial.system()["source"])
    servers = {folder.name for folder in (trial.path / "servers").iterdir()}
    assert {"node1", "node2", "node3"} <= servers
    steps = ("up", "engines", "schema", "load", "settle", "run", "down")
    assert all(manifest["timing"][step] > 0 for step in steps)
    assert manifest["system"]["durability"]


def test_a_rate_on_two_engines(command: Start) -> None:
    one = command(
        "bench cassandra -w b --profile quick --records 2000 --target 300 --arrivals poisson --in-flight 64 "
        "--duration 10s --warmup 3s --engines 2"
    )
    assert one.end() == 0, one.stderr
    run = summary(one.trial(), "run")
    assert abs(offered(run) - 3000) < 400
    assert len(run["engines"]) == 2


def test_rates_along_a_curve_and_an_audit_by_both_engines(command: Start) -> None:
    one = command(
        "bench cassandra -w a --profile quick --records 2000 --curve 0s=100,4s=500,4s=200,6s=200 "
        "--verify full --audit --engines 2"
    )
    assert one.end() == 0, one.stderr
    trial = one.trial()
    assert trial.phases == ["load", "run", "audit"]
    run, found = summary(trial, "run"), summary(trial, "audit")["audit"]
    assert offered(run) == 1600
    assert found["records"] >= 2000
    assert [found[fault] for fault in ("unread", "lost", "fields_lost", "stale")] == [0, 0, 0, 0]


def test_a_setting_that_is_none_is_named(command: Start) -> None:
    one = command(f"bench cassandra --set concurent_reads=16 {SMALL}")
    assert one.end() == 2
    assert "concurent_reads" in one.stderr
    assert "Traceback" not in one.stderr


def test_a_version_that_is_none_leaves_no_folder(command: Start) -> None:
    one = command(f"bench cassandra --version 9.9 {SMALL}")
    assert one.end() == 2
    assert not one.out.exists()


def test_hosts_that_do_not_answer(command: Start) -> None:
    one = command(f"bench cassandra --hosts 127.0.0.1 --port 1 {SMALL.removeprefix('--profile quick ')}")
    assert one.end() == 3
    assert "error: " in one.stderr
    assert "Traceback" not in one.stderr
