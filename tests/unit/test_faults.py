"""Faults of machines, done to the nodes of a cluster: power, network, disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from test_host_faults import LISTENER, WITH_DISKS, WITH_NETWORKS, answers, rules, until_answered
from test_host_port import StandIn

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts import cgroup, lacking, namespaces, records
from steelyard.hosts.cgroup import DiskRates, Group
from steelyard.hosts.local import LocalHost
from steelyard.hosts.place import Place
from steelyard.spec.kind import declared
from steelyard.spec.local import LocalSystem
from steelyard.systems import capabilities
from steelyard.systems.capabilities import AddOptions, LosesPower, Partitions, Throttles
from steelyard.systems.node import Node, NodeSpec
from steelyard.systems.server import ServerSpec

Make = Callable[..., StandIn]
LOCAL = ("cassandra", "hbase")


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_STATE", str(tmp_path / "state"))


class Spaced(StandIn):
    """Its nodes are in namespaces, and listen."""

    def _specs(self, block: str, spaces: Sequence[str]) -> Sequence[NodeSpec]:
        return [replace(one, namespace=spaces[one.number - 1]) for one in super()._specs(block, spaces)]

    def _make_node(self, spec: NodeSpec, group: Group) -> Node:
        words = [sys.executable, "-c", LISTENER, spec.address]
        server = ServerSpec(spec.name, spec.folder, lambda: words, namespace=spec.namespace)
        return Node(spec, group, [self._server(server, group)])


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[StandIn] = []

    def cluster(kind: type[StandIn] = StandIn, **settings: object) -> StandIn:
        system = LocalSystem.model_validate({"kind": "stand-in", "nodes": 2, **settings})
        made.append(kind(system, name="one", root=tmp_path / "work", host=LocalHost()))
        made[-1].up(silent)
        return made[-1]

    yield cluster
    for found in made:
        found.down(silent)
    assert records.records() == []
    assert str(tmp_path) not in Path("/proc/mounts").read_text()


def silent(_words: str) -> None:
    """Nobody listens."""


def write(path: Path, content: str, *, synced: bool) -> None:
    with path.open("w") as file:
        file.write(content)
        file.flush()
        if synced:
            os.fsync(file.fileno())


@WITH_DISKS
def test_nodes_lose_what_was_not_synced_and_start_again(make: Make) -> None:
    cluster = make(nodes=3, disk_mib=16)
    assert isinstance(cluster, LosesPower)
    data = {found.name: found.spec.folder / "data" for found in cluster.nodes}
    for folder in data.values():
        folder.mkdir()
        write(folder / "synced", "kept", synced=True)
        write(folder / "other", "lost", synced=False)
    before = {server.name: server.identity for server in cluster.servers}
    told: list[tuple[str, str]] = []
    cluster.power_loss(["node1", "node2"], lambda *what: told.append(what), silent)
    assert told == [("node1", "down"), ("node2", "down"), ("node1", "serves"), ("node2", "serves")]
    left = {name: sorted(path.name for path in folder.iterdir()) for name, folder in data.items()}
    assert left == {"node1": ["synced"], "node2": ["synced"], "node3": ["other", "synced"]}
    after = {server.name: server.identity for server in cluster.servers}
    assert [name for name, life in after.items() if life != before[name]] == ["node1", "node2"]
    assert cluster.dead() == []
    assert all(server.expected_up for server in cluster.servers)
    # what we wrote ourselves is there
    assert (cluster.folder / "node1" / "conf" / "settings").read_text() == "quick"


@WITH_DISKS
def test_power_is_lost_by_a_node_whose_server_is_dead_or_frozen(make: Make) -> None:
    cluster = make(disk_mib=16)
    cluster.kill("node1")
    cluster.freeze("node2")
    cluster.power_loss(["node1", "node2"], lambda *_: None, silent)
    assert [server.alive for server in cluster.servers] == [True, True]
    assert not any(cluster.host.look(s.identity).frozen for s in cluster.servers if s.identity)  # type: ignore[union-attr]


@WITH_DISKS
def test_a_joiner_has_a_disk_of_its_own_and_keeps_it(make: Make) -> None:
    cluster = make(nodes=1, spare=1, disk_mib=16)
    for _ in range(2):
        cluster.add(["node2"], AddOptions(), lambda *_: None, silent)
        assert cluster.node("node2").spec.folder.is_mount()
        cluster.power_loss(["node2"], lambda *_: None, silent)
        cluster.remove(["node2"], lambda *_: None, silent)
    assert records.load("one").mounts == [str(cluster.folder / name) for name in ("node1", "node2")]


@WITH_DISKS
def test_nothing_stays_mounted_of_a_cluster_that_ends_without_power(make: Make, tmp_path: Path) -> None:
    cluster = make(disk_mib=16)
    cluster.host.stop_disk(cluster.nodes[0].spec.folder)
    cluster.down(silent)
    assert not (tmp_path / "work").exists()


def test_where_one_server_cannot_be_stopped_no_power_is_lost(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = make()
    monkeypatch.setattr(cluster, "system", cluster.system.model_copy(update={"disk_mib": 16}))

    def refuse() -> None:
        raise InfrastructureError("node2 could not be frozen")

    monkeypatch.setattr(cluster.servers[1], "freeze", refuse)
    with pytest.raises(InfrastructureError, match="node2 could not be frozen"):
        cluster.power_loss(["node1", "node2"], lambda *_: None, silent)
    assert all(server.expected_up and server.alive for server in cluster.servers)
    assert not any(cluster.host.look(s.identity).frozen for s in cluster.servers if s.identity)  # type: ignore[union-attr]


def test_a_node_without_a_disk_of_its_own_keeps_its_power(make: Make) -> None:
    cluster = make()
    with pytest.raises(InputError, match="disk is not its own") as caught:
        cluster.power_loss(["node1"], lambda *_: None, silent)
    assert "disk_mib" in (caught.value.hint or "")
    assert all(server.alive for server in cluster.servers)


def test_a_node_without_a_network_of_its_own_is_not_cut_off(make: Make) -> None:
    cluster = make()
    for cut in (cluster.partition, cluster.heal):
        with pytest.raises(InputError, match="network is not its own"):
            cut("node1")


@WITH_NETWORKS
def test_a_node_is_cut_off_and_joined_again(make: Make) -> None:
    cluster = make(Spaced, network="namespaces")
    assert isinstance(cluster, Partitions)
    other, place = (Place(node.spec.address, 7000, namespaces.hub_name("one")) for node in cluster.nodes)
    assert answers(place) == b"here"
    cluster.partition("node2")
    with pytest.raises(OSError):  # noqa: PT011 - no answer, or no route, whichever is first
        answers(place)
    assert answers(other) == b"here"
    assert cluster.dead() == []
    cluster.heal("node2")
    assert until_answered(place) == b"here"


@WITH_DISKS
@WITH_NETWORKS
def test_power_of_a_node_with_a_network_of_its_own_is_lost_in_silence(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = make(Spaced, network="namespaces", disk_mib=16)
    done: list[str] = []
    for what in ("partition", "stop_disk", "start_disk", "heal"):
        real = getattr(cluster.host, what)
        monkeypatch.setattr(
            cluster.host, what, lambda *given, what=what, real=real: done.append(what) or real(*given)
        )
    cluster.power_loss(["node2"], lambda *_: None, silent)
    assert done == ["partition", "stop_disk", "start_disk", "heal"]
    place = Place(cluster.nodes[1].spec.address, 7000, namespaces.hub_name("one"))
    assert until_answered(place) == b"here"


@pytest.mark.skipif(
    "throttle" in lacking.lacking(Path(__file__)), reason="needs root, control groups and a disk"
)
def test_a_node_s_disk_is_made_slow_and_quick_again(make: Make) -> None:
    cluster = make()
    assert isinstance(cluster, Throttles)
    here = cgroup.device_of(cluster.folder)
    cluster.throttle("node2", DiskRates(write_mib=3))
    assert rules(cluster.nodes[0].group) == set()
    assert rules(cluster.nodes[1].group) == {(here, "write", 3 << 20)}
    cluster.throttle("node2", DiskRates())
    assert rules(cluster.nodes[1].group) == set()


@pytest.mark.parametrize("kind", LOCAL)
def test_what_a_system_lacks_is_said_with_the_way_out(kind: str) -> None:
    record = declared(kind)
    plain = record.settings()()
    assert not record.able(plain) & {"partition", "power_loss"}
    fault = record.why_not("power_loss", plain)
    assert fault is not None
    assert "disk_mib" in fault[1]
    whole = record.settings().model_validate({"network": "namespaces", "disk_mib": 4096})
    assert record.able(whole) >= {"partition", "power_loss", "throttle"}


def test_what_a_host_lacks_is_said_with_the_reason(make: Make) -> None:
    cluster = make()
    cluster.lacking = {"throttle": "control groups need root"}
    with pytest.raises(InputError, match="cannot do 'throttle': control groups need root"):
        capabilities.require(cluster, "throttle")
