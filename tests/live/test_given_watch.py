"""Clusters of ours used as given ones: servers are asked from outside, and reports show what they tell."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import polars as pl
import pytest
from bench_command import Command

from steelyard.report import write_report
from steelyard.systems.cassandra.config import AGENT_PORT
from steelyard.systems.cassandra.cql_probe import ask
from steelyard.systems.cassandra.ring import normal_members
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.systems.cassandra.virtual_tables import VirtualTables
from steelyard.systems.hbase.testbed import HBaseTestbed
from steelyard.systems.waiting import wait_until

pytestmark = pytest.mark.beside
pytest_plugins = ["bench_fixtures"]
Start = Callable[[str], Command]
SMALL = "-w a --records 2000 --clients 8 --duration 8s --fresh"
TOLD_TWICE = SMALL.replace("8s", "15s")
"""HBase counts requests anew every 5 s and is asked as often: each count is up to 10 s old."""
CHANGE_S = 30.0
"""The longest wait for a change of the schema, by three nodes on a busy machine."""
KEYSPACE = (
    "CREATE KEYSPACE IF NOT EXISTS alike WITH replication = "
    "{'class': 'SimpleStrategy', 'replication_factor': 1}"
)
COUNTED = ("server_client_reads_total", "server_client_writes_total", "server_local_writes_total")


def told(one: Command, nodes: Collection[str]) -> pl.DataFrame:
    """What was sampled of these nodes, which are all there are besides this machine's own sources."""
    assert one.end() == 0, one.stderr
    system = pl.read_parquet(one.trial().path / "system.parquet")
    own = {"machine", "lab", "others", "engine"}
    assert set(system["source"].unique()) - own == {*nodes}
    return system.filter(pl.col("source").is_in([*nodes]))


def growth(system: pl.DataFrame, metric: str) -> float:
    """How much a counter has grown, over all nodes."""
    each = system.filter(metric=metric).group_by("source").agg(pl.col("value").max() - pl.col("value").min())
    return float(each["value"].sum())


def page(one: Command) -> str:
    """The report's text."""
    return write_report(one.out, "md", one.out.parent / "report.md", charts=False).read_text()


def missing(one: Command) -> dict[str, Any]:
    found: dict[str, Any] = one.trial().manifest["host"]["missing"]
    return found


def test_cassandra_by_its_virtual_tables(cassandra3: CassandraTestbed, command: Start) -> None:
    names = cassandra3.answers_at()
    one = command(f"bench cassandra --hosts {names[0]} --keyspace seen {SMALL} --rf 3")
    system = told(one, names)
    assert set(system["metric"].unique()) >= {*COUNTED, "server_native_pending", "server_compactions_running"}
    assert growth(system, "server_local_writes_total") > growth(system, "server_client_writes_total") > 2000
    text = page(one)
    assert all(name in text for name in names)
    assert "requests waiting, most" in text
    assert "CPU, memory, disk and network of" in text
    assert one.trial().manifest["system"]["version"].startswith("5.0")
    assert {f"{name}.cpu, memory, disk, network" for name in names} <= missing(one).keys()
    cost = one.trial().manifest["host"]["watching"]
    assert cost["cpu_seconds"] < 0.1 * cost["seconds"]


@pytest.fixture
def table(cassandra3: CassandraTestbed) -> Iterator[None]:
    """A table `alike.t` of one copy, known to all nodes, for as long as the test lasts."""
    place = cassandra3.nodes[0].place
    try:
        ask(place, KEYSPACE, timeout_s=CHANGE_S)
        ask(place, "CREATE TABLE IF NOT EXISTS alike.t (k int PRIMARY KEY)", timeout_s=CHANGE_S)
        wait_until(lambda: normal_members(place) == 3, [], 60, "the nodes do not agree on the schema")
        yield
    finally:
        ask(place, "DROP KEYSPACE IF EXISTS alike", timeout_s=CHANGE_S)


@pytest.mark.usefixtures("table")
def test_virtual_tables_tell_what_the_agent_tells(cassandra3: CassandraTestbed) -> None:
    node = cassandra3.nodes[0]

    def both() -> tuple[dict[str, float], dict[str, float]]:
        session = VirtualTables(node.place).open()
        by_tables = {name: value for one in session.ask() for name, value in one.values.items()}
        session.close()
        answer = cassandra3.host.ask_agent((node.spec.agent_address, AGENT_PORT), "metrics")
        return by_tables, answer["metrics"]

    before = both()
    for key in range(50):
        ask(node.place, f"INSERT INTO alike.t (k) VALUES ({key})")  # noqa: S608 - our own words
        ask(node.place, f"SELECT k FROM alike.t WHERE k = {key}")  # noqa: S608
    after = both()
    alike = ("server_client_", "server_local_")  # caches are also asked by what the server does by itself
    grown = [
        {name: a[name] - b[name] for name in after[0] if name.startswith(alike)}
        for a, b in zip(after, before, strict=True)
    ]
    assert grown[0] == grown[1]
    assert (len(grown[0]), grown[0]["server_client_writes_total"], grown[0]["server_client_reads_total"]) == (
        5, 50, 50
    )  # fmt: skip


@pytest.mark.parametrize("way", ["--hosts", "--zookeeper"])
def test_hbase_by_its_jmx(hbase3: HBaseTestbed, command: Start, way: str) -> None:
    [words] = [words for words in hbase3.bench_words() if way in words]
    one = command(f"bench {words} --table seen {TOLD_TWICE}")
    names = [node.spec.address for node in hbase3.nodes]
    system = told(one, names)
    assert set(system["metric"].unique()) >= {*COUNTED, "server_heap_used_bytes", "server_regions"}
    assert growth(system, "server_client_writes_total") > 0
    text = page(one)
    assert all(name in text for name in names)
    masters = [node["name"] for node in one.trial().manifest["system"]["nodes"] if "master" in node["roles"]]
    assert len(masters) == 2
    table = one.trial().manifest["engine"]["ready"]["table"]
    assert (table["regions"], len(table["regions_by_server"])) == (9, 3)
