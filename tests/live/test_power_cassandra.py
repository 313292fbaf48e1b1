"""Real Cassandra nodes lose their power: what was acknowledged after a sync of the log is there again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from steelyard.hosts import mounts
from steelyard.systems.capabilities import require
from steelyard.systems.cassandra.cql_probe import ask
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.systems.waiting import wait_until

KEYSPACE = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
INSERT = "INSERT INTO k.t (a, b) VALUES ({}, 'kept')"
ROWS = range(20)
WAIT_S = 60.0


def schemas(cluster: CassandraTestbed) -> set[bytes | None]:
    """The versions of the schema that nodes have."""
    version = "SELECT schema_version FROM system.local"
    return {ask(node.place, version)[0][0] for node in cluster.nodes}


@pytest.mark.skipif(bool(mounts.why_not()), reason=mounts.why_not() or "-")
def test_batch_promises_what_it_acknowledges(cluster: Callable[..., CassandraTestbed]) -> None:
    dark = cluster("dark", nodes=2, commitlog_sync="batch", disk_mib=2048)
    require(dark, "power_loss")
    dark.up(print)
    assert not dark.missed("node2")
    dark.kill("node2")
    wait_until(lambda: dark.missed("node2"), [], WAIT_S, "nobody misses a dead node")
    dark.restart("node2")
    wait_until(lambda: not dark.missed("node2"), [], WAIT_S, "a node that serves is missed")
    first = dark.nodes[0]
    ask(first.place, KEYSPACE, timeout_s=30.0)
    ask(first.place, "CREATE TABLE k.t (a int PRIMARY KEY, b text)", timeout_s=30.0)
    wait_until(lambda: len(schemas(dark)) == 1, [], WAIT_S, "nodes do not agree on the schema")
    for row in ROWS:
        ask(first.place, INSERT.format(row))
    told: list[tuple[str, str]] = []
    dark.power_loss(["node1", "node2"], lambda *what: told.append(what), print)
    assert sorted(told) == sorted((name, what) for name in ("node1", "node2") for what in ("down", "serves"))
    assert dark.dead() == []
    assert len(ask(dark.nodes[0].place, "SELECT a FROM k.t")) == len(ROWS)
    dark.down(print)
    assert not [node for node in dark.nodes if node.spec.folder.is_mount()]
