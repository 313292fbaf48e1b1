"""Servers that die or freeze, and a user who changes their mind: results are kept, no server stays behind."""

from __future__ import annotations

import signal
from collections.abc import Callable

import psutil
import pytest
from bench_command import Command, summary

pytestmark = pytest.mark.beside
pytest_plugins = ["bench_fixtures"]
Start = Callable[[str], Command]
DAEMON = "CassandraDaemon"
TWO = "bench cassandra -w a --nodes 2 --rf 2 --profile quick --records 1000 --clients 8 --timeout 2s"


def running(line: str) -> bool:
    return "  run  " in line


def deaths(one: Command) -> list[str]:
    return [e["detail"] for e in one.trial().manifest["timeline"] if e["event"] == "server died"]


def test_a_server_that_dies_in_the_run(command: Start) -> None:
    one = command(f"{TWO} --duration 12s")
    one.until(running)
    one.processes(DAEMON)[1].send_signal(signal.SIGKILL)
    one.until(lambda line: "died:" in line)
    assert one.end() == 0, one.stderr
    trial = one.trial()
    assert trial.manifest["status"] == "done"
    assert len(deaths(one)) == 1
    assert any(w["kind"] == "server died" for w in trial.manifest["warnings"])
    run = summary(trial, "run")
    assert (run["operations"] > 0, run["ok"] > 0) == (True, True)
    died = next(e["t_ns"] for e in trial.manifest["timeline"] if e["event"] == "server died")
    after = trial.intervals().filter(phase="run", op="TOTAL")
    assert after.filter(after["t_ns"] > died)["ok"].sum() > 0  # the other node goes on


def test_a_server_that_freezes_in_the_run(command: Start) -> None:
    one = command(f"{TWO} --duration 12s --read-consistency ALL --write-consistency ALL --retry none")
    one.until(running)
    victim = one.processes(DAEMON)[1]
    victim.suspend()
    assert one.end() == 0, one.stderr
    assert one.trial().manifest["status"] == "done"
    assert sum(summary(one.trial(), "run")["failed"].values()) > 0
    assert not victim.is_running()


def test_the_only_server_dies_while_loading(command: Start) -> None:
    one = command("bench cassandra -w a --profile quick --records 1000000 --timeout 2s")
    one.until(lambda line: "  load  " in line)
    one.processes(DAEMON)[0].send_signal(signal.SIGKILL)
    assert one.end() == 3, one.stderr
    manifest = one.trial().manifest
    assert manifest["status"] == "failed"
    assert "load was stopped: nothing was answered" in manifest["reason"]
    assert "node1" in manifest["reason"]
    assert summary(one.trial(), "load")["ok"] > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_while_coming_up(command: Start, number: signal.Signals) -> None:
    one = command(f"{TWO} --duration 60s")
    one.until(lambda line: "answers" in line)
    servers = one.processes(DAEMON)
    one.process.send_signal(number)
    assert one.end() == 130, one.stderr
    assert one.trial().manifest["status"] == "interrupted"
    assert servers
    assert not any(server.is_running() for server in servers)


def test_stopped_while_running(command: Start) -> None:
    one = command(f"{TWO} --duration 120s")
    one.until(running)
    servers = one.processes(DAEMON)
    one.process.send_signal(signal.SIGINT)
    assert one.end() == 130, one.stderr
    assert one.trial().manifest["phases"][-1]["reason"] == "stop"
    assert summary(one.trial(), "run")["ok"] > 0
    assert not any(server.is_running() for server in servers)


def test_two_interrupts_while_running(command: Start) -> None:
    one = command(f"{TWO} --duration 120s")
    one.until(running)
    servers = one.processes(DAEMON)
    for server in servers:
        server.suspend()  # so that the orderly stop has to wait for answers
    one.process.send_signal(signal.SIGINT)
    one.until(lambda line: "Ctrl-C again" in line)
    one.process.send_signal(signal.SIGINT)
    assert one.end() == 130, one.stderr
    assert one.trial().manifest["status"] == "interrupted"
    assert not any(server.is_running() for server in servers)


def test_killed_outright_leaves_servers_that_the_next_start_ends(command: Start) -> None:
    one = command("bench cassandra -w a --profile quick --records 1000 --duration 120s")
    one.until(running)
    servers, [engine] = one.processes(DAEMON), one.processes("steelyard-engine")
    one.process.kill()
    engine.wait(60)
    again = command("bench cassandra -w c --profile quick --records 500 --operations 500")
    assert again.end() == 0, again.stderr
    assert not any(psutil.pid_exists(server.pid) and server.is_running() for server in servers)
