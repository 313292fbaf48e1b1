"""Nodes in reserve: recorded when they join, given back when they leave, and started from any thread."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_host_port import StandIn

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts import cgroup, process, records
from steelyard.hosts.local import LocalHost
from steelyard.spec.local import LocalSystem, NodeLimits
from steelyard.systems.capabilities import AddOptions, Adds, Removes

LIMITS = NodeLimits(cpu=0.25) if os.geteuid() == 0 and cgroup.writable() else NodeLimits()


def silent(_words: str) -> None:
    """Nobody listens."""


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_STATE", str(tmp_path / "state"))


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., StandIn]]:
    made: list[StandIn] = []

    def cluster(name: str = "one", *, nodes: int = 1, spare: int = 2) -> StandIn:
        system = LocalSystem(kind="stand-in", nodes=nodes, spare=spare, limits=LIMITS)
        made.append(StandIn(system, name=name, root=tmp_path / "work", host=LocalHost()))
        return made[-1]

    yield cluster
    for found in made:
        found.down(silent)


def recorded(name: str = "one") -> list[str]:
    """The nodes that everybody sees who looks at the record: `cluster status`, and whoever ends leftovers."""
    return [node["name"] for node in records.load(name).nodes]


def test_spare_nodes_are_reserved_and_not_started(make: Callable[..., StandIn]) -> None:
    cluster = make()
    cluster.up(silent)
    assert isinstance(cluster, Adds)
    assert isinstance(cluster, Removes)
    assert cluster.spares() == ["node2", "node3"]
    assert cluster.members() == recorded() == [target.name for target in cluster.targets()] == ["node1"]
    assert [server.name for server in cluster.servers] == ["node1"]
    assert cluster.limit_facts()["spare_cpu_cores"] == {"node2": LIMITS.cpu, "node3": LIMITS.cpu}
    assert [spare["address"] for spare in cluster.spare_facts()] == [f"{cluster.block}.{n}" for n in (2, 3)]


def test_a_port_of_a_spare_node_is_looked_at_before_anything_starts(make: Callable[..., StandIn]) -> None:
    cluster = make()
    cluster.up(silent)
    address = f"{cluster.block}.3"
    cluster.down(silent)
    with socket.create_server((address, 7199)), pytest.raises(InfrastructureError, match="already used"):
        make("two").up(silent)
    assert records.records() == []


def test_nodes_join_and_leave_and_join_again(make: Callable[..., StandIn], tmp_path: Path) -> None:
    cluster = make()
    cluster.up(silent)
    told: list[tuple[str, str]] = []
    cluster.add(["node3"], AddOptions(), lambda *what: told.append(what), silent)
    assert cluster.members() == recorded() == [t.name for t in cluster.targets()] == ["node1", "node3"]
    assert cluster.spares() == ["node2"]
    assert cluster.cpu == {"node1": LIMITS.cpu, "node3": LIMITS.cpu}
    first = cluster.node("node3").servers[0].identity
    cluster.host.put(cluster.folder / "node3" / "data" / "old", "of the first life")
    cluster.remove(["node3"], lambda *what: told.append(what), silent)
    assert cluster.members() == recorded() == ["node1"]
    assert cluster.spares() == ["node2", "node3"]
    assert cluster.dead() == []
    assert cluster.cpu == {"node1": LIMITS.cpu}
    cluster.collect(tmp_path / "kept")
    assert "serving" in (tmp_path / "kept" / "node3" / "logs" / "stdout.log").read_text()
    cluster.add(["node2", "node3"], AddOptions(), lambda *what: told.append(what), silent)
    assert cluster.members() == ["node1", "node2", "node3"]
    assert cluster.node("node3").servers[0].identity != first
    assert not (cluster.folder / "node3" / "data" / "old").exists()
    assert told == [
        ("node3", "joined"), ("node3", "stopped"), ("node2", "joined"), ("node3", "joined")
    ]  # fmt: skip
    left = [server.identity for server in cluster.servers]
    cluster.down(silent)
    assert not any(process.alive(found) for found in left if found)
    assert records.records() == []


def test_only_a_spare_node_can_join_and_each_once(make: Callable[..., StandIn]) -> None:
    cluster = make()
    cluster.up(silent)
    with pytest.raises(InputError, match="there is no spare node 'node4'"):
        cluster.add(["node2", "node4"], AddOptions(), lambda *_: None, silent)
    assert cluster.spares() == ["node2", "node3"]
    cluster.add(["node2"], AddOptions(), lambda *_: None, silent)
    with pytest.raises(InputError, match="no spare node 'node2'"):
        cluster.add(["node2"], AddOptions(), lambda *_: None, silent)


def test_a_node_that_cannot_be_made_stays_in_reserve(
    make: Callable[..., StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = make()
    cluster.up(silent)
    monkeypatch.setattr(StandIn, "_make_node", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cluster.add(["node3"], AddOptions(), lambda *_: None, silent)
    assert cluster.spares() == ["node2", "node3"]
    assert cluster.members() == recorded() == ["node1"]


@pytest.mark.skipif(LIMITS.cpu is None, reason="control groups need root")
def test_a_joiner_is_under_its_quota_from_its_first_instruction(
    make: Callable[..., StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = make()
    cluster.up(silent)
    quotas: list[str] = []
    real = process.start

    def start(words: list[str], **given: object) -> object:
        quotas.append(quota(cluster.folder.name, "node2"))
        return real(words, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(process, "start", start)
    cluster.add(["node2"], AddOptions(limited=True), lambda *_: None, silent)
    cluster.remove(["node2"], lambda *_: None, silent)
    cluster.add(["node2"], AddOptions(limited=False), lambda *_: None, silent)
    assert quotas == ["25000", quotas[1]]
    assert quotas[1] in ("-1", "max")


def quota(cluster: str, node: str) -> str:
    """A group's CPU quota in microseconds a period, as its version writes it."""
    folders = {folder.parents[2].name: folder for folder in cgroup.folders(cluster, node)}
    if (found := folders.get("cpu")) is not None:
        return (found / "cpu.cfs_quota_us").read_text().strip()
    return (next(iter(folders.values())) / "cpu.max").read_text().split()[0]


STARTED_BY_ANOTHER_THREAD = """
import sys, threading, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_host_port import StandIn
from steelyard.hosts.local import LocalHost
from steelyard.spec.local import LocalSystem
from steelyard.systems.capabilities import AddOptions

system = LocalSystem(kind="stand-in", nodes=1, spare=1)
cluster = StandIn(system, name="one", root=Path(sys.argv[1]), host=LocalHost())
cluster.up(lambda _: None)
words = (["node2"], AddOptions(), lambda *_: None, lambda _: None)
action = threading.Thread(target=cluster.add, args=words)
action.start()
action.join()
print("joined", flush=True)
time.sleep(600)
"""


def test_a_server_that_an_action_started_outlives_its_thread_and_dies_with_the_tool(tmp_path: Path) -> None:
    here = str(Path(__file__).parent)
    words = [sys.executable, "-c", STARTED_BY_ANOTHER_THREAD, str(tmp_path / "work"), here]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as tool:
        assert tool.stdout is not None
        assert tool.stdout.readline() == "joined\n"
        servers = list(records.load("one").processes.values())
        assert [process.alive(found) for found in servers] == [True, True]  # the thread has ended
        tool.send_signal(signal.SIGKILL)
    assert process.wait_gone(servers, 10.0)
    assert LocalHost().end_leftovers() == [f"ended one, left over by process {tool.pid}"]
    assert records.records() == []
    assert not (tmp_path / "work").exists()


def test_many_threads_change_a_cluster_and_its_record_is_whole(make: Callable[..., StandIn]) -> None:
    cluster = make(spare=6)
    cluster.up(silent)
    errors: list[BaseException] = []

    def come_and_go(name: str) -> None:
        try:
            for _ in range(2):
                cluster.add([name], AddOptions(), lambda *_: None, silent)
                cluster.remove([name], lambda *_: None, silent)
            cluster.add([name], AddOptions(), lambda *_: None, silent)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=come_and_go, args=(name,)) for name in cluster.spares()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sorted(recorded()) == sorted(cluster.members()) == [f"node{n}" for n in range(1, 8)]
    assert cluster.spares() == []
    assert cluster.dead() == []
