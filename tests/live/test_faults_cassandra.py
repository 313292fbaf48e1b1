"""Real Cassandra nodes fail as machines do: they lose their power, or are cut off from the network."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from steelyard.hosts import mounts, namespaces
from steelyard.systems.capabilities import require
from steelyard.systems.cassandra.cql_probe import ask
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.systems.waiting import wait_until

pytestmark = pytest.mark.beside

KEYSPACE = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
INSERT = "INSERT INTO k.t (a, b) VALUES ({}, 'kept')"
ROWS = 20
WAIT_S = 60.0


def schemas(cluster: CassandraTestbed) -> set[bytes | None]:
    """The versions of the schema that nodes have."""
    version = "SELECT schema_version FROM system.local"
    return {ask(node.place, version)[0][0] for node in cluster.nodes}


def tables(cluster: CassandraTestbed) -> set[tuple[Path, int]]:
    """The files of tables, with their sizes in bytes; raises FileNotFoundError if one goes meanwhile."""
    found = (part for node in cluster.nodes for part in (node.spec.folder / "data").rglob("*"))
    return {(part, part.stat().st_size) for part in found if part.is_file()}


def insert_beside_synced_tables(cluster: CassandraTestbed) -> range:
    """Write rows while every table's file is on the disk; returns their keys.

    Cassandra does not sync every part of a file that it flushes or compacts, and may not start without it:
    not what is asked here, and its own tables are flushed at any time after nodes have met.
    """
    starts = count(0, ROWS)
    rows = range(0)

    def inserted() -> bool:
        nonlocal rows
        rows = range(start := next(starts), start + ROWS)  # those of an earlier try may have been synced
        with suppress(FileNotFoundError):
            before = tables(cluster)
            for node in cluster.nodes:
                cluster.host.sync(node.spec.folder)
            for row in rows:
                ask(cluster.nodes[0].place, INSERT.format(row))
            return tables(cluster) == before
        return False

    wait_until(inserted, [], WAIT_S, "nodes do not cease to flush or to compact")
    return rows


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
    rows = insert_beside_synced_tables(dark)
    told: list[tuple[str, str]] = []
    dark.power_loss(["node1", "node2"], lambda *what: told.append(what), print)
    assert sorted(told) == sorted((name, what) for name in ("node1", "node2") for what in ("down", "serves"))
    assert dark.dead() == []
    kept = {int.from_bytes(row[0] or b"", "big") for row in ask(dark.nodes[0].place, "SELECT a FROM k.t")}
    assert kept >= set(rows)
    dark.down(print)
    assert not [node for node in dark.nodes if node.spec.folder.is_mount()]


@pytest.mark.skipif(bool(namespaces.why_not()), reason=namespaces.why_not() or "-")
def test_a_node_that_is_cut_off_is_missed_until_it_is_back(cluster: Callable[..., CassandraTestbed]) -> None:
    apart = cluster("severed", nodes=2, network="namespaces")
    require(apart, "partition")
    apart.up(print)
    inside = subprocess.run(
        [*apart.engine_prefix(), "ip", "-4", "-o", "addr"], capture_output=True, text=True, check=True
    ).stdout
    assert f"{apart.block}.254" in inside  # where clients are
    apart.partition("node2")
    wait_until(lambda: apart.missed("node2"), [], WAIT_S, "nobody misses a node that is cut off")
    assert apart.dead() == []
    apart.heal("node2")
    wait_until(lambda: not apart.missed("node2"), [], WAIT_S, "a node that is back is missed")
    assert len(schemas(apart)) == 1
