"""Nodes join a real HBase cluster and leave it while it serves, and lose their power: no data is lost."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from over_the_wire import WAIT_S, active, create_table, put, specs, value

from steelyard.errors import InputError
from steelyard.hosts import mounts, process, records
from steelyard.systems.capabilities import AddOptions, require
from steelyard.systems.hbase import admin, hdfs, serving
from steelyard.systems.hbase.administered import answered
from steelyard.systems.hbase.testbed import HBaseTestbed
from steelyard.systems.waiting import wait_until

pytestmark = pytest.mark.beside

Make = Callable[..., HBaseTestbed]
TABLE = "moved"
ROWS = [b"a", b"b", b"c", b"d", b"e", b"f"]
"""One in each region."""
SOON = {
    "hbase.lease.recovery.dfs.timeout": 15_000,
    "dfs.heartbeat.interval": 1,
    "dfs.namenode.safemode.min.datanodes": 2,
    "dfs.namenode.safemode.extension": 0,
}
"""A log whose DataNodes were not back when HBase asked for its lease is asked for again in 15 s, not 64; and
once both are there a NameNode does not wait for more."""


def values(testbed: HBaseTestbed) -> list[bytes]:
    return [value(testbed, TABLE, row) for row in ROWS]


def test_a_node_joins_leaves_and_joins_again(hbase_cluster: Make) -> None:
    grown = hbase_cluster("hgrown", nodes=2, spare=1)
    grown.up(print)
    create_table(grown, TABLE, ROWS[1:])
    for row in ROWS:
        put(grown, TABLE, row, b"flushed " + row)
    grown.flush_all()  # into files whose copies lie on the first two nodes
    for row in ROWS[3:]:
        put(grown, TABLE, row, b"in memory " + row)
    written = values(grown)
    told: list[tuple[str, str]] = []

    assert grown.spares() == ["node3"]
    grown.add(["node3"], AddOptions(), lambda *what: told.append(what), print)
    assert told == [("node3", what) for what in ("up", "registered", "assigned", "balanced")]
    assert grown.members() == ["node1", "node2", "node3"]
    assert sorted(grown.regions(TABLE).values()) == [2, 2, 2]
    assert values(grown) == written
    assert admin.in_transition(active(grown)) == 0
    new = grown.node("node3").spec
    shares = {one.name: one.share for one in admin.localities(new)}
    moved_here = [one.name for one in admin.regions(new, TABLE)]
    assert all(shares[name] < 1 for name in moved_here)
    grown.localize("node3", print)
    assert [one.share for one in admin.localities(new)] == [1.0] * len(admin.localities(new))
    assert values(grown) == written
    assert [target.name for target in grown.targets()] == ["node1", "node2", "node3"]
    with pytest.raises(InputError, match="node1 has zookeeper and namenode and master, and cannot leave"):
        grown.remove(["node1"], told.append, print)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="1 nodes would stay, and each block of HDFS has 2 copies"):
        grown.remove(["node2", "node3"], told.append, print)  # type: ignore[arg-type]

    put(grown, TABLE, ROWS[0], b"written anew")
    written = values(grown)
    servers = [server.identity for server in grown.node("node3").servers]
    told.clear()
    moved = grown.remove(["node3"], lambda *what: told.append(what), print)
    assert told == [("node3", what) for what in ("leaving", "drained", "left", "stopped")]
    assert not [server for server in servers if server is None or process.alive(server)]
    assert moved > 0
    assert sum(grown.regions(TABLE).values()) == len(ROWS)
    assert grown.members() == ["node1", "node2"]
    assert values(grown) == written
    assert grown.dead() == []
    assert admin.decommissioned(active(grown)) == []
    assert serving.waiting_for(specs(grown), specs(grown)) == ""

    told.clear()
    grown.add(["node3"], AddOptions(balance=False), lambda *what: told.append(what), print)
    assert told == [("node3", what) for what in ("up", "registered")]
    assert grown.regions(TABLE)["node3"] == 0
    state = hdfs.data_node(hdfs.name_node(specs(grown)), grown.node("node3").spec).state
    assert state == "In Service"
    assert values(grown) == written
    assert not grown.missed("node2")
    whole = grown.served()
    assert whole > len(ROWS), "those of HBase's own tables are told, too"
    grown.kill("node2/regionserver")
    wait_until(lambda: grown.missed("node2"), [], WAIT_S, "the master misses no dead server")
    wait_until(answered(lambda: grown.served() == whole), [], WAIT_S, "its regions are served by nobody")
    grown.restart("node2/regionserver")
    assert not grown.missed("node2")
    assert values(grown) == written
    grown.down(print)
    assert "hgrown" not in {record.name for record in records.records()}


@pytest.mark.skipif(bool(mounts.why_not()), reason=mounts.why_not() or "-")
def test_what_was_synced_outlives_the_loss_of_all_power(hbase_cluster: Make) -> None:
    dark = hbase_cluster("hdark", nodes=2, wal_hsync=True, disk_mib=8192, settings=SOON)
    require(dark, "power_loss")
    dark.up(print)
    assert all(node.spec.folder.is_mount() for node in dark.nodes)
    create_table(dark, TABLE, ROWS[1:])
    for node in dark.nodes:
        dark.host.sync(node.spec.folder)  # HDFS does not sync what the table's regions are known by
    for row in ROWS:
        put(dark, TABLE, row, b"synced " + row)
    told: list[tuple[str, str]] = []
    dark.power_loss(["node1", "node2"], lambda *what: told.append(what), print)
    assert sorted(told) == sorted((name, what) for name in ("node1", "node2") for what in ("down", "serves"))
    assert dark.dead() == []
    wait_until(lambda: sum(dark.regions(TABLE).values()) == len(ROWS), [], WAIT_S, "not all regions")
    assert values(dark) == [b"synced " + row for row in ROWS]
    folders = [node.spec.folder for node in dark.nodes]
    dark.down(print)
    assert not [folder for folder in folders if folder.is_mount() or folder.exists()]


def test_without_disks_or_networks_of_their_own_nodes_cannot_lose_them(hbase_cluster: Make) -> None:
    plain = hbase_cluster("hplain", nodes=1)
    for what in ("power_loss", "partition"):
        with pytest.raises(InputError, match=f"cannot do '{what}'"):
            require(plain, what)
    assert ("throttle" in plain.capabilities) == (os.geteuid() == 0)
