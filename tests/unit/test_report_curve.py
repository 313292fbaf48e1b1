"""What a report says of a run along a curve, of its marks, and of an audit after it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from steelyard.report import tables
from steelyard.report.charts import charts_of
from steelyard.report.html import render_html
from steelyard.report.markdown import render_markdown
from steelyard.report.model import ReportModel, build
from steelyard.report.text import render_text

SAMPLE = Path(__file__).parents[1] / "data" / "results" / "sample"
CURVE = [[0, 500], [10, 1500]]
AUDIT = {
    "records": 2000, "unread": 1, "lost": 2, "fields_lost": 3, "stale": 4,
    "examples": [
        {"key": "user7", "fault": "lost"},
        {"key": "user9", "fault": "stale", "field": 3, "found": 17, "acknowledged": 90},
    ],
}  # fmt: skip


@pytest.fixture
def model(tmp_path: Path) -> ReportModel:
    """The sample, as if its run had gone along a curve, been marked, and been audited."""
    folder = tmp_path / "run"
    shutil.copytree(SAMPLE, folder)
    path = folder / "trials" / "001" / "manifest.json"
    manifest: dict[str, Any] = json.loads(path.read_text())
    run = next(p for p in manifest["phases"] if p["name"] == "run")
    run["summary"]["arrivals"] = {"kind": "constant", "rate": CURVE}
    end_ns = run["summary"]["end_ns"]
    empty = {"phase": "audit", "kind": "audit", "seconds": 1.0, "start_ns": end_ns, "end_ns": end_ns + 10**9}
    manifest["phases"].append({**run, "name": "audit", "summary": {**empty, "audit": AUDIT}})
    manifest["trial"]["load"] |= {"curve": CURVE, "target": None}
    mark_ns = run["summary"]["start_ns"] + 2 * 10**9
    manifest["timeline"].append({"t_ns": mark_ns, "event": "mark", "detail": "a step"})
    path.write_text(json.dumps(manifest))
    (path.parent / "derived.json").unlink(missing_ok=True)
    return build(folder)


def test_the_text_tells_the_curve_and_what_the_audit_found(model: ReportModel) -> None:
    text = " ".join(render_text(model).split())
    assert "a curve of 500/s at 0 s, 1,500/s at 10 s, constant arrivals" in text
    assert "Acknowledged writes read back" in text
    assert "audit 2,000 1 2 3 4" in text
    assert "user7 (lost); user9 field 3 (stale: write 17 found, write 90 acknowledged)" in text
    arrivals = {row[0]: row[2] for row in tables.phases(model.trials[0]).rows}
    assert arrivals["run"].startswith("constant, curve, mean ")


def test_nothing_is_said_of_steadiness_where_the_rate_is_meant_to_change(model: ReportModel) -> None:
    measured = model.trials[0].measured
    assert measured is not None
    assert measured.phase.curve
    assert measured.steady is None
    before = build(SAMPLE).trials[0].measured
    assert before is not None
    assert before.steady is not None


def test_claims_may_ask_what_the_audit_found(model: ReportModel) -> None:
    figures = model.trials[0].figures
    names = ("records", "lost", "stale", "unread", "missing")
    assert [figures[f"audit_{name}"] for name in names] == [2000.0, 2.0, 4.0, 1.0, 3.0]
    assert figures["audit_wrong"] == 9.0, "lost records, lost fields and older ones"
    assert "audit_lost" not in build(SAMPLE).trials[0].figures, "nothing was read back there"


def test_the_audit_is_in_the_other_formats(model: ReportModel) -> None:
    for text in (render_markdown(model, None), render_html(model, None)):
        assert "Acknowledged writes read back" in text
        assert "/s offered on average" in text


def test_marks_are_rules_in_the_charts_of_the_run(model: ReportModel) -> None:
    charts = {chart.key: chart.spec for chart in charts_of(model.trials[0])}
    expected = {"x": 2.0, "event": "mark: a step"}
    assert expected in charts["run-throughput"]["datasets"]["events"]
    assert expected in charts["run-latency-read"]["datasets"]["events"]
    assert expected not in charts["load-throughput"]["datasets"].get("events", [])
