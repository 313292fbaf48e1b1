"""A real ring is brought from 3.11 over 4.1 to 5.0 while clients write: nothing acknowledged is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from background_writer import BackgroundWriter

from steelyard.errors import InfrastructureError
from steelyard.lab.timeline.perform import Context, perform
from steelyard.spec.actions import Upgrade
from steelyard.systems.cassandra import ring
from steelyard.systems.cassandra.cql_probe import Probe, ask
from steelyard.systems.cassandra.node import LocalNode
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.systems.waiting import wait_until

pytestmark = pytest.mark.beside

Make = Callable[..., CassandraTestbed]
QUORUM = 0x0004
WAIT_S = 60.0
STEPS = ("4.1", "5.0")
FULL = ["3.11.13", "4.1.10", "5.0.7"]
RELEASE = "SELECT release_version FROM system.local"


def table(cluster: CassandraTestbed) -> None:
    """A table of three copies, known to all nodes."""
    with Probe(cluster.nodes[0].place, 30.0) as probe:
        probe.start()
        probe.query(
            "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}"
        )
        probe.query("CREATE TABLE k.t (k int PRIMARY KEY, v text)")
    places = [node.place for node in cluster.nodes]
    wait_until(lambda: all(ring.complete(place, 3) for place in places), [], WAIT_S, "no one schema")


class Writer(BackgroundWriter):
    """Writes new rows at QUORUM, about 100 a second, through each node in turn, until told to stop; one that
    does not answer is left out until its turn comes again.

    Attributes:
        acknowledged: their keys.
        refused: keys of rows that no node took, which may be there or not.
    """

    def __init__(self, cluster: CassandraTestbed) -> None:
        self.acknowledged: list[int] = []
        self.refused: list[int] = []
        super().__init__()
        self._cluster = cluster

    def _write(self) -> None:
        key, turn = 0, 0
        while not self._stop.is_set():
            for _ in range(3):  # a node that drains refuses; one of the two others takes it
                turn += 1
                node = self._cluster.nodes[turn % 3]
                if (done := self._through(node, key)) > key:
                    key = done
                    break
            else:
                self.refused.append(key)
                key += 1

    def _through(self, node: LocalNode, key: int) -> int:
        """Write rows through a node for a quarter of a second; returns the next key."""
        try:
            with Probe(node.place, 10.0) as probe:
                probe.start()
                for _ in range(25):
                    if self._stop.wait(0.01):
                        break
                    probe.query(f"INSERT INTO k.t (k, v) VALUES ({key}, 'of {key}')", QUORUM)  # noqa: S608
                    self.acknowledged.append(key)
                    key += 1
        except OSError:
            pass
        return key


def keys(node: LocalNode) -> set[int]:
    """All keys of the table, read through this node at QUORUM."""
    with Probe(node.place, 30.0) as probe:
        probe.start()
        return {int.from_bytes(cell or b"") for (cell,) in probe.query("SELECT k FROM k.t", QUORUM)}


def test_a_ring_is_upgraded_twice_under_load_and_loses_nothing(
    cluster: Make, tmp_path_factory: pytest.TempPathFactory
) -> None:
    three = cluster("upgraded", version="3.11", nodes=3, upgrades=STEPS, tokens=3)
    three.up(print)
    table(three)
    told: list[tuple[str, str]] = []
    context = Context(
        three, tmp_path_factory.mktemp("log"), lambda *what: told.append(what), print, threading.Event()
    )
    assert {*three.versions().values()} == {FULL[0]}
    with Writer(three).writing() as writer:
        for step, full in zip(STEPS, FULL[1:], strict=True):
            told.clear()
            perform(Upgrade(id="u", do="upgrade", at=0, version=step, rewrite=step == "4.1"), [], context)
            rewritten = [(f"node{n}", "rewritten") for n in (1, 2, 3) if step == "4.1"]
            passed = ("drained", "stopped", "up", "serves")
            assert told == [(f"node{n}", what) for n in (1, 2, 3) for what in passed] + rewritten
            assert three.versions() == dict.fromkeys(("node1", "node2", "node3"), full)
            for node in three.nodes:
                assert ask(node.place, RELEASE) == [[full.encode()]]
            assert three.version == full
    assert three.dead() == []
    assert not three.missed("node1")
    assert len(writer.acknowledged) > 500
    assert len(writer.refused) < len(writer.acknowledged) / 10
    for node in three.nodes:
        assert {*writer.acknowledged} <= keys(node)
    three.restart("node2")
    assert ask(three.node("node2").place, RELEASE) == [[FULL[-1].encode()]]
    three.kill("node3")
    with pytest.raises(InfrastructureError, match="node3 is dead, and cannot be drained"):
        three.upgrade("node3", "5.0", lambda *_: None, print)
