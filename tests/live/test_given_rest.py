"""Clusters of ours used as given ones: they are brought to rest after a load, and the result says by what."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bench_command import Command

from steelyard.spec.hbase import HBaseHostsSystem
from steelyard.spec.system import HostsSystem
from steelyard.systems.cassandra.given import HostsTestbed, members
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.systems.hbase.given import HBaseHostsTestbed
from steelyard.systems.hbase.testbed import HBaseTestbed

pytest_plugins = ["bench_fixtures"]
Start = Callable[[str], Command]
SMALL = "-w a --records 1000 --operations 1000 --clients 8 --fresh"
OWN, LATENCY = "by the servers' own figures", "by the latency of a small probe"


def at_rest(one: Command) -> str:
    assert one.end() == 0, one.stderr
    [row] = [row for row in one.trial().manifest["timeline"] if row["event"] == "at rest"]
    return str(row["detail"])


@pytest.mark.beside
def test_cassandra_by_its_virtual_tables(cassandra3: CassandraTestbed, command: Start) -> None:
    first = cassandra3.nodes[0].place
    assert {place.address for place in members(first)} == set(cassandra3.answers_at())
    one = command(f"bench cassandra --hosts {first.address} --keyspace given {SMALL}")
    assert at_rest(one).startswith(OWN)


def test_where_a_node_is_silent_a_probe_tells(cassandra3: CassandraTestbed) -> None:
    given = HostsTestbed(HostsSystem(hosts=(cassandra3.nodes[0].spec.address,)))
    given.up(print)
    cassandra3.freeze("node3")
    settled = given.settle(60, print)
    assert (settled.quiet, f"by {settled.how}") == (True, LATENCY)


@pytest.mark.beside
def test_hbase_by_its_jmx(hbase3: HBaseTestbed, command: Start) -> None:
    words = hbase3.bench_words()[0]
    one = command(f"bench {words} --table given {SMALL}")
    assert at_rest(one).startswith(OWN)


@pytest.mark.beside
def test_hbase_of_which_zookeeper_alone_is_known() -> None:
    settled = HBaseHostsTestbed(HBaseHostsSystem(zookeeper=("127.10.251.1",))).settle(5, print)
    assert not settled.quiet
    assert "127.10.251.1:2181" in settled.detail


def test_cassandra_without_virtual_tables_by_a_probe(
    cluster: Callable[..., CassandraTestbed], command: Start
) -> None:
    old = cluster("old", version="3.11", java="11")
    old.up(print)
    one = command(f"bench {old.bench_words()[0]} {SMALL}")
    assert at_rest(one).startswith(LATENCY)
    [untold] = [why for what, why in one.trial().manifest["host"]["missing"].items() if "server_*" in what]
    assert untold.startswith("never answered: it has no virtual tables")
