"""Watching real HBase: every server tells, figures move with the work, and one that freezes is a gap."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from watching import freeze

from steelyard.hosts.local import LocalHost
from steelyard.spec.hbase import HBaseSystem
from steelyard.systems.hbase import serving
from steelyard.systems.hbase.testbed import HBaseTestbed
from steelyard.systems.waiting import wait_until
from steelyard.watch import Sampler
from steelyard.watch.target import WatchTarget

READS = 200
HOST = LocalHost()
WAIT_S = 60.0


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HBaseTestbed]:
    """Two nodes and a master on a node of its own; a test that freezes one lets it go again."""
    root = tmp_path_factory.mktemp("watched")
    testbed = HBaseTestbed(
        HBaseSystem(nodes=2, masters=1, profile="quick"), name="hwatched", root=root, host=HOST
    )
    testbed.up(print)
    yield testbed
    testbed.down(print)


def expected(target: WatchTarget) -> set[str]:
    """The names of all figures of a node's servers."""
    roles = {role for role, _, _ in target.jmx}
    return {figure.metric for role in roles for bean in role.beans for figure in bean.figures}


def untold(sampler: Sampler, testbed: HBaseTestbed) -> dict[str, set[str]]:
    """The figures that servers have not told yet, by node."""
    missing = {
        target.name: {name for name in expected(target) if sampler.latest(target.name, name) is None}
        for target in testbed.targets()
    }
    return {node: names for node, names in missing.items() if names}


def reads(sampler: Sampler, testbed: HBaseTestbed) -> float:
    """Calls for one row that all region servers have counted."""
    told = [sampler.latest(target.name, "server_client_reads_total") for target in testbed.targets()]
    return sum(count for count in told if count is not None)


def test_every_server_tells_and_reads_are_counted_within_seconds(watched: HBaseTestbed) -> None:
    sampler = Sampler(watched.targets(), dict, os.getpid(), HOST.pids)
    master = serving.active_master([node.spec for node in watched.nodes])
    assert master is not None
    sampler.start()
    wait_until(lambda: untold(sampler, watched) == {}, [], WAIT_S, "not every server tells everything")
    before = reads(sampler, watched)
    for _ in range(READS):
        serving.read_meta(master)
    wait_until(lambda: reads(sampler, watched) - before >= READS, [], WAIT_S, "the reads are not counted")
    sampler.stop()
    frame = sampler.frame()
    for target in watched.targets():
        there = set(frame.filter(source=target.name)["metric"])
        assert not expected(target) - there, target.name
        assert {"server_heap_used_bytes", "server_gc_seconds_total", "cpu_seconds_total"} <= there
    (head,) = (
        target.name for target in watched.targets() if "master" in {role.name for role, _, _ in target.jmx}
    )
    assert sampler.latest(head, "server_region_servers_live") == 2
    assert sampler.latest(head, "server_hdfs_live_data_nodes") == 2
    assert sampler.latest(head, "server_regions_in_transition") == 0


def test_a_frozen_node_is_a_gap_and_stops_nobody(watched: HBaseTestbed) -> None:
    frozen, other = watched.targets()[:2]
    sampler = Sampler(watched.targets(), dict, os.getpid(), HOST.pids)
    sampler.start()
    # Three heaps take six seconds: less than ZooKeeper's session of ten, so the master sees no death.
    freeze(sampler, frozen, other, HOST.pids(frozen))
    sampler.stop()
    assert f"{frozen.name}.server_* (regionserver)" in sampler.missing
