"""A real ring grows and shrinks while clients write: who is in, who has what, and that nothing is lost."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from background_writer import BackgroundWriter

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts import cgroup, process, records
from steelyard.systems.capabilities import AddOptions
from steelyard.systems.cassandra import ring
from steelyard.systems.cassandra.cql_probe import Probe
from steelyard.systems.cassandra.inside import Inside
from steelyard.systems.cassandra.node import LocalNode
from steelyard.systems.cassandra.testbed import AGENT_PORT, CassandraTestbed
from steelyard.systems.waiting import wait_until

pytestmark = pytest.mark.beside

Make = Callable[..., CassandraTestbed]
Told = list[tuple[str, str]]
WAIT_S = 60.0
VALUE_BYTES = 500
LOADED = 2000


def row(key: int) -> str:
    value = random.Random(key).randbytes(VALUE_BYTES // 2).hex()  # noqa: S311 - what cannot be compressed
    return f"INSERT INTO ycsb.t (k, v) VALUES ({key}, '{value}')"  # noqa: S608 - our own words


def table(cluster: CassandraTestbed, factor: int = 1) -> None:
    """A table of `factor` copies, known to all nodes, with LOADED rows."""
    with Probe(cluster.nodes[0].place, 30.0) as probe:
        probe.start()
        probe.query(
            "CREATE KEYSPACE ycsb WITH replication = "
            f"{{'class': 'SimpleStrategy', 'replication_factor': {factor}}}"
        )
        probe.query("CREATE TABLE ycsb.t (k int PRIMARY KEY, v text)")
        agreed = [node.place for node in cluster.nodes]
        wait_until(
            lambda: all(ring.complete(place, len(agreed)) for place in agreed), [], WAIT_S, "no one schema"
        )
        for key in range(LOADED):
            probe.query(row(key))


class Writer(BackgroundWriter):
    """Writes new rows through the first node, about 100 a second, until told to stop.

    Attributes:
        acknowledged: their keys.
        errors: what was not, in words.
    """

    def __init__(self, node: LocalNode) -> None:
        self.acknowledged: list[int] = []
        self.errors: list[str] = []
        super().__init__()
        self._node = node

    def _write(self) -> None:
        with Probe(self._node.place, 20.0) as probe:
            probe.start()
            key = LOADED
            while not self._stop.wait(0.01):
                try:
                    probe.query(row(key))
                    self.acknowledged.append(key)
                except OSError as error:
                    self.errors.append(str(error))
                key += 1


def keys(node: LocalNode) -> set[int]:
    """All keys of the table, read through this node."""
    with Probe(node.place, 30.0) as probe:
        probe.start()
        return {int.from_bytes(cell or b"") for (cell,) in probe.query("SELECT k FROM ycsb.t")}


def on_disk(cluster: CassandraTestbed, node: str) -> int:
    """Bytes of the table's files on a node."""
    cluster.flush(node, "ycsb")
    return sum(entry.size for entry in cluster.host.list(cluster.folder / node / "data" / "ycsb"))


def noted(into: Told) -> Callable[[str, str], None]:
    return lambda node, what: into.append((node, what))


def test_a_ring_grows_and_shrinks_under_load_and_loses_nothing(cluster: Make, tmp_path: Path) -> None:
    three = cluster("elastic", nodes=2, spare=2, limits={"cpu": 0.6} if cgroup.writable() else {})
    three.up(print)
    table(three)
    joined: Told = []
    left: Told = []
    watch = three.host.watch(three.targets(), {})
    with Writer(three.nodes[0]).writing() as writer:
        moved = three.add(["node3"], AddOptions(), noted(joined), print)
        watch.retarget(three.targets())
        assert [what for _, what in joined] == ["up", "announced", "streaming", "normal", "joined"]
        assert moved is not None
        assert (
            moved > LOADED * VALUE_BYTES / 6
        )  # a third of the rows, at least half of it as the table has them
        new = three.node("node3")
        assert {*writer.acknowledged, *range(LOADED)} <= keys(new)
        assert [node["name"] for node in records.load("elastic").nodes] == ["node1", "node2", "node3"]
        assert {len(ring.members_seen(node.place)) for node in three.nodes} == {3}
        assert three.cpu["node3"] == three.cpu["node1"]
        for node in ("node1", "node2"):
            before = on_disk(three, node)
            three.cleanup(node, "ycsb")
            assert on_disk(three, node) < before
        identity = new.identity
        assert three.remove(["node3"], noted(left), print)
        watch.retarget(three.targets())
    watch.stop()
    assert left[0] == ("node3", "leaving")
    assert [what for _, what in left if what != "streaming"] == ["leaving", "left", "stopped"]
    assert writer.errors == []
    assert len(writer.acknowledged) > 100
    assert {*writer.acknowledged, *range(LOADED)} == keys(three.nodes[0])
    assert identity is not None
    assert not process.alive(identity)
    assert three.spares() == ["node3", "node4"]
    assert three.dead() == []
    frame = watch.frame()
    assert frame.filter(source="node3", metric="server_heap_used_bytes").height > 0
    ticks, seen = (
        frame.filter(source=source, metric="cpu_seconds_total")["t_ns"] for source in ("machine", "node1")
    )
    assert seen.equals(ticks)
    three.down(print)
    assert "elastic" not in {record.name for record in records.records()}
    assert not (tmp_path / "elastic").exists()
    assert not any(folder.exists() for folder in cgroup.folders("elastic", "node3"))


def test_two_join_at_once_within_a_limit_of_streams_and_a_dead_one_is_removed(cluster: Make) -> None:
    four = cluster("several", nodes=2, spare=2, access={"replication": {"factor": 2}})
    four.up(print)
    table(four, factor=2)
    told: Told = []
    with Inside(four.nodes[0], AGENT_PORT) as inside:
        before = inside.stream_limit()
        four.add(["node3", "node4"], AddOptions(stream_mbit=80), noted(told), print)
        assert inside.stream_limit() == before
    for node in ("node3", "node4"):  # one that joins after the other may be in between two looks
        passed = [what for name, what in told if name == node and what != "announced"]
        assert passed == ["up", "streaming", "normal", "joined"]
    assert "announced" in {what for _, what in told}
    assert {len(ring.members_seen(node.place)) for node in four.nodes} == {4}
    owners = ring.tokens(four.nodes[0].place)
    assert {len(found) for found in owners.values()} == {4}
    assert all(keys(node) == {*range(LOADED)} for node in four.nodes)
    four.kill("node4")
    assert four.remove(["node4"], noted(told), print) is not None
    assert told[-3:] == [("node4", what) for what in ("leaving", "left", "stopped")]
    assert all(keys(node) == {*range(LOADED)} for node in four.nodes)
    with pytest.raises(InputError, match="1 node would be left, too few for replication factor 2"):
        four.remove(["node2", "node3"], noted(told), print)


def test_a_node_that_joins_without_data_misses_reads_until_it_is_repaired(cluster: Make) -> None:
    three = cluster("empty", nodes=2, spare=1, access={"replication": {"factor": 2}})
    three.up(print)
    table(three, factor=2)
    told: Told = []
    three.add(["node3"], AddOptions(bootstrap=False), noted(told), print)
    assert [what for _, what in told] == ["up", "normal", "joined"]
    assert on_disk(three, "node3") == 0
    three.repair("node3", "ycsb")
    assert on_disk(three, "node3") > 0
    three.limit_compactions("node3", 8 * 1.048576 * 16)
    with Inside(three.node("node3"), AGENT_PORT) as inside:
        assert inside.compaction_limit() == 16
    three.limit_streams("node3", 40)
    with Inside(three.node("node3"), AGENT_PORT) as inside:
        assert inside.stream_limit() == (40, 5)


def test_a_join_that_is_cut_short_leaves_nothing(cluster: Make, tmp_path: Path) -> None:
    two = cluster("short", nodes=1, spare=1)
    two.up(print)
    announced = threading.Event()
    failures: list[str] = []

    def add() -> None:
        try:
            two.add(["node2"], AddOptions(), lambda *_: announced.set(), print)
        except InfrastructureError as error:
            failures.append(error.message)

    action = threading.Thread(target=add)
    action.start()
    assert announced.wait(WAIT_S)
    started = [node.identity for node in two.nodes]
    two.down(print)
    action.join(WAIT_S)
    assert not action.is_alive()
    assert len(failures) == 1
    assert failures[0].startswith("node2 died while it joined")
    assert len(started) == 2
    assert not any(process.alive(found) for found in started if found)
    assert "short" not in {record.name for record in records.records()}
    assert not (tmp_path / "short").exists()


def test_a_row_of_a_node_without_data_is_missed(cluster: Make) -> None:
    two = cluster("misses", nodes=1, spare=1)
    two.up(print)
    table(two)
    two.add(["node2"], AddOptions(bootstrap=False), noted([]), print)
    seen = keys(two.nodes[0])
    assert 0 < len(seen) < LOADED
    assert keys(two.nodes[1]) == seen
