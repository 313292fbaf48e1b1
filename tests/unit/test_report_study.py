"""A study's page: points with their spread, curves over the factor, the ledger of what differs in meaning."""

from __future__ import annotations

import copy
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made import maker

from steelyard.report.formatting import NONE
from steelyard.report.html import render_html
from steelyard.report.markdown import render_markdown
from steelyard.report.model import ReportModel, build
from steelyard.report.study import overview
from steelyard.report.study.limits import limits_table
from steelyard.report.study.points import points
from steelyard.report.text import render_text

samples = maker("make_results")

HBASE: dict[str, Any] = {
    "kind": "hbase",
    "version": "2.6.4",
    "roles": "dedicated",
    "replication": {"hdfs": 3},
    "durability": "acknowledged when the log is in the memory of 3 DataNodes (hflush)",
    "nodes": [{"name": "master1", "roles": ["master"]}, {"name": "node1", "roles": ["regionserver"]}],
}
READY: dict[str, dict[str, Any]] = {
    "cassandra": {
        "system": "cassandra", "clocks": "socket", "read_consistency": "ONE", "write_consistency": "ONE",
        "replication_in_effect": {"class": "SimpleStrategy", "replication_factor": "3"},
        "scan_order": "token",
        "table": {"compression": {"enabled": "false"}, "caching": {"keys": "ALL"}},
    },
    "hbase": {
        "system": "hbase", "clocks": "socket", "scan_order": "key", "reads_fill_block_cache": True,
        "buffering": None, "table": {"regions": 9, "compression": "NONE"},
    },
}  # fmt: skip


def _sample(repetitions: int) -> Any:
    return samples.Sample(repetitions=repetitions, seconds=6, load_seconds=2, pause_second=None)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ReportModel:
    """Two systems at two rates, two trials each; the last one disturbed."""
    folder = samples.make(tmp_path_factory.mktemp("results"), _sample(8))
    run = json.loads((folder / "run.json").read_text())
    run["trials"][7]["tainted"] = "crowded: a build ran beside it"
    (folder / "run.json").write_text(json.dumps(run))
    for number in range(1, 9):
        point = (number - 1) // 2 + 1
        system = "cassandra" if point < 3 else "hbase"
        path = folder / "trials" / f"{number:03}" / "manifest.json"
        manifest = json.loads(path.read_text())
        manifest["trial"] |= {
            "point": point, "system_name": system, "variant": "as-shipped",
            "levels": {"target": 500 * (2 - point % 2), "workload": "a"}, "group": number, "data": number,
        }  # fmt: skip
        manifest["engine"]["ready"] = READY[system]
        if system == "hbase":
            manifest["system"] = HBASE
        path.write_text(json.dumps(manifest))
    return build(folder)


def test_trials_of_equal_settings_are_one_point_without_those_disturbed(
    model: ReportModel,
) -> None:
    found = points(model)
    assert [(p.system, p.levels["target"], len(p.trials)) for p in found] == [
        ("cassandra", 500, 2), ("cassandra", 1000, 2), ("hbase", 500, 2), ("hbase", 1000, 1),
    ]  # fmt: skip
    study = overview(model)
    assert study is not None
    [together, table, meaning, remarks] = study.tables
    assert table.rows[3][:2] == ("hbase as-shipped, target 1000, workload a", "1 of 2")
    assert " to " in table.rows[0][2]
    assert "(" not in table.rows[3][2]
    assert together.columns[:5] == ("variant", "target", "workload", "cassandra ok/s", "hbase ok/s")
    assert [row[:3] for row in together.rows] == [("as-shipped", "500", "a"), ("as-shipped", "1000", "a")]
    assert "not judged, in 2 of 2 rows: " in together.note
    assert "2 of 6 repetitions needed have ok_per_s" in together.note
    assert ("fault", "1 of 8", "8", "crowded: a build ran beside it") in remarks.rows
    assert meaning.columns == ("", "cassandra as-shipped", "hbase as-shipped")


def test_running_a_trial_again_makes_no_units(model: ReportModel, tmp_path: Path) -> None:
    """It counts with the start it was planned on, whatever its manifest says of its own, and takes the place
    of what was disturbed."""
    folder = Path(shutil.copytree(model.path, tmp_path / "run"))
    run = json.loads((folder / "run.json").read_text())
    for trial in run["trials"]:
        trial |= {"group": 1, "repetition": trial["number"] if trial["number"] < 7 else 7}
    (folder / "run.json").write_text(json.dumps(run))
    found = points(build(folder))
    assert [point.cell.starts() for point in found] == [{1}] * 4
    assert [(len(point.trials), point.planned) for point in found] == [(2, 2), (2, 2), (2, 2), (1, 1)]


def test_the_ledger_says_what_the_same_word_means(model: ReportModel) -> None:
    study = overview(model)
    assert study is not None
    lines = {row[0]: row[1:] for row in study.tables[2].rows}
    assert "may lack an acknowledged write" in lines["A read asks"][0]
    assert "holds every acknowledged write" in lines["A read asks"][1]
    assert lines["Scan order"][0].startswith("by token")
    assert lines["Compression"] == ("none", "NONE")
    assert lines["Written before the answer"][0].startswith("ONE: 1 of 3 replicas")
    assert "all 3 DataNodes" in lines["Written before the answer"][1]


@pytest.fixture
def limited(model: ReportModel) -> ReportModel:
    """The first system's nodes have quotas of several sizes, the second's master limits of its own."""
    trials = [replace(trial, manifest=copy.deepcopy(dict(trial.manifest))) for trial in model.trials]
    for trial in trials:
        limits = {"memory_mib": 600, "cgroup_version": "1", "cpu_period_us": 100_000, "disk_mib": 2000}
        if trial.manifest["trial"]["system_name"] == "cassandra":
            limits |= {"cpu_cores": {"node1": 0.5, "node2": 1.5, "node3": 1.0}, "disk_read_mib_per_s": 2.0}
        else:
            limits |= {"timer_slack_us": 1000}
            limits |= {"cpu_cores": {"master1": 0.3, "node1": None}, "missing": {"blkio": "<no> disk"}}
            trial.manifest["trial"]["system"]["master_limits"] = {"memory_mib": 1024}
        trial.manifest["system"]["limits"] = limits
    return replace(model, trials=tuple(trials))


def test_limits_in_effect_are_told_and_what_no_limit_holds(limited: ReportModel) -> None:
    told = limits_table(limited)
    assert told is not None
    assert list(told.rows) == [
        ("cassandra as-shipped", "nodes", "0.5 to 1.5", "600 MiB", "2 MiB/s read, 2,000 MiB large", "4"),
        ("hbase as-shipped", "nodes", NONE, "600 MiB", "2,000 MiB large", "4"),
        ("hbase as-shipped", "masters", "0.3", "1,024 MiB", "2,000 MiB large", "4"),
    ]
    for said in (
        "each 100 ms",
        "Nothing holds the client",
        "nobody's",
        "blkio (<no> disk)",
        "may wake 50 or 1,000 us late",
    ):
        assert said in told.note
    assert len(told.columns) == 6
    assert "actions" not in told.note
    limited.trials[-1].manifest["trial"]["timeline"] = [
        {"id": "slow", "node": "all", "do": "throttle", "read_mib": 2.0, "write_mib": 0.0},
        {"id": "small", "node": "node1", "do": "resize", "cpu": 0.5},
        {"id": "lifted", "node": "all", "do": "throttle", "read_mib": 0.0, "write_mib": 0.0},
        {"id": "more", "do": "add"},
    ]
    for trial in limited.trials:
        trial.manifest["system"]["limits"]["cgroup_version"] = "2"
    told = limits_table(limited)
    assert told is not None
    assert told.columns[5] == "by actions, as planned"
    by_actions = {row[:2]: set() for row in told.rows}
    for row in told.rows:
        by_actions[row[:2]].add(row[5])
    assert by_actions == {
        ("cassandra as-shipped", "nodes"): {NONE},
        ("hbase as-shipped", "nodes"): {
            NONE, "slow: each 2 MiB/s read; small: node1 0.5 cores; lifted: each no limit"
        },
        ("hbase as-shipped", "masters"): {NONE},
    }  # fmt: skip
    assert "What actions hold nodes to" in told.note
    assert "nobody's" not in told.note


def test_what_holds_of_limits_that_there_are_not_is_not_said(limited: ReportModel) -> None:
    """Memory alone is limited: neither CPU nor the disk."""
    for trial in limited.trials:
        trial.manifest["trial"]["system"].pop("master_limits", None)
        trial.manifest["system"]["limits"] = {
            "memory_mib": 600, "cgroup_version": "1", "cpu_period_us": 100_000, "cpu_cores": {"node1": None},
        }  # fmt: skip
    told = limits_table(limited)
    assert told is not None
    assert {row[2:5] for row in told.rows} == {(NONE, "600 MiB", NONE)}
    for said in ("quota", "start", "disk", "actions"):
        assert said not in told.note
    assert "Nothing holds the client" in told.note


def test_what_a_given_cluster_is_held_to_is_not_known(limited: ReportModel) -> None:
    for trial in limited.trials:
        if trial.manifest["trial"]["system_name"] == "cassandra":
            trial.manifest["trial"]["system"]["kind"] = "hosts"
    told = limits_table(limited)
    assert told is not None
    assert {row[0] for row in told.rows} == {"hbase as-shipped"}


def test_nodes_without_any_limit_have_no_table(limited: ReportModel) -> None:
    for trial in limited.trials:
        trial.manifest["trial"]["system"].pop("master_limits", None)
        trial.manifest["system"]["limits"] = {"cpu_cores": {"node1": None}, "cpu_period_us": 100_000}
    assert limits_table(limited) is None


def test_a_local_level_asks_the_replicas_of_one_datacenter(model: ReportModel) -> None:
    ready = {
        "replication_in_effect": {"class": "NetworkTopologyStrategy", "dc1": "3", "dc2": "2"},
        "local_datacenter": "dc1", "read_consistency": "LOCAL_QUORUM", "write_consistency": "LOCAL_QUORUM",
    }  # fmt: skip
    for trial in model.trials:
        if trial.manifest["engine"]["ready"].get("system") != "hbase":
            trial.manifest["engine"]["ready"] |= ready
    study = overview(model)
    assert study is not None
    lines = {row[0]: row[1] for row in study.tables[2].rows}
    assert lines["Written before the answer"].startswith("LOCAL_QUORUM: 2 of 3 replicas of dc1;")
    assert lines["A read asks"].endswith("its answer holds every acknowledged write")
    assert lines["A read asks"].startswith("LOCAL_QUORUM: 2 of 3 replicas of dc1;")


def test_latency_is_drawn_against_achieved_throughput(model: ReportModel) -> None:
    study = overview(model)
    assert study is not None
    titles = [chart.title for chart in study.charts]
    assert titles == [
        "Achieved throughput (workload a)",
        "READ response time, p99 (workload a)",
        "UPDATE response time, p99 (workload a)",
    ]
    rows = study.charts[1].spec["datasets"]["points"]
    assert {row["series"] for row in rows} == {"cassandra as-shipped", "hbase as-shipped"}
    assert all(row["low"] <= row["y"] <= row["high"] for row in rows)


def test_every_format_shows_the_study_and_not_each_trials_details(model: ReportModel, tmp_path: Path) -> None:
    html = render_html(model, tmp_path / "charts")
    assert "What differs in meaning" in html
    assert 'id="curve-0"' in html
    assert 'class="card"' not in html
    assert len(list((tmp_path / "charts").glob("*.svg"))) == 3
    for text in (render_text(model), render_markdown(model, None)):
        assert "What differs in meaning" in text
        assert "Remarks on trials" in text


def test_one_point_is_shown_by_its_trials(tmp_path: Path) -> None:
    assert overview(build(samples.make(tmp_path, _sample(2)))) is None
