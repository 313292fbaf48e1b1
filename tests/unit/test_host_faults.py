"""What fails as machines do, on this one: power, networks, slow disks. Most of it needs root."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from steelyard.errors import InfrastructureError
from steelyard.hosts import cgroup, lacking, mounts, namespaces, process
from steelyard.hosts.cgroup import DiskRates
from steelyard.hosts.clusters import Claim
from steelyard.hosts.host import Command
from steelyard.hosts.local import LocalHost
from steelyard.hosts.place import Place
from steelyard.hosts.records import Record
from steelyard.watch.target import WatchTarget

WAIT_S = 30.0
WITH_DISKS = pytest.mark.skipif(bool(mounts.why_not()), reason=mounts.why_not() or "-")
WITH_NETWORKS = pytest.mark.skipif(bool(namespaces.why_not()), reason=namespaces.why_not() or "-")
LISTENER = """
import socket, sys
with socket.create_server((sys.argv[1], 7000)) as server:
    print("serving", flush=True)
    while True:
        link, _ = server.accept()
        link.sendall(b"here")
        link.close()
"""


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_STATE", str(tmp_path / "state"))


@pytest.fixture
def host(tmp_path: Path) -> Iterator[LocalHost]:
    """With a cluster "fails" of two nodes."""
    made = LocalHost()
    spaced = not namespaces.why_not()
    made.claim(Claim("fails", "stand-in", tmp_path / "fails", 2, stays=False, namespaced=spaced))
    yield made
    made.take_down("fails")
    assert not list(tmp_path.glob("fails*"))


@pytest.fixture
def disk(host: LocalHost, tmp_path: Path) -> Path:
    """A node's folder with a file system of its own."""
    folder = tmp_path / "fails" / "node1"
    host.mount("fails", folder, 16)
    return folder


def write(path: Path, content: bytes, *, synced: bool) -> None:
    with path.open("ab") as file:
        file.write(content)
        file.flush()
        if synced:
            os.fsync(file.fileno())


def test_samples_are_taken_while_a_record_changes() -> None:
    host = LocalHost()
    processes = {"node1": process.own_identity()}
    host._claimed["one"] = Record("one", "stand-in", "/none", "/none", "127.10.9", processes=processes)
    found: list[list[int]] = []
    look = threading.Thread(target=lambda: found.append(host.pids(WatchTarget("node1", "one"))), daemon=True)
    with host._lock:
        look.start()
        look.join(WAIT_S)
        assert found == [[os.getpid()]]


def test_nothing_is_made_while_or_after_its_cluster_is_taken_down(
    host: LocalHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def locked(what: str) -> None:
        """Whoever takes it down must wait until this is made."""
        free: list[bool] = []

        def look() -> None:
            free.append(host._lock.acquire(blocking=False))
            if free[0]:
                host._lock.release()

        other = threading.Thread(target=look)
        other.start()
        other.join()
        made.append(what if free == [False] else f"{what} outside the lock")

    monkeypatch.setattr(mounts, "make", lambda *_: locked("disk"))
    monkeypatch.setattr(mounts, "start", lambda *_: locked("disk again"))
    monkeypatch.setattr(cgroup, "make", lambda *_: locked("group"))
    disk = tmp_path / "fails" / "node1"
    steps: list[Callable[[], object]] = [
        lambda: host.mount("fails", disk, 16),
        lambda: host.start_disk(disk),
        lambda: host.make_group("fails", "node1"),
    ]
    for step in steps:
        step()
    host.mount("fails", disk, 16)  # it is recorded, and could not be mounted before
    assert made == ["disk", "disk again", "group", "disk"]
    with monkeypatch.context() as mounted:
        mounted.setattr(Path, "is_mount", lambda _: True)
        host.mount("fails", disk, 16)
    host.take_down("fails")
    for step in steps:
        with pytest.raises(InfrastructureError, match=r"is up|is not up"):
            step()
    assert len(made) == 4


@WITH_DISKS
def test_what_was_synced_outlives_a_power_failure_and_nothing_else(host: LocalHost, disk: Path) -> None:
    assert list(disk.iterdir()) == []
    write(disk / "log", b"synced", synced=True)
    write(disk / "log", b" and not", synced=False)
    write(disk / "new", b"never synced", synced=False)
    host.stop_disk(disk)
    with pytest.raises(OSError, match="Input/output error"):
        write(disk / "late", b"", synced=False)
    host.start_disk(disk)
    assert {path.name: path.read_bytes() for path in disk.iterdir()} == {"log": b"synced"}
    write(disk / "log", b", and goes on", synced=True)
    host.stop_disk(disk)
    host.start_disk(disk)
    assert (disk / "log").read_bytes() == b"synced, and goes on"


@WITH_DISKS
def test_all_that_was_written_can_be_kept_from_it(host: LocalHost, disk: Path) -> None:
    write(disk / "settings", b"quick", synced=False)
    host.sync(disk)
    host.stop_disk(disk)
    host.start_disk(disk)
    assert (disk / "settings").read_bytes() == b"quick"


@WITH_DISKS
def test_a_disk_in_use_does_not_start(host: LocalHost, disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mounts, "BUSY_LIMIT_S", 0.0)
    with (disk / "open").open("wb"):
        host.stop_disk(disk)
        with pytest.raises(InfrastructureError, match="busy"):
            host.start_disk(disk)
    host.start_disk(disk)


@WITH_DISKS
@WITH_NETWORKS
def test_a_server_of_another_network_keeps_no_mount_of_its_own(host: LocalHost, disk: Path) -> None:
    """With `ip netns exec` it would: the stopped file system would live on in it."""
    host.make_namespaces("fails")
    start(host, disk, 2)
    host.stop_disk(disk)
    host.start_disk(disk)
    assert list(disk.iterdir()) == []


def test_a_folder_without_a_file_system_of_its_own_has_no_power_to_lose(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="no file system of its own"):
        LocalHost().stop_disk(tmp_path)


@WITH_DISKS
def test_it_is_tried_out_for_the_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    assert mounts.why_not_tried() == ""
    monkeypatch.setattr(mounts, "SHUTDOWN", 0)
    assert "cannot be shut down" in mounts.why_not_tried()


def start(host: LocalHost, folder: Path, number: int) -> tuple[process.Identity, Place]:
    """A server that listens in the namespace of a node."""
    (record,) = host.records()
    address, space = f"{record.block}.{number}", namespaces.node_name("fails", number)
    log = folder.parent / "printed"
    words = [sys.executable, "-c", LISTENER, address]
    found = host.start(Command("fails", f"node{number}", words, folder.parent, log, namespace=space))
    while not log.exists() or b"serving" not in log.read_bytes():
        assert process.alive(found), log.read_text()
    return found, Place(address, 7000, namespaces.hub_name("fails"))


def answers(place: Place) -> bytes:
    with place.connect(0.5) as link:
        return link.recv(10)


@WITH_NETWORKS
def test_a_node_that_is_cut_off_answers_nobody_until_it_is_joined(host: LocalHost, tmp_path: Path) -> None:
    host.make_namespaces("fails")
    folder = tmp_path / "fails" / "node1"
    folder.mkdir(parents=True)
    server, place = start(host, folder, 1)
    assert answers(place) == b"here"
    host.partition("fails", namespaces.node_name("fails", 1))
    with pytest.raises((TimeoutError, OSError)):
        answers(place)
    assert process.alive(server)
    inside = Place(place.address, place.port, namespaces.node_name("fails", 1))
    assert answers(inside) == b"here"  # it serves, and nobody hears it
    host.heal("fails", namespaces.node_name("fails", 1))
    assert until_answered(place) == b"here"


def until_answered(place: Place) -> bytes:
    """Ask until there is an answer: a server that was just started listens a moment later."""
    until = time.monotonic() + WAIT_S
    while True:
        try:
            return answers(place)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


@pytest.mark.skipif(
    "throttle" in lacking.lacking(Path(__file__)), reason="needs root, control groups and a disk"
)
def test_a_disk_is_made_slow_and_quick_again(host: LocalHost, tmp_path: Path) -> None:
    group = host.make_group("fails", "node1")
    here = cgroup.device_of(tmp_path)
    host.throttle(group, DiskRates(write_mib=2), tmp_path)
    assert rules(group) == {(here, "write", 2 << 20)}
    host.throttle(group, DiskRates(read_mib=1, read_iops=100), tmp_path)
    assert rules(group) == {(here, "read", 1 << 20), (here, "reads", 100)}
    host.throttle(group, DiskRates(), tmp_path)
    assert rules(group) == set()


def rules(group: cgroup.Group) -> set[tuple[str, str, int]]:
    """(disk, what is limited, bytes or operations a second) as the kernel tells them."""
    if "unified" in group.folders:
        lines = (group.folders["unified"] / "io.max").read_text().splitlines()
        words = [(line.split()[0], dict(part.split("=") for part in line.split()[1:])) for line in lines]
        found = [(disk, what, given[key]) for disk, given in words for what, (key, _) in KEYS.items()]
        return {(disk, what, int(value)) for disk, what, value in found if value != "max"}
    return {
        (disk, what, int(value))
        for what in KEYS
        for disk, value in map(str.split, told(group, KEYS[what][1]).splitlines())
    }


KEYS = {
    "read": ("rbps", "read_bps"), "write": ("wbps", "write_bps"),
    "reads": ("riops", "read_iops"), "writes": ("wiops", "write_iops"),
}  # fmt: skip
"""What is limited -> how version 2 and version 1 call it."""


def told(group: cgroup.Group, what: str) -> str:
    return (group.folders["blkio"] / f"blkio.throttle.{what}_device").read_text()


def test_what_is_missing_is_told_by_capability(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(cgroup, "writable", lambda: False)
    monkeypatch.setattr(cgroup, "version", lambda: "1")
    assert LocalHost().lacking(tmp_path / "not" / "there") == {
        "resize": "control groups need root",
        "throttle": "control groups need root",
        "partition": "needs root",
        "power_loss": "needs root",
    }
    monkeypatch.setattr(shutil, "which", lambda _: None)
    found = LocalHost().lacking(tmp_path)
    assert "no `ip` program" in found["partition"]
    assert "no `mkfs.ext4` program" in found["power_loss"] or found["power_loss"] == "needs root"


def test_a_folder_on_no_disk_cannot_be_throttled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "version", lambda: "1")
    monkeypatch.setattr(cgroup, "writable", lambda: True)
    memory = Path("/dev/shm")  # noqa: S108 - looked at, and nothing is put there
    assert "is on no disk of its own" in lacking.lacking(memory)["throttle"]
