"""A trial of HBase is told as fully as one of Cassandra: masters apart, and what servers themselves say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_report_formats import make

from steelyard.report import write_report
from steelyard.report.charts import charts_of
from steelyard.report.in_effect import master_names
from steelyard.report.model import ReportModel, build
from steelyard.report.tables import for_phase

COUNTERS = {
    "server_client_multi_total": 30.0,
    "server_wal_syncs_total": 90.0,
    "server_block_cache_hits_total": 60.0,
    "server_block_cache_misses_total": 20.0,
    "server_updates_blocked_seconds_total": 0.02,
}
LEVELS = {
    "server_regions": (3.0, 3.0, 4.0),
    "server_live_disk_bytes": (3e6, 3e6, 6e6),
    "server_flushes_pending": (0.0, 0.0, 2.0),
    "server_calls_pending": (1.0, 0.0, 5.0),
    "server_memtable_bytes": (1e7, 2e7, 3e7),
    "server_wal_sync_max_whole_ms": (4.0, 9.0, 2.0),
}
OF_MASTER = {
    "server_regions_in_transition": 2.0,
    "server_region_servers_live": 3.0,
    "server_hdfs_under_replicated_blocks": 5.0,
}


@pytest.fixture
def model(tmp_path: Path) -> ReportModel:
    """The sample as if HBase had been driven: three nodes, one master on a node of its own."""
    folder = make(tmp_path, name="hbase")
    trial = folder / "trials" / "001"
    manifest = json.loads((trial / "manifest.json").read_text())
    manifest["trial"]["system"]["kind"] = "hbase"
    manifest["system"]["kind"] = "hbase"
    for node in manifest["system"]["nodes"]:
        node["roles"] = ["datanode", "regionserver"]
    manifest["system"]["nodes"].append({"name": "master1", "roles": ["zookeeper", "namenode", "master"]})
    (trial / "manifest.json").write_text(json.dumps(manifest))
    system = pl.read_parquet(trial / "system.parquet")
    pl.concat([system, *_told(system)]).write_parquet(trial / "system.parquet")
    return build(folder)


def _told(system: pl.DataFrame) -> list[pl.DataFrame]:
    t_ns = system.filter(source="machine", metric="cpu_seconds_total")["t_ns"].to_numpy()
    second = (t_ns - t_ns[0]) / 1e9
    found = [_rows(t_ns, "master1", "cpu_seconds_total", 0.06 * second)]
    found += [_rows(t_ns, "master1", m, np.full(t_ns.size, v)) for m, v in OF_MASTER.items()]
    for place, node in enumerate(("node1", "node2", "node3")):
        found += [_rows(t_ns, node, metric, rate * second) for metric, rate in COUNTERS.items()]
        found += [_rows(t_ns, node, m, np.full(t_ns.size, v[place])) for m, v in LEVELS.items()]
    return found


def _rows(t_ns: np.ndarray, source: str, metric: str, values: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame({"t_ns": t_ns, "source": source, "metric": metric, "value": values})


def test_nodes_and_masters_are_counted_and_charged_apart(model: ReportModel) -> None:
    (trial,) = model.trials
    assert master_names(trial.manifest) == ("master1",)
    nodes, masters = trial.node_cpu_us, trial.master_cpu_us
    assert nodes is not None
    assert masters == pytest.approx(100, rel=0.02)  # 0.06 cores at 600 operations/s
    assert trial.server_cpu_us == pytest.approx(nodes + 0.06e6 / 600, rel=0.001)
    text = write_report(model.path, "text").read_text()
    assert "on 3 nodes and 1 master" in text
    told = json.loads(write_report(model.path, "json").read_text())["trials"][0]
    assert told["master_cpu_us_per_op"] == masters
    assert told["server_cpu_us_per_op"] == trial.server_cpu_us > told["node_cpu_us_per_op"]


def test_the_tables_say_what_servers_and_masters_told(model: ReportModel) -> None:
    measured = model.trials[0].measured
    assert measured
    tables = {table.title: table for table in for_phase(measured)}
    parties = [row[0] for row in tables["CPU per operation and resources"].rows]
    assert parties[3:] == ["node1", "node2", "node3", "nodes in all", "master1", "servers in all", "machine"]
    inside = tables["Inside the servers"]
    assert list(inside.columns) == ["measure", "node1", "node2", "node3", "master1"]
    rows = {row[0]: list(row[1:]) for row in inside.rows}
    assert rows["requests waiting, most"] == ["1.00", "0", "5.00", "-"]
    assert rows["block cache hits"] == ["75 %"] * 3 + ["-"]
    assert rows["WAL syncs, per s"] == ["90.0"] * 3 + ["-"]
    assert rows["writes held back"] == ["2.0 %"] * 3 + ["-"]
    assert rows["under-replicated blocks, most"] == ["-", "-", "-", "5.00"]
    balance = {row[0]: list(row[1:]) for row in tables["Balance of the nodes"].rows}
    assert balance["regions"] == ["3.00", "3.00", "4.00", "1.20", "0.141"]
    assert balance["data stored"][3:] == ["1.50", "0.354"]


def test_there_are_charts_of_what_the_servers_told(model: ReportModel) -> None:
    charts = {chart.key: chart for chart in charts_of(model.trials[0])}
    new = {
        "requests",
        "waiting",
        "memtables",
        "flushes",
        "blocked",
        "log",
        "cache",
        "regions",
        "moving",
        "lacking",
    }
    assert {f"system-{key}" for key in new} <= set(charts)
    hits = charts["system-cache"].spec["datasets"]["lines"]
    assert {row["y"] for row in hits} == {0.75}
    assert {row["series"] for row in charts["system-moving"].spec["datasets"]["lines"]} == {"master1"}
