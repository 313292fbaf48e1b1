"""What actions did over a study's trials: tables, reads beside the control's, figures with their phases."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hdrh.histogram import HdrHistogram
from made_acted import END_S, START_S, make_acted, run_start_ns

from steelyard.analysis.windows.hints import REPLAYED, STORED, Hints, hints
from steelyard.analysis.windows.milestones import Elapsed, Passed
from steelyard.analysis.windows.spans import Seconds
from steelyard.report.acted import RAW, OneAction, latencies
from steelyard.report.in_effect import coordinator_name
from steelyard.report.model import build
from steelyard.report.study import overview
from steelyard.report.study.acted_points import summary_table
from steelyard.report.study.acted_tables import acted_tables, elapsed_over
from steelyard.report.study.answers import answers
from steelyard.report.timeline.charts import timeline_charts
from steelyard.report.timeline.progress import RECEIVED, REGIONS
from steelyard.spec.metrics import names


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_acted(tmp_path_factory.mktemp("study"))


def test_a_study_tells_actions_milestones_and_failures_over_trials(tmp_path: Path) -> None:
    study = overview(build(make_acted(tmp_path, repetitions=2)))
    assert study is not None
    tables = {table.title: table for table in study.tables}
    [action] = tables["Actions over trials"].rows
    assert action[1:5] == ("join", "add", "2 of 2", "29.5")
    assert action[6:] == ("1.86 GiB", "715 MiB")
    passed = {row[3]: row[4:] for row in tables["Milestones over trials"].rows}
    assert passed == {
        "up": ("4.50", "2 of 2"), "announced": ("9.50", "2 of 2"), "streaming": ("10.5", "2 of 2"),
        "joined": ("29.0", "2 of 2"),
    }  # fmt: skip


def test_what_was_felt_of_each_action_is_told_where_there_are_several(tmp_path: Path) -> None:
    folder = make_acted(tmp_path, repetitions=2)
    tables = overview(build(folder))
    assert tables is not None
    assert "What was felt of each action" not in {table.title for table in tables.tables}
    for trial in (folder / "trials").iterdir():
        if (file := trial / "actions.ndjson").is_file():
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            end = max(line["t_ns"] for line in lines)
            told = {"event": "action", "do": "remove", "nodes": ["node4"], "parameters": {}, "id": "back"}
            back = [
                told | {"state": "started", "t_ns": end + 5 * 10**9},
                told | {"state": "ended", "t_ns": end + 15 * 10**9, "how": "done", "reason": ""},
            ]
            file.write_text("".join(json.dumps(line) + "\n" for line in [*lines, *back]))
            (trial / "derived.json").unlink(missing_ok=True)
    study = overview(build(folder))
    assert study is not None
    rows = {table.title: table for table in study.tables}["What was felt of each action"].rows
    assert [row[1:4] for row in rows] == [("join", "30.0", "0"), ("back", "10.0", "0")]
    assert all(float(cell.split()[0]) > 0 for row in rows for cell in row[4:6])


def test_times_over_trials_are_censored_where_one_did_not_come() -> None:
    assert elapsed_over([]) == "-"
    assert elapsed_over([Elapsed(20.0), Elapsed(30.0), Elapsed(26.0)]) == "26.0 (20.0 to 30.0)"
    assert elapsed_over([Elapsed(20.0), Elapsed(10.0, reached=False)]) == "20.0 (20.0 to > 10.0)"
    assert elapsed_over([Elapsed(60.0, reached=False)]) == "> 60.0"


def test_reads_that_miss_data_are_counted_beside_the_control(made: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(made, tmp_path / "copy"))
    for number, lost, stale in (("001", 2, 3), ("002", 5, 1)):
        table = copy / "trials" / number / "intervals.parquet"
        rows = pl.read_parquet(table)
        hit = (pl.col("phase") == "run") & (pl.col("op") == "TOTAL") & pl.col("second").is_in([30, 70])
        wrong = {"lost": lost, "stale": stale}
        rows.with_columns(
            pl.when(hit).then(count).otherwise(0).alias(name) for name, count in wrong.items()
        ).write_parquet(table)
        (copy / "trials" / number / "derived.json").unlink(missing_ok=True)
        (copy / "trials" / number / "paired.json").unlink(missing_ok=True)
    row = build(copy).trials[1].figures
    assert (row["lost_reads"], row["control_lost_reads"], row["impact_lost_reads"]) == (5.0, 2.0, 3.0)
    assert row["impact_stale_reads"] == -2.0, "the control had more, by chance"
    assert {"control_lost_reads", "impact_lost_reads", "hints_replayed"} <= {*names()}


def test_hints_are_counted_over_nodes_from_the_first_action_on() -> None:
    rows = [
        {"t_ns": second * 10**9, "source": node, "metric": metric, "value": float(value)}
        for node in ("node1", "node2")
        for metric, of in ((STORED, (5, 5, 25, 25)), (REPLAYED, (0, 0, 0, 20)))
        for second, value in zip((0, 10, 20, 30), of, strict=True)
    ]
    assert hints(pl.DataFrame(rows), 10 * 10**9, 30 * 10**9) == Hints(40.0, 40.0)
    assert hints(pl.DataFrame(rows[:1]), 10 * 10**9, 30 * 10**9) is None


def test_a_trial_draws_what_nodes_received_and_the_regions_they_serve(made: Path, tmp_path: Path) -> None:
    alone = Path(shutil.copytree(made / "trials" / "002", tmp_path / "002"))
    start = run_start_ns(alone)
    moved = [
        {"t_ns": start + second * 10**9, "source": node, "metric": metric, "value": value}
        for node, metric, values in (
            ("node4", RECEIVED, (0.0, 0.0, 3e6, 9e6)), ("node1", REGIONS, (8.0, 8.0, 7.0, 6.0)),
            ("node1", RECEIVED, (5.0, 5.0, 5.0, 5.0)),
        )
        for second, value in zip((0, 62, 70, 80), values, strict=True)
    ]  # fmt: skip
    table = alone / "system.parquet"
    pl.concat([pl.read_parquet(table), pl.DataFrame(moved)]).write_parquet(table)
    charts = {chart.key: chart for chart in timeline_charts(build(alone).trials[0])}
    lines = charts["timeline-streams"].spec["datasets"]["lines"]
    assert max(row["y"] for row in lines if row["series"] == "node4") == pytest.approx(9e6 / 2**20, rel=1e-3)
    assert [r["y"] for r in charts["timeline-regions"].spec["datasets"]["lines"]] == [8.0, 8.0, 7.0, 6.0]
    assert "timeline-regions" not in {chart.key for chart in timeline_charts(build(made).trials[1])}


def test_figures_over_seconds_have_the_phases_of_their_actions(made: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(made, tmp_path / "copy"))
    run = json.loads((copy / "run.json").read_text())
    run["study"]["figures"] = [
        {"id": "12", "title": "Reads", "x": "time", "y": ["read_service_mean_ns"], "panels": ["timeline"]}
    ]
    (copy / "run.json").write_text(json.dumps(run))
    found = answers(build(copy))
    assert found is not None
    specs = {drawn.title: drawn.chart.spec for drawn in found.figures if drawn.chart}
    still, acted = (specs[f"Figure 12: Reads (timeline {name})"]["datasets"] for name in ("none", "add-1"))
    assert "shades" not in still
    assert acted["shades"] == [{"event": "join: add (done)", "x": START_S, "x2": END_S}]
    assert {"join: started", "join: node4 joined", "join: ended"} <= {row["event"] for row in acted["events"]}


def test_what_clients_saw_of_each_node_is_drawn(made: Path, tmp_path: Path) -> None:
    alone = Path(shutil.copytree(made / "trials" / "002", tmp_path / "002"))
    manifest = json.loads((alone / "manifest.json").read_text())
    manifest["system"]["nodes"] = [{"name": "node1", "address": "10.0.0.1"}]
    manifest["system"]["spares"] = [{"name": "node4", "address": "10.0.0.2"}]
    (alone / "manifest.json").write_text(json.dumps(manifest))
    rows = [
        {"phase": "run", "second": second, "t_ns": 0, "coordinator": node, "attempts": 10, "ok": 10 - bad,
         "failed": bad, "failures": "{}", "service_mean_ns": 1e6, "service_p99_ns": 2_000_000}
        for node, failing in (("10.0.0.1:9042", False), ("10.0.0.2:9042", True))
        for second in range(60, 70)
        for bad in [4 if failing and second >= 65 else 0]
    ]  # fmt: skip
    pl.DataFrame(rows).write_parquet(alone / "coordinators.parquet")
    charts = {chart.key: chart for chart in timeline_charts(build(alone).trials[0])}
    lines = charts["timeline-coordinators-attempts"].spec["datasets"]["lines"]
    of = {(row["series"], row["style"]) for row in lines}
    assert of == {("node1", "answered"), ("node4", "answered"), ("node4", "failed")}
    assert [r["y"] for r in lines if r["style"] == "failed"] == [0] * 5 + [4] * 5
    times = charts["timeline-coordinators-service"].spec["datasets"]["lines"]
    assert {row["y"] for row in times} == {2.0}
    assert "timeline-coordinators-service" not in {c.key for c in timeline_charts(build(made).trials[1])}


def test_failed_attempts_are_told_over_trials_by_the_nodes_name(tmp_path: Path) -> None:
    made = make_acted(tmp_path, repetitions=3)
    for number, attempts in ((2, 7), (4, 3)):  # none in the third
        path = made / "trials" / f"{number:03}"
        manifest = json.loads((path / "manifest.json").read_text())
        manifest["system"]["nodes"] = [{"name": "node2", "address": "10.0.0.2"}]
        (path / "manifest.json").write_text(json.dumps(manifest))
        row = {
            "phase": "run", "second": 70, "t_ns": 0, "coordinator": "10.0.0.2:9042", "attempts": 9, "ok": 2,
            "failed": attempts, "failures": json.dumps({"timeout": attempts}), "service_mean_ns": 1e6,
            "service_p99_ns": 2_000_000,
        }  # fmt: skip
        pl.DataFrame([row]).write_parquet(path / "coordinators.parquet")
    study = overview(build(made))
    assert study is not None
    (table,) = [table for table in study.tables if table.title == "Failed attempts over trials"]
    assert [row[1:] for row in table.rows] == [("during", "node2", "timeout", "3 (0 to 7)")]


def test_nodes_that_share_an_address_are_told_by_their_ports() -> None:
    def node(name: str, port: int) -> dict[str, object]:
        return {"name": name, "address": "host", "ports": {"regionserver": port}}

    manifest = {"system": {"nodes": [node("host:16020", 16020), node("host:16021", 16021)]}}
    assert coordinator_name(manifest, "host:16021") == "host:16021"
    manifest = {"system": {"nodes": [node("one", 16020)], "spares": [node("two", 16021)]}}
    assert [coordinator_name(manifest, f"host:{port}") for port in (16020, 16021)] == ["one", "two"]
    assert coordinator_name(manifest, "host:9") == "host:9"
    alone = {"system": {"nodes": [{"name": "node1", "address": "host"}]}}
    assert coordinator_name(alone, "host:9042") == "node1"
    assert coordinator_name(alone, "other:9042") == "other:9042"


def test_failed_attempts_at_two_ports_of_a_node_are_of_one_trial(tmp_path: Path) -> None:
    made = make_acted(tmp_path)
    path = made / "trials" / "002"
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["system"]["nodes"] = [{"name": "node2", "address": "10.0.0.2"}]
    (path / "manifest.json").write_text(json.dumps(manifest))
    rows = [
        {"phase": "run", "second": 70, "t_ns": 0, "coordinator": f"10.0.0.2:{port}", "attempts": 9, "ok": 2,
         "failed": attempts, "failures": json.dumps({"timeout": attempts}), "service_mean_ns": 1e6,
         "service_p99_ns": 2_000_000}
        for port, attempts in ((9042, 7), (9043, 3))
    ]  # fmt: skip
    pl.DataFrame(rows).write_parquet(path / "coordinators.parquet")
    study = overview(build(made))
    assert study is not None
    (table,) = [table for table in study.tables if table.title == "Failed attempts over trials"]
    assert [row[1:] for row in table.rows] == [("during", "node2", "timeout", "10")]


def test_reads_lost_in_some_trials_alone_are_seen() -> None:
    rows = [{"lost_reads": lost, "control_lost_reads": 0.0} for lost in (0.0, 1200.0, 0.0)]
    point = SimpleNamespace(
        acted=True, label="cassandra", cell=SimpleNamespace(counting=rows), sample=lambda _: None
    )
    table = summary_table([point])  # type: ignore[list-item]
    assert table is not None
    assert dict(zip(table.columns, table.rows[0], strict=True))["reads lost"] == "0 (0 to 1,200)"
    assert "of counts (behind, lost, replayed) the median trial, in brackets the least" in table.note


def test_a_milestone_that_is_passed_twice_is_of_one_trial() -> None:
    twice = (Passed("up", "node1", 3.0), Passed("up", "node1", 8.0))
    action = OneAction("u", "restart", (), {}, "done", "", None, passed=twice)
    trials = [SimpleNamespace(acted=SimpleNamespace(actions=[action], whole=None))]
    point = SimpleNamespace(acted=True, label="cassandra", trials=trials)
    tables = {table.title: table for table in acted_tables([point])}  # type: ignore[list-item]
    rows = tables["Milestones over trials"].rows
    assert rows == [("cassandra", "u", "node1", "up", "8.00", "1 of 1")]


def test_a_miss_counts_as_its_timeout_and_as_the_quick_answer_that_it_was() -> None:
    def histogram(**counts: int) -> HdrHistogram:
        made = HdrHistogram(1, 60_000_000_000, 3)
        for ms, count in counts.items():
            made.record_value(int(ms.removeprefix("ms")) * 1_000_000, count)
        return made

    logs = {
        "READ.response": histogram(ms1=1990), "READ.failed": histogram(ms2=10),
        "READ.all": histogram(ms1=1990, ms10000=10),
    }  # fmt: skip
    source: Any = SimpleNamespace(
        histogram_log=lambda _phase, ending: ((tag, 0.0, logs[tag]) for tag in logs if tag.endswith(ending))
    )
    phase: Any = SimpleNamespace(name="run", seconds=1.0)
    felt, raw = (latencies(source, phase, *clocks)["READ"].merged(Seconds(0, 1)) for clocks in ((), (RAW,)))
    assert felt.count == raw.count == 2000
    assert felt.quantile(1) == pytest.approx(10e9, rel=0.01)
    assert raw.quantile(1) == pytest.approx(2e6, rel=0.01)
    assert felt.p99_ns == raw.p99_ns == pytest.approx(1e6, rel=0.01)
