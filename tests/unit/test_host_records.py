"""What is recorded of clusters, and what becomes of it: other machines, damage, leftovers, threads."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts import cgroup, clusters, mounts, process, records
from steelyard.hosts.clusters import Claim
from steelyard.hosts.host import Command
from steelyard.hosts.local import LocalHost
from steelyard.hosts.machine import Machine, this_machine
from steelyard.hosts.process import Identity
from steelyard.hosts.records import Record

ROOT = os.geteuid() == 0
HERE = this_machine()


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STEELYARD_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def claimed(host: LocalHost, root: Path, name: str = "one") -> Record:
    record = host.claim(Claim(name, "cassandra", root, 2, stays=False))
    (root / "node1").mkdir(parents=True)
    return record


def of_the_dead(record: Record, machine: Machine = HERE) -> Record:
    """The record of a cluster whose owner is gone."""
    me = process.own_identity()
    record.owner, record.machine = replace(me, start_ticks=me.start_ticks - 1), machine
    record.save()
    return record


def command(record: Record, server: str, *words: str, group: cgroup.Group | None = None) -> Command:
    folder = Path(record.root)
    return Command(record.name, server, words, folder, folder / "log", group or cgroup.Group())


def test_a_cluster_that_goes_while_others_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = LocalHost()
    claimed(host, tmp_path / "a", "one")
    claimed(host, tmp_path / "b", "two")
    load = records.load

    def gone_by_then(name: str) -> Record:
        if name == "one":
            shutil.rmtree(records.clusters_folder() / name)
        return load(name)

    monkeypatch.setattr(records, "load", gone_by_then)
    assert [record.name for record in records.records()] == ["two"]
    assert host.end_leftovers() == []
    assert host.claim(Claim("three", "cassandra", tmp_path / "c", 1, stays=False)).block == "127.10.0"


@pytest.mark.parametrize(
    "machine",
    [
        replace(HERE, hostname="b", machine_id="other", boot_id="other"),
        replace(HERE, hostname="b", boot_id="other"),  # a container of the same image
        replace(HERE, pid_namespace=1),  # a container of the same machine
        replace(HERE, machine_id="", boot_id="other"),  # nobody can tell
    ],
)
def test_what_another_machine_started_is_left_alone(tmp_path: Path, machine: Machine) -> None:
    record = of_the_dead(claimed(LocalHost(), tmp_path / "one"), machine)
    assert record.state() == "elsewhere"
    assert LocalHost().end_leftovers() == []
    assert (tmp_path / "one" / "node1").exists()
    with pytest.raises(InputError, match=f"one was started on {machine.hostname} ") as caught:
        clusters.take_down_by_name("one")
    assert str(tmp_path / "one") in str(caught.value.hint)
    assert records.load("one") == record


def test_what_was_left_before_a_reboot_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = replace(HERE, machine_id="m")
    monkeypatch.setattr("steelyard.hosts.machine.this_machine", lambda: here)
    before = replace(here, boot_id="earlier", pid_namespace=4)
    of_the_dead(claimed(LocalHost(), tmp_path / "one"), before)
    assert LocalHost().end_leftovers() == [f"ended one, left over by process {os.getpid()}"]
    assert not (tmp_path / "one").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 3}', '{"format": 3, "name": 1, "x": 2}'])
def test_a_damaged_record_is_set_aside_and_blocks_nobody(tmp_path: Path, state: Path, text: str) -> None:
    host = LocalHost()
    claimed(host, tmp_path / "one")
    (state / "clusters" / "one" / records.FILE).write_text(text)
    assert records.records() == []
    with pytest.raises(InfrastructureError, match="the record of cluster 'one' cannot be read"):
        records.load("one")
    (said,) = host.end_leftovers()
    aside = state / "damaged" / "one"
    assert "cluster 'one'" in said
    assert str(aside) in said
    assert (aside / records.FILE).read_text() == text
    assert host.end_leftovers() == []
    shutil.rmtree(tmp_path / "one")
    claimed(host, tmp_path / "one")


def test_a_record_of_another_version_is_left_where_it_is(tmp_path: Path, state: Path) -> None:
    host = LocalHost()
    claimed(host, tmp_path / "one")
    path = state / "clusters" / "one" / records.FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 7}))
    (said,) = host.end_leftovers()
    assert "has format 7, this Steelyard reads 3" in said
    assert path.exists()
    with pytest.raises(InputError, match="'one' is up"):
        claimed(host, tmp_path / "two")


def test_a_record_is_on_the_disk_before_what_it_names_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []

    def fsync(handle: int) -> None:
        synced.append(stat.S_ISDIR(os.fstat(handle).st_mode))

    monkeypatch.setattr(os, "fsync", fsync)
    claimed(LocalHost(), tmp_path / "one")
    assert synced == [False, True]  # the file, then the folder that names it


def child_of(log: Path) -> Identity:
    """The process whose number a server wrote into its log."""
    while not log.read_text().endswith("\n"):
        pass
    found = process.identity(int(log.read_text()))
    assert found is not None
    return found


def test_what_a_server_started_ends_with_it(tmp_path: Path) -> None:
    """Without control groups, by its session; the server itself has ended before."""
    host = LocalHost()
    record = claimed(host, tmp_path / "one")
    server = host.start(command(record, "node1", "sh", "-c", "trap '' TERM; sleep 600 & echo $!"))
    child = child_of(tmp_path / "one" / "log")
    assert process.wait_gone([server], 10.0)
    assert process.alive(child)
    host.take_down("one")
    assert not process.alive(child)


@pytest.mark.skipif(not (ROOT and cgroup.writable()), reason="control groups need root")
def test_what_left_its_session_ends_with_its_group(tmp_path: Path) -> None:
    host = LocalHost()
    record = claimed(host, tmp_path / "one")
    group = host.make_group("one", "node1")
    host.start(command(record, "node1", "sh", "-c", "setsid sleep 600 & echo $!", group=group))
    child = child_of(tmp_path / "one" / "log")
    assert process.alive(child)
    host.take_down("one")
    assert not process.alive(child)
    assert not [folder for folder in group.folders.values() if folder.exists()]


def test_a_session_of_another_with_the_same_number_is_left_alone() -> None:
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as other:
        now = process.identity(other.pid)
        assert now is not None
        earlier = replace(now, start_ticks=now.start_ticks - 1)
        assert process.in_sessions([now]) == [now]
        assert process.in_sessions([earlier]) == []
        assert process.in_sessions([replace(now, boot_id="earlier")]) == []
        other.kill()


def test_servers_of_many_threads_are_all_recorded(tmp_path: Path) -> None:
    host = LocalHost()
    record = claimed(host, tmp_path / "one")
    errors: list[BaseException] = []

    def start(number: int) -> None:
        try:
            host.start(command(record, f"node{number}", "sleep", "600"))
            host.note_nodes("one", [{"name": f"node{number}"}])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=start, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    started = records.load("one").processes
    assert len(started) == len(set(started.values())) == 12
    host.take_down("one")
    assert not [found for found in started.values() if process.alive(found)]


def test_an_interrupted_start_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while a server is being started: whoever takes the cluster down must find it."""

    class Starter:
        def submit(self, *words: Any) -> Future[Any]:
            begun = starter.submit(*words)
            monkeypatch.setattr(begun, "result", interrupt)
            return begun

    def interrupt() -> None:
        raise KeyboardInterrupt

    host = LocalHost()
    record = claimed(host, tmp_path / "one")
    starter = process._starter
    monkeypatch.setattr(process, "_starter", Starter())
    with pytest.raises(KeyboardInterrupt):
        host.start(command(record, "node1", "sleep", "600"))
    server = records.load("one").processes["node1"]
    assert process.alive(server)
    host.take_down("one")
    assert not process.alive(server)


def test_an_interrupted_end_is_taken_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = LocalHost()
    server = host.start(command(claimed(host, tmp_path / "one"), "node1", "sleep", "600"))
    with monkeypatch.context() as patch:
        patch.setattr(process, "kill_all", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            host.take_down("one")
    host.take_down("one")
    assert not process.alive(server)
    assert records.records() == []


def test_a_server_has_the_environment_it_is_given(tmp_path: Path) -> None:
    host = LocalHost()
    words = command(claimed(host, tmp_path / "one"), "node1", "sh", "-c", "echo $STEELYARD_ROLE of $HOME")
    server = host.start(replace(words, environment={"STEELYARD_ROLE": "node"}))
    assert host.wait([server], 10.0)
    assert host.exit_status(server) == 0
    assert host.get(tmp_path / "one" / "log").decode() == f"node of {os.environ['HOME']}\n"
    host.take_down("one")


def test_a_host_tells_its_clock_and_facts(tmp_path: Path) -> None:
    before = time.monotonic_ns()
    assert before <= LocalHost().clock_ns() <= time.monotonic_ns()
    assert LocalHost().facts([tmp_path])["file_systems"].keys() == {str(tmp_path)}


def test_nothing_is_started_in_a_cluster_that_is_down(tmp_path: Path) -> None:
    host = LocalHost()
    record = claimed(host, tmp_path / "one")
    host.take_down("one")
    with pytest.raises(InfrastructureError, match="one is not up"):
        host.start(command(record, "node1", "sleep", "600"))


KILLED_WHILE_REMOVING = """
import os, signal, sys
from pathlib import Path
from steelyard.hosts import cgroup, clusters, namespaces
from steelyard.hosts.clusters import Claim
record = clusters.claim(Claim("half", "x", Path(sys.argv[1]) / "work" / "half", 1, stays=False))
(Path(record.root) / "node1").mkdir(parents=True)
real = clusters._remove_files
def kill(_):
    real(_) if sys.argv[2] == "after" else None
    os.kill(os.getpid(), signal.SIGKILL)
clusters._remove_files = kill
clusters.take_down(record)
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_while_it_takes_down_the_next_start_goes_on(tmp_path: Path, when: str, state: Path) -> None:
    words = [sys.executable, "-c", KILLED_WHILE_REMOVING, str(tmp_path), when]
    assert subprocess.run(words, check=False).returncode < 0
    (said,) = LocalHost().end_leftovers()
    assert "ended half" in said
    assert not (tmp_path / "work").exists()
    assert list((state / "clusters").iterdir()) == []


def test_a_folder_that_lost_its_record_is_removed(state: Path) -> None:
    (state / "clusters" / "half").mkdir(parents=True)
    assert LocalHost().end_leftovers() == []
    assert not (state / "clusters" / "half").exists()


def test_folders_of_others_stay(tmp_path: Path) -> None:
    host = LocalHost()
    claimed(host, tmp_path / "a" / "b" / "one")
    (tmp_path / "a" / "mine").touch()
    host.take_down("one")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["mine"]


def _no_loop() -> str:
    if not ROOT:
        return "mounting needs root"
    return "" if Path("/dev/loop-control").exists() and shutil.which("mkfs.ext4") else "no loop devices"


@pytest.mark.skipif(bool(_no_loop()), reason=_no_loop() or "-")
def test_a_mounted_file_system_goes_with_its_cluster(tmp_path: Path) -> None:
    host = LocalHost()
    record = claimed(host, tmp_path / "one")
    data, logs = tmp_path / "one" / "node1" / "data", tmp_path / "one" / "node1" / "logs"
    host.mount("one", data, 16)
    host.mount("one", logs, 16)
    assert data.is_mount()
    assert records.load("one").mounts == [str(data), str(logs)]
    host.put(data / "file", "kept on a disk of its own")
    host.unmount("one", logs)
    assert not logs.is_mount()
    server = host.start(command(record, "node1", "sh", "-c", f"exec sleep 600 < {data}/file"))
    host.take_down("one")
    assert not process.alive(server)
    assert not data.is_mount()
    assert not (tmp_path / "one").exists()


def test_a_refused_mount_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing = tmp_path / "bin" / "mount"
    refusing.parent.mkdir()
    refusing.write_text("#!/bin/sh\necho only root may >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{refusing.parent}:{os.environ['PATH']}")
    with pytest.raises(InfrastructureError, match="only root may") as caught:
        mounts.make(tmp_path / "data", 8)
    assert "needs root" in str(caught.value.hint)
