"""Real Cassandra clusters: up, what is done to them while they run, and down without a trace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from steelyard.errors import InputError
from steelyard.hosts import cgroup, records
from steelyard.hosts.process import Identity, alive
from steelyard.systems.cassandra import ring
from steelyard.systems.cassandra.cql_probe import ALL, answers, ask
from steelyard.systems.cassandra.login import CqlPlace
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.watch.agent import ask as ask_agent

pytestmark = pytest.mark.beside

Make = Callable[..., CassandraTestbed]
WAIT_S = 60.0


def eventually(condition: Callable[[], bool], limit_s: float = WAIT_S) -> bool:
    """Whether a condition comes true within the limit."""
    until = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def release_of(place: CqlPlace) -> str:
    return (ask(place, "SELECT release_version FROM system.local")[0][0] or b"").decode()


def test_three_nodes_are_up_in_time_and_see_each_other(cassandra3: CassandraTestbed) -> None:
    assert [ring.normal_members(node.place) for node in cassandra3.nodes] == [3, 3, 3]
    assert {release_of(node.place) for node in cassandra3.nodes} == {"5.0.7"}
    assert cassandra3.dead() == []


def test_everything_listens_on_loopback(cassandra3: CassandraTestbed) -> None:
    pids = [pid for node in cassandra3.nodes for pid in node.pids()]
    listening = [
        found.laddr.ip
        for pid in pids
        for found in psutil.Process(pid).net_connections("inet")
        if found.status == psutil.CONN_LISTEN
    ]
    assert len(listening) >= 6
    assert {address.split(".")[0] for address in listening} == {"127"}


def test_every_server_is_in_its_own_group(cassandra3: CassandraTestbed) -> None:
    for node in cassandra3.nodes:
        for folder in node.group.folders.values():
            assert [int(pid) for pid in (folder / "cgroup.procs").read_text().split()] == node.pids()


def test_killed_node_is_told_of_and_comes_back_with_its_data(cassandra3: CassandraTestbed) -> None:
    first, last = cassandra3.nodes[0], cassandra3.nodes[2]
    ask(first.place, "CREATE KEYSPACE IF NOT EXISTS k WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 3}")  # fmt: skip
    ask(first.place, "CREATE TABLE IF NOT EXISTS k.t (a int PRIMARY KEY, b text)")
    assert eventually(lambda: all(ring.normal_members(node.place) == 3 for node in cassandra3.nodes))
    ask(first.place, "INSERT INTO k.t (a, b) VALUES (1, 'kept')", ALL)
    cassandra3.flush("node3", "k")  # a periodic commit log loses the latest writes of a killed server
    os.kill(last.pids()[0], signal.SIGKILL)
    assert eventually(lambda: bool(cassandra3.dead()))
    (death,) = cassandra3.dead()
    assert (death.server, death.why.split(";")[0]) == ("node3", "killed by SIGKILL")
    cassandra3.restart("node3")
    assert cassandra3.dead() == []
    assert eventually(lambda: ring.complete(first.place, 3))
    assert ask(last.place, "SELECT b FROM k.t WHERE a = 1") == [[b"kept"]]
    cassandra3.kill("node3")
    assert cassandra3.dead() == []  # this time it was asked for
    cassandra3.restart("node3")
    assert eventually(lambda: all(ring.complete(node.place, 3) for node in cassandra3.nodes))


def test_frozen_node_keeps_its_connections_and_thaws(cassandra3: CassandraTestbed) -> None:
    place = cassandra3.nodes[1].place
    cassandra3.freeze("node2")
    try:
        assert not answers(place, 0.5)
        assert cassandra3.nodes[1].alive
        assert cassandra3.dead() == []
    finally:
        cassandra3.thaw("node2")
    assert eventually(lambda: all(ring.complete(node.place, 3) for node in cassandra3.nodes))


def test_quota_is_enforced_and_can_be_changed(cassandra3: CassandraTestbed) -> None:
    group = cassandra3.node("node2").group.folders
    statistics = (group.get("unified") or group["cpu"]) / "cpu.stat"

    def throttled() -> int:
        lines = dict(line.split() for line in statistics.read_text().splitlines())
        return int(lines["nr_throttled"])

    before = throttled()
    cassandra3.resize("node2", 0.5)
    try:
        cassandra3.restart("node2")
        assert throttled() > before
        assert cassandra3.facts()["limits"]["cpu_cores"]["node2"] == 0.5
    finally:
        cassandra3.resize("node2", None)
    assert eventually(lambda: all(ring.complete(node.place, 3) for node in cassandra3.nodes))


def test_settles_after_a_flush(cassandra3: CassandraTestbed) -> None:
    cassandra3.flush("node1")
    settled = cassandra3.settle(WAIT_S, print)
    assert settled.quiet
    assert settled.seconds < WAIT_S


def test_rests_when_writes_kept_for_a_node_are_handed_over(cassandra3: CassandraTestbed) -> None:
    place = cassandra3.nodes[0].place
    for line in (
        "CREATE KEYSPACE kept WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}",
        "CREATE TABLE kept.rows (id timeuuid PRIMARY KEY)",
    ):
        ask(place, line, timeout_s=WAIT_S)

    def hints(metric: str) -> int:
        agents = [target.agent for target in cassandra3.targets()[:2]]
        told = [ask_agent(agent, "metrics")["metrics"] for agent in agents if agent]
        return int(sum(metrics[metric] for metrics in told))

    cassandra3.freeze("node3")
    try:
        for _ in range(20):
            ask(place, "INSERT INTO kept.rows (id) VALUES (now())")
        assert eventually(lambda: hints("server_hints_total") > 0)
    finally:
        cassandra3.thaw("node3")
    assert cassandra3.settle(WAIT_S, print).quiet
    assert hints("server_hints_replayed_total") >= hints("server_hints_total")
    assert not [node.name for node in cassandra3.nodes if list(node.spec.folder.glob("hints/*.hints"))]


def test_agents_answer_where_the_targets_say(cassandra3: CassandraTestbed) -> None:
    for target in cassandra3.targets():
        assert target.agent is not None
        assert ask_agent(target.agent, "metrics")["metrics"]["server_heap_max_bytes"] > 100 << 20


def test_collected_files_tell_how_each_server_was_started(
    cassandra3: CassandraTestbed, tmp_path: Path
) -> None:
    cassandra3.collect(tmp_path)
    for node in cassandra3.nodes:
        folder = tmp_path / node.spec.name
        assert f'listen_address: "{node.spec.address}"' in (folder / "conf" / "cassandra.yaml").read_text()
        assert "-Xmx256m" in (folder / "conf" / "command.txt").read_text().splitlines()
        assert "Starting listening for CQL clients" in (folder / "logs" / "system.log").read_text()


def test_two_clusters_at_once_and_no_name_twice(cassandra3: CassandraTestbed, cluster: Make) -> None:
    other = cluster("other", nodes=1, datacenters=[{"name": "dc9", "nodes": 1}])
    other.up(print)
    assert answers(cassandra3.nodes[0].place)
    assert ask(other.nodes[0].place, "SELECT data_center FROM system.local") == [[b"dc9"]]
    with pytest.raises(InputError, match="a cluster named 'other' is up"):
        cluster("other").up(print)
    assert other.nodes[0].alive
    server, groups = other.nodes[0].identity, list(other.nodes[0].group.folders.values())
    assert server is not None
    other.down(print)
    other.down(print)
    assert not alive(server)
    assert not [folder for folder in groups if folder.exists()]
    assert not other.folder.exists()
    assert "other" not in {found.name for found in records.records()}


def test_a_server_that_cannot_start_says_why_and_leaves_its_log(cluster: Make) -> None:
    broken = cluster("broken", settings={"no_such_setting": 1})
    with pytest.raises(InputError, match=r"node1 refused its settings.*no_such_setting") as caught:
        broken.up(print)
    kept = Path((caught.value.hint or "").rsplit(" ", 1)[1])
    assert "no_such_setting" in (kept / "node1" / "logs" / "system.log").read_text()
    assert not broken.folder.exists()


def test_an_interrupted_start_leaves_nothing(cluster: Make) -> None:
    half = cluster("half", nodes=2)

    def interrupt(line: str) -> None:
        if "answers" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half.up(interrupt)
    assert len(half.nodes) == 2
    assert not [node for node in half.nodes if node.alive]
    assert not [record for record in records.records() if record.name == "half"]


@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
def test_namespaces_and_limits(cluster: Make) -> None:
    limits = {"cpu": 0.8, "memory_mib": 900, "disk_write_mib_per_s": 50}
    apart = cluster("apart", nodes=2, network="namespaces", limits=limits)
    apart.up(print)
    hosts = apart.driver()["hosts"]
    assert not answers(CqlPlace(hosts[0], 9042), 1.0)  # not to be reached from outside
    probe = f"import socket; socket.create_connection(({hosts[1]!r}, 9042), 5)"
    subprocess.run([*apart.engine_prefix(), sys.executable, "-c", probe], check=True)
    folders = apart.nodes[0].group.folders
    if "cpu" in folders:
        assert (folders["cpu"] / "cpu.cfs_quota_us").read_text().strip() == "80000"
        assert (folders["memory"] / "memory.limit_in_bytes").read_text().strip() == str(900 << 20)
        throttle = (folders["blkio"] / "blkio.throttle.write_bps_device").read_text()
        assert throttle.split()[1] == str(50 << 20)
    spaces = [Path("/var/run/netns") / name for name in records.load("apart").namespaces]
    assert len(spaces) == 3
    assert all(space.exists() for space in spaces)
    apart.down(print)
    assert not [space for space in spaces if space.exists()]


@pytest.mark.parametrize(("version", "release"), [("4.1", "4.1.10"), ("3.11", "3.11.13")])
def test_older_lines(cluster: Make, version: str, release: str) -> None:
    """These need Java 11, which `make live` fetches."""
    old = cluster(f"old{version}", version=version, access={"keyspace": "k"})
    old.up(print)
    place = old.nodes[0].place
    assert release_of(place) == release
    ask(place, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    assert old.settle(WAIT_S, print).quiet
    facts = old.facts()
    assert facts["version"] == release
    assert facts["configuration"]["cassandra_yaml"]["num_tokens"] == 4


@pytest.mark.parametrize("partitioner", ["RandomPartitioner", "ByteOrderedPartitioner"])
def test_other_partitioners(cluster: Make, partitioner: str) -> None:
    other = cluster("part", nodes=2, partitioner=partitioner)
    other.up(print)
    (row,) = ask(other.nodes[1].place, "SELECT partitioner FROM system.local")
    assert (row[0] or b"").decode().endswith(partitioner)


def test_control_groups_are_gone_with_their_clusters(cluster: Make) -> None:
    short = cluster("short")
    short.up(print)
    server: Identity | None = short.nodes[0].identity
    short.down(print)
    assert server is not None
    assert not alive(server)
    assert not list(cgroup.MOUNT.glob("*/steelyard/short")) + list(cgroup.MOUNT.glob("steelyard/short"))
