"""Processes known by identity, and the record that ends leftovers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts import clusters, network, process, records
from steelyard.hosts.process import Identity

SLEEP = ["sleep", "600"]


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_STATE", str(tmp_path / "state"))


def started(tmp_path: Path, seen: list[Identity]) -> tuple[Identity, subprocess.Popen[bytes]]:
    return process.start(SLEEP, log=tmp_path / "log", cwd=tmp_path, before=seen.append, die_with_us=False)


def test_a_server_is_told_of_before_it_runs_and_ended_by_identity(tmp_path: Path) -> None:
    seen: list[Identity] = []
    found, child = started(tmp_path, seen)
    assert seen == [found]
    assert process.alive(found)
    assert os.getsid(found.pid) == found.pid
    process.kill_all(lambda: [found])
    assert not process.alive(found)
    assert child.wait() == -signal.SIGKILL


SLACK = """
import threading
def tell(): print(open(f"/proc/{threading.get_native_id()}/timerslack_ns").read().strip())
tell()
other = threading.Thread(target=tell)
other.start()
other.join()
"""


def test_all_threads_of_a_server_have_the_slack_that_was_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "log"
    _, child = process.start(
        [sys.executable, "-c", SLACK],
        log=log,
        cwd=tmp_path,
        before=lambda _: None,
        die_with_us=False,
        timer_slack_us=1000,
    )
    assert child.wait() == 0
    assert log.read_text() == "1000000\n" * 2


def test_a_shell_that_ends_before_it_is_told_to_go_on_is_an_error_with_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "WAIT_FOR_GO", "exit 3")

    def gone(found: Identity) -> None:
        assert process.wait_gone([found], 10.0)

    with pytest.raises(InfrastructureError, match=r"600 ended before it began: .*/log says why"):
        process.start(SLEEP, log=tmp_path / "log", cwd=tmp_path, before=gone, die_with_us=False)


def test_a_server_never_runs_when_it_could_not_be_recorded(tmp_path: Path) -> None:
    seen: list[Identity] = []

    def fail(found: Identity) -> None:
        seen.append(found)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        process.start(["touch", "ran"], log=tmp_path / "log", cwd=tmp_path, before=fail, die_with_us=False)
    assert process.wait_gone(seen, 10.0)
    assert not (tmp_path / "ran").exists()


def test_another_process_with_the_same_pid_is_left_alone(tmp_path: Path) -> None:
    found, child = started(tmp_path, [])
    other = Identity(found.pid, found.start_ticks + 1, found.boot_id)
    earlier_boot = Identity(found.pid, found.start_ticks, "another boot")
    assert not process.alive(other)
    assert not process.alive(earlier_boot)
    process.kill_all(lambda: [other, earlier_boot])
    assert child.poll() is None
    process.kill_all(lambda: [found])
    child.wait()


def test_what_is_frozen_is_killed(tmp_path: Path) -> None:
    found, child = started(tmp_path, [])
    process.send(found, signal.SIGSTOP)
    process.kill_all(lambda: [found])
    assert child.wait() == -signal.SIGKILL


def test_a_server_dies_with_the_tool(tmp_path: Path) -> None:
    """The kernel ends it when the tool is killed, before any next start."""
    script = (
        "import sys, os, time; from pathlib import Path; from steelyard.hosts import process\n"
        "here = Path(sys.argv[1])\n"
        "found, _ = process.start(['sleep', '600'], log=here / 'log', cwd=here,\n"
        "                         before=lambda _: None, die_with_us=True)\n"
        "while Path(f'/proc/{found.pid}/comm').read_text() != 'sleep\\n': pass\n"
        "print(found.pid, found.start_ticks, found.boot_id, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, tmp_path], stdout=subprocess.PIPE, text=True
    ) as tool:
        assert tool.stdout is not None
        pid, ticks, boot = tool.stdout.readline().split()
        server = Identity(int(pid), int(ticks), boot)
        assert process.alive(server)
        tool.kill()
    assert process.wait_gone([server], 10.0)


def record(name: str, root: Path, server: Identity, owner: Identity | None) -> records.Record:
    made = records.Record(name, "cassandra", str(root), str(root), "127.10.9", owner)
    made.processes["node1"] = server
    made.save()
    root.mkdir()
    return made


def test_leftovers_are_those_whose_owner_is_gone(tmp_path: Path) -> None:
    mine, kept, left = (started(tmp_path, []) for _ in range(3))
    me = process.own_identity()
    gone = Identity(me.pid, me.start_ticks - 1, me.boot_id)
    record("mine", tmp_path / "mine", mine[0], me)
    record("kept", tmp_path / "kept", kept[0], None)
    record("left", tmp_path / "left", left[0], gone)
    assert clusters.end_leftovers() == [f"ended left, left over by process {me.pid}"]
    assert left[1].wait() == -signal.SIGKILL
    assert not (tmp_path / "left").exists()
    assert [found.name for found in records.records()] == ["kept", "mine"]
    assert records.load("mine").owner == me
    for name, (_, child) in (("mine", mine), ("kept", kept)):
        assert child.poll() is None
        clusters.take_down(records.load(name))
        child.wait()
    assert records.records() == []


def test_unknown_cluster_and_bad_name() -> None:
    with pytest.raises(InputError, match="no cluster named 'nope'"):
        records.load("nope")
    with pytest.raises(InputError, match="cannot name a cluster"):
        records.checked_name("../lab")


def test_a_process_is_frozen_when_its_last_thread_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGSTOP reaches the threads one by one; a thread that still runs may answer a client."""
    me = process.own_identity()
    line = (process.PROC / "self" / "stat").read_text()
    head, _, rest = line.rpartition(")")
    monkeypatch.setattr(process, "PROC", tmp_path)
    own = tmp_path / str(me.pid)
    for thread in ("1", "2"):
        (own / "task" / thread).mkdir(parents=True)

    def state(leader: str, other: str) -> bool:
        for where, letter in ((own, leader), (own / "task/1", leader), (own / "task/2", other)):
            (where / "stat").write_text(f"{head}) {letter}{rest[2:]}")
        seen = process.look(me)
        assert seen is not None
        return seen.frozen

    assert not state("S", "S")
    assert not state("T", "R")
    assert state("T", "T")


def test_an_occupied_port_names_its_owner() -> None:
    with socket.create_server(("127.10.250.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(InfrastructureError) as caught:
            network.check_ports({("127.10.250.1", port): ""})
    name = Path("/proc/self/comm").read_text().strip()
    assert caught.value.message == f"127.10.250.1:{port} is already used by {name} (pid {os.getpid()})"
    network.check_ports({("127.10.250.1", port): ""})


def test_each_cluster_has_its_own_block() -> None:
    assert network.free_block([], namespaced=False) == "127.10.0"
    assert network.free_block(["127.10.0", "10.77.1"], namespaced=False) == "127.10.1"
    assert network.free_block(["10.77.0"], namespaced=True) == "10.77.1"
