"""What actions did, from a trial's files to its row, its tables and pictures, beside its control."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from made_acted import AGAIN_S, END_S, MOVED, SECONDS, START_S, make_acted, one, run_start_ns
from test_report_formats import HOSTILE, text_of

from steelyard.analysis.claims import judge
from steelyard.analysis.evidence import Trials
from steelyard.report import paired, write_report
from steelyard.report.acted import LOCAL, Acted, _remote, _stored
from steelyard.report.acted_row import figures
from steelyard.report.figures import trial_frame
from steelyard.report.model import ReportModel, TrialReport, build
from steelyard.report.render import charts_of_interest, still
from steelyard.report.study import overview
from steelyard.report.study.plots import draw
from steelyard.report.timeline.charts import timeline_charts
from steelyard.spec.checks import Claim
from steelyard.spec.metrics import names
from steelyard.spec.plots import Plot


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_acted(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="module")
def model(made: Path) -> ReportModel:
    return build(made)


@pytest.fixture(scope="module")
def trial(model: ReportModel) -> TrialReport:
    return model.trials[1]


def test_times_of_the_action(trial: TrialReport) -> None:
    row = trial.figures
    assert row["scaling_s"] == pytest.approx(END_S - START_S)
    assert row["join_s"] == row["until_joined_s"] == pytest.approx(END_S - 0.5 - START_S)
    assert row["until_up_s"] == pytest.approx(65 - START_S)
    assert row["recovered_s"] == 0.0, "as much was done all the time"
    assert row["steady_again_s"] == pytest.approx(AGAIN_S - START_S, abs=3)
    assert row["stabilise_s"] == pytest.approx(AGAIN_S - END_S, abs=3)
    assert row["scaling_s_beyond"] is None


def test_windows_hold_what_was_done_in_them(trial: TrialReport) -> None:
    row = {name: value for name, value in trial.figures.items() if isinstance(value, float)}
    assert row["total_during_p99_ns"] / row["total_before_p99_ns"] == pytest.approx(3, rel=0.1)
    assert row["control_total_during_p99_ns"] == pytest.approx(row["total_before_p99_ns"], rel=0.1)
    assert row["before_ok_per_s"] == row["during_ok_per_s"] == row["control_after_ok_per_s"] == 600
    assert row["during_failed_share"] == 0
    assert row["total_during_p99_ns"] <= row["worst_window_p99_ns"] < 2 * row["total_during_p99_ns"]


def test_impact_is_what_the_control_did_not_have(trial: TrialReport) -> None:
    row = {name: value for name, value in trial.figures.items() if isinstance(value, float)}
    mean_s = row["total_before_mean_ns"] / 1e9
    whole = 600 * mean_s * (2 * (END_S - int(START_S)) + 0.5 * (AGAIN_S - END_S))
    assert row["excess_s"] == pytest.approx(whole, rel=0.05)
    assert row["control_excess_s"] < 0.05 * whole
    assert row["impact_s"] == pytest.approx(row["excess_s"] - row["control_excess_s"])
    assert row["impact_share"] > 0.1


def test_bytes_against_the_least(trial: TrialReport) -> None:
    assert trial.figures["moved_bytes"] == MOVED
    assert trial.figures["moved_over_least"] == pytest.approx(MOVED / (3e9 / 4), rel=1e-3)


def test_a_part_of_what_is_stored_is_no_least() -> None:
    files, memory = (
        {"t_ns": 1, "source": "node1", "metric": metric, "value": 1e6}
        for metric in ("server_live_disk_bytes", "server_memtable_data_bytes")
    )
    none = {"t_ns": 1, "source": "node2", "metric": "cpu_seconds_total", "value": 1.0}
    assert _stored({}, pl.DataFrame([files, memory, none]), 2) == 2e6
    assert _stored({}, pl.DataFrame([files, none]), 2) == 0


def test_what_lies_on_other_nodes_is_weighed_by_bytes(trial: TrialReport) -> None:
    assert trial.figures["remote_share"] is None  # Cassandra's nodes have their own files
    end_ns = 60 * 10**9
    phase: Any = SimpleNamespace(end_ns=end_ns)
    told = [("node3", 300.0, 1.0), ("node4", 100.0, 0.2), ("node5", 0.0, 0.0)]
    rows = [
        {"t_ns": end_ns - ago * 10**9, "source": node, "metric": metric, "value": value}
        for node, size, share in told
        for ago in (9, 5, 1)
        for metric, value in (("server_live_disk_bytes", size), (LOCAL, share))
    ]
    assert _remote(["node3", "node4", "node5"], phase, pl.DataFrame(rows)) == pytest.approx(0.2)
    assert _remote(["node5"], phase, pl.DataFrame(rows)) is None
    assert _remote([], phase, pl.DataFrame(rows)) is None


def test_gain_in_capacity_where_it_was_searched_twice(made: Path, tmp_path: Path) -> None:
    alone = Path(shutil.copytree(made / "trials" / "002", tmp_path / "002"))
    manifest = json.loads((alone / "manifest.json").read_text())
    manifest |= {"search": {"found_per_s": 1000.0}, "search_after": {"found_per_s": 1250.0}}
    (alone / "manifest.json").write_text(json.dumps(manifest))
    (row,) = (trial.figures for trial in build(alone).trials)
    assert (row["capacity_gain"], row["capacity_gain_share"]) == (1.25, pytest.approx(0.75))


def test_a_node_that_came_late_costs_what_it_used(trial: TrialReport) -> None:
    assert trial.measured is not None
    (cost,) = [c for c in trial.measured.costs if c.party == "node4"]
    assert cost.cores == pytest.approx(0.5 * (SECONDS - 62) / SECONDS, rel=0.02)


def test_an_action_raises_no_false_warning(model: ReportModel, trial: TrialReport) -> None:
    """The control draws the same operations: what is warned of there as well is no action's doing."""
    control, acted = ({warned.kind for warned in one.warnings} for one in (model.trials[0], trial))
    assert acted <= control
    assert not acted & {"no_steady_state", "drift", "too_short", "rate_not_reached"}
    assert trial.figures["steady"] == model.trials[0].figures["steady"] == "steady"


def test_what_was_not_done_meanwhile_is_no_rate_that_was_not_reached(made: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(made, tmp_path / "copy"))
    table = copy / "trials" / "002" / "intervals.parquet"
    stalled = (pl.col("phase") == "run") & pl.col("second").is_between(70, 85)
    rows = pl.read_parquet(table)
    rows.with_columns(pl.when(stalled).then(0).otherwise(pl.col("done")).alias("done")).write_parquet(table)
    (copy / "trials" / "002" / "derived.json").unlink(missing_ok=True)
    found = build(copy).trials[1]
    assert "rate_not_reached" not in {warned.kind for warned in found.warnings}
    assert found.figures["lost_operations"] == 600 * 16
    (copy / "trials" / "002" / "actions.ndjson").unlink()
    assert "rate_not_reached" in {warned.kind for warned in build(copy).trials[1].warnings}


def test_without_its_actions_the_same_run_is_not_steady(made: Path, tmp_path: Path) -> None:
    """What the windows are for: asked of the whole run, the recovery is a change of its last half."""
    copy = Path(shutil.copytree(made, tmp_path / "copy"))
    (copy / "trials" / "002" / "actions.ndjson").unlink()
    bare = build(copy).trials[1]
    assert bare.acted is None
    assert bare.figures["steady"] == "no steady state"


def test_a_control_has_no_measures_of_its_own(model: ReportModel) -> None:
    assert model.trials[0].acted is None
    assert model.trials[0].paired is None
    assert "impact_s" not in model.trials[0].figures


def test_every_figure_can_be_named(trial: TrialReport) -> None:
    from steelyard.spec.metrics import named

    known = {*names()}
    told = [
        n
        for n in trial.figures
        if n.startswith(("total_during", "control_", "impact", "scaling_s", "until_"))
    ]
    assert len(told) > 20
    assert all(named(n) for n in told if not n.endswith("_beyond"))
    assert {"control_read_during_p99_ns", "impact_s", "after_failed_share", "control_excess_s"} <= known


def test_it_is_kept_and_read_again(made: Path, model: ReportModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("derived anew")

    monkeypatch.setattr(paired, "_pair", refuse)
    again = build(made)
    assert again.trials[1].paired == model.trials[1].paired
    assert again.trials[1].figures == model.trials[1].figures


def test_another_control_makes_the_pair_anew(made: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(made, tmp_path / "copy"))
    run = json.loads((copy / "run.json").read_text())
    run["trials"][0]["tainted"] = "crowded: by others"
    (copy / "run.json").write_text(json.dumps(run))
    assert build(copy).trials[1].paired is None
    run["trials"][0] |= {"tainted": None, "seed": 77}
    (copy / "run.json").write_text(json.dumps(run))
    assert build(copy).trials[1].paired is None


def test_one_past_its_limit_is_censored(tmp_path: Path) -> None:
    row = build(make_acted(tmp_path, how="limit")).trials[1].figures
    assert (row["scaling_s"], row["steady_again_s"], row["join_s"]) == (None, None, None)
    assert row["scaling_s_beyond"] == pytest.approx(SECONDS - 1 - START_S)
    assert row["steady_again_s_beyond"] == pytest.approx(SECONDS - START_S)
    assert row["join_s_beyond"] == pytest.approx(SECONDS - START_S, abs=0.1)
    assert row["actions_undone"] == "join (add) limit"


def asked(metric: str, check: dict[str, object]) -> Claim:
    said = {"id": "C1", "statement": "s", "metric": metric, "check": check}
    return Claim.model_validate(said)


DURING = {
    "kind": "ratio", "paired": True, "direction": "above",
    "numerator": {"where": {"timeline": "add-1"}, "metric": "total_during_p99_ns"},
    "denominator": {"where": {"timeline": "add-1"}, "metric": "control_total_during_p99_ns"},
}  # fmt: skip


def repeated(model: ReportModel, times: int, **changed: object) -> pl.DataFrame:
    """The rows of a model as so many repetitions, each a little different."""
    rows = trial_frame(model.path, model).to_dicts()
    found = []
    for n in range(1, times + 1):
        for row in rows:
            scaled = {
                k: v * (1 + 0.01 * n) if isinstance(v, float) and k.endswith(("_ns", "_s")) else v
                for k, v in row.items()
            }
            found.append(
                {**scaled, "trial": len(found) + 1, "repetition": n, "group": len(found), "data": len(found)}
            )
    found[1] |= changed
    return pl.DataFrame(found, infer_schema_length=None)


def test_claims_judge_a_trial_against_its_control(model: ReportModel) -> None:
    [found] = judge([asked("total_during_p99_ns", DURING)], repeated(model, 6), ["timeline"], small=False)
    assert found.direction == "confirmed", found.reasons
    assert found.estimate is not None
    assert found.estimate.estimate == pytest.approx(3, rel=0.1)


def test_a_censored_time_decides_nothing(model: ReportModel) -> None:
    check = {"kind": "value", "below": 100}
    only = {"timeline": "add-1"}
    claim = asked("steady_again_s", check).model_copy(update={"where": only})
    [found] = judge([claim], repeated(model, 6), ["timeline"], small=False)
    assert found.direction == "confirmed", found.reasons
    frame = repeated(model, 6, steady_again_s=None, steady_again_s_beyond=120.0)
    [found] = judge([claim], frame, ["timeline"], small=False)
    assert found.direction == "inconclusive"
    assert "1 of 6 trials: steady_again_s is censored, above 120 s" in found.reasons[0]


def test_a_figure_draws_no_time_that_did_not_come_in_some_trial(model: ReportModel) -> None:
    plot = Plot(
        id="times", title="t", x="timeline", y=("until_up_s", "steady_again_s"),
        where={"timeline": "add-1"}, mark="bar",
    )  # fmt: skip
    frame = repeated(model, 6, steady_again_s=None, steady_again_s_beyond=120.0)
    [one] = draw(plot, Trials(frame, ("timeline",)), lambda *_: None, lambda _: ([], []))
    assert len(one.rows) == 1
    assert one.chart is not None
    assert "Not drawn: timeline add-1, 1 of 6 trials: steady_again_s is censored" in one.chart.note
    [whole] = draw(plot, Trials(repeated(model, 6), ("timeline",)), lambda *_: None, lambda _: ([], []))
    assert len(whole.rows) == 2


@pytest.mark.parametrize("metric", ["stale_reads", "audit_lost", "ok_per_s"])
def test_what_did_not_happen_is_not_judged(model: ReportModel, metric: str) -> None:
    claim = asked(metric, {"kind": "value", "below": 1e6}).model_copy(
        update={"where": {"timeline": "add-1"}, "unsteady": "around an action"}
    )
    frame = repeated(model, 6, actions_undone="dies (kill) failed").with_columns(
        pl.lit(1.0).alias("audit_lost"), pl.lit(1.0).alias("stale_reads")
    )
    [found] = judge([claim], frame, ["timeline"], small=False)
    assert found.direction == "inconclusive"
    assert "1 of 6 trials: dies (kill) failed: what was to be judged did not happen" in found.reasons[0]
    done = frame.with_columns(pl.lit(None, pl.String).alias("actions_undone"))
    [found] = judge([claim], done, ["timeline"], small=False)
    assert found.direction == "confirmed", found.reasons


def test_what_was_noticed_in_time_is_judged_though_the_way_back_did_not_end(model: ReportModel) -> None:
    claim = asked("until_detected_s", {"kind": "value", "below": 30}).model_copy(
        update={"where": {"timeline": "add-1"}}
    )
    frame = repeated(model, 6, actions_undone="healed (heal) unfinished").with_columns(
        pl.lit(9.0).alias("until_detected_s")
    )
    [found] = judge([claim], frame, ["timeline"], small=False)
    assert found.direction == "confirmed", found.reasons


def test_actions_that_never_started_are_told() -> None:
    acted = Acted((one(how="never started"), one(id="b", do="restart", how="unfinished"), one(id="c")))
    assert figures(acted) == {"actions_undone": "a (kill) never started; b (restart) unfinished"}


def test_what_a_controller_decided_too_late_is_what_it_does() -> None:
    late = one(id="c-1", do="add", how="limit", by="c")
    cut = one(id="c-2", do="remove", how="unfinished", by="c")
    assert figures(Acted((late, cut))) == {"actions_undone": None}
    assert figures(Acted((late, replace(cut, how="failed")))) == {"actions_undone": "c-2 (remove) failed"}


@pytest.mark.parametrize("metric", ["until_up_s", "steady_again_s"])
def test_trials_without_a_time_are_not_left_out_silently(model: ReportModel, metric: str) -> None:
    claim = asked(metric, {"kind": "value", "below": 100}).model_copy(update={"where": {"timeline": "add-1"}})
    [found] = judge([claim], repeated(model, 7), ["timeline"], small=False)
    assert found.direction == "confirmed", found.reasons
    [found] = judge([claim], repeated(model, 7, **{metric: None}), ["timeline"], small=False)
    assert found.direction == "inconclusive"
    assert f"1 of 7 trials: {metric} did not come, or could not be told" in found.reasons[0]


def test_windows_too_short_for_a_steady_state_are_judged(model: ReportModel) -> None:
    frame = repeated(model, 6, steady="too short")
    [found] = judge([asked("total_during_p99_ns", DURING)], frame, ["timeline"], small=False)
    assert found.direction == "confirmed", found.reasons


@pytest.mark.parametrize(
    ("metric", "check", "direction"),
    [
        ("total_during_p99_ns", DURING, "confirmed"),
        ("until_up_s", {"kind": "value", "below": 100}, "confirmed"),
        ("steady_again_s", {"kind": "value", "below": 100}, "confirmed"),
        ("after_ok_per_s", {"kind": "value", "below": 1e6}, "inconclusive"),
        ("ok_per_s", {"kind": "value", "below": 1e6}, "inconclusive"),
    ],
)
def test_rest_is_asked_of_windows_around_an_action_and_not_of_what_it_did(
    model: ReportModel, metric: str, check: dict[str, object], direction: str
) -> None:
    frame = repeated(model, 6).with_columns(pl.lit("no steady state").alias("steady"))
    claim = asked(metric, check).model_copy(update={"where": {"timeline": "add-1"}})
    [found] = judge([claim], frame, ["timeline"], small=False)
    assert found.direction == direction, found.reasons
    told = "no steady state around the action" if direction == "confirmed" else "no steady state"
    assert any(one.endswith(f"6 of 6 trials: {told}") for one in (*found.left_out, *found.reasons))


def test_seconds_of_a_busy_host_are_told_beside_a_claim(model: ReportModel) -> None:
    check = {"kind": "value", "below": 1000}
    claim = asked("impact_s", check).model_copy(update={"where": {"timeline": "add-1"}})
    [found] = judge([claim], repeated(model, 6, host_busy_s=7.0), ["timeline"], small=False)
    assert found.direction == "confirmed", found.reasons
    assert any("over 95 % busy in 7 s" in told for told in found.left_out)


def test_pictures_of_a_trial(trial: TrialReport) -> None:
    charts = {chart.key: chart for chart in timeline_charts(trial)}
    assert [*charts] == ["timeline-latency", "timeline-throughput", "timeline-nodes", "timeline-cpu"]
    told = charts["timeline-latency"].spec["datasets"]
    assert told["shades"] == [{"x": START_S, "x2": END_S, "event": "join: add (done)"}]
    assert {"x": START_S, "event": "join: started"} in told["events"]
    assert {"x": END_S - 0.5, "event": "join: node4 joined"} in told["events"]
    assert charts["timeline-nodes"].spec["autosize"]["type"] == "fit-x"  # as high as there are nodes
    lanes_told = charts["timeline-nodes"].spec["datasets"]["lanes"]
    assert [r["state"] for r in lanes_told if r["node"] == "node4"] == [
        "not there", "starting", "up", "announced", "streaming", "joined", "serves",
    ]  # fmt: skip
    assert min(r["x"] for r in charts["timeline-cpu"].spec["datasets"]["lines"]) >= 0


def test_pictures_can_be_drawn(trial: TrialReport) -> None:
    import vl_convert

    for chart in timeline_charts(trial):
        assert "<svg" in vl_convert.vegalite_to_svg(still(chart))


def test_tables_in_text(made: Path, tmp_path: Path) -> None:
    alone = Path(shutil.copytree(made / "trials" / "002", tmp_path / "002"))
    text = text_of(alone)
    for title in ("Actions", "Milestones", "Before, during and after", "What was felt"):
        assert f"\n{title}\n" in text
    lines = text.splitlines()
    (action,) = [line for line in lines if line.startswith("join") and " done " in line]
    assert "29.5" in action
    assert max(len(line) for line in lines if not line.startswith("Again")) <= 100


def test_a_study_has_a_panel_and_a_row_a_timeline(model: ReportModel) -> None:
    study = overview(model)
    assert study is not None
    (table,) = [t for t in study.tables if t.title == "Around the actions"]
    assert [row[0] for row in table.rows] == ["cassandra, timeline add-1"] or table.rows[0][
        0
    ] == "timeline add-1"
    assert table.rows[0][1] == "29.5"
    panel = next(chart for chart in study.charts if chart.key.endswith("-timeline"))
    rows = panel.spec["datasets"]["lines"]
    assert {row["style"] for row in rows} == {"with the actions", "control"}
    assert min(row["x"] for row in rows) == -START_S


def test_json_has_the_measures(made: Path) -> None:
    found = json.loads(write_report(made, "json").read_text())
    control, acted = found["trials"]
    assert "timeline" not in control
    told = acted["timeline"]
    assert told["actions"][0]["id"] == "join"
    assert told["actions"][0]["took"] == {"seconds": pytest.approx(29.5), "reached": True}
    assert told["control"]["trial"] == 1
    assert told["control"]["impact_s"] > 0


def test_what_actions_say_is_escaped(tmp_path: Path) -> None:
    made = make_acted(tmp_path, how="failed", hostile=HOSTILE)
    alone = Path(shutil.copytree(made / "trials" / "002", tmp_path / "002"))
    page = write_report(alone, "html").read_text()
    assert "<script>alert(1)" not in page
    assert "Around the actions" in page
    assert "\x1b" not in page
    marked = write_report(alone, "md", charts=False).read_text()
    assert "<script>" not in marked
    assert "[x](javascript" not in marked
    assert "\x1b" not in text_of(alone)


def test_files_of_a_trial_have_its_pictures(trial: TrialReport) -> None:
    assert [*charts_of_interest(trial)][:2] == ["trial-002-timeline-latency", "trial-002-timeline-throughput"]


def test_a_trial_that_was_cut_short_still_says_what_was_done(made: Path, tmp_path: Path) -> None:
    cut = Path(shutil.copytree(made / "trials" / "002", tmp_path / "002.partial"))
    start = run_start_ns(cut)
    lines = (cut / "actions.ndjson").read_text().splitlines()
    (cut / "actions.ndjson").write_text("\n".join(lines[:-2]) + '\n{"event": "mil')
    (cut / "manifest.json").unlink()
    (cut / "derived.json").unlink(missing_ok=True)
    (found,) = build(cut).trials
    assert start > 0
    assert found.acted is not None
    assert found.acted.actions[0].how == "cut short"
