"""Warm-up left out: the figures of the rest are those of a phase that began there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from made import maker

from steelyard.analysis.steady import Steady
from steelyard.report import assessment
from steelyard.report.cut import warm_up_s, without_warm_up
from steelyard.report.figures import trial_frame
from steelyard.report.model import build

samples = maker("make_results")

CUT = 5


def steady(reached: bool | None, warm_up: float) -> Steady:
    return Steady("throughput", 100, too_short=reached is None, reached=reached, warm_up_s=warm_up)


def run(folder: Path, warmup: str) -> Path:
    made = Path(
        samples.make(folder, samples.Sample(seconds=12, load_seconds=2, pause_second=2, target=False))
    )
    said = json.loads((made / "run.json").read_text())
    (made / "run.json").write_text(json.dumps(said | {"design": {"warmup": warmup}}))
    return made


def test_nothing_is_cut_unless_asked_for_and_found(tmp_path: Path) -> None:
    phase = build(run(tmp_path, "fixed")).trials[0].measured.phase  # type: ignore[union-attr]
    cut = {"warmup": "cut"}
    assert warm_up_s(phase, steady(True, 5.0), cut) == 5.0
    assert warm_up_s(phase, steady(True, 2.5), cut) == 3.0
    assert warm_up_s(phase, steady(True, 11.5), cut) == 0.0, "nothing would be left"
    assert warm_up_s(phase, steady(True, 5.0), {"warmup": "fixed"}) == 0.0
    assert warm_up_s(phase, steady(False, 0.0), cut) == 0.0
    assert warm_up_s(phase, steady(None, 0.0), cut) == 0.0
    assert warm_up_s(phase, None, cut) == 0.0


def test_the_rest_is_what_was_due_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pause of second 2, with its failures, is warm-up here."""
    monkeypatch.setattr(assessment, "steadiness", lambda *_: steady(True, float(CUT)))
    whole = build(run(tmp_path / "whole", "fixed"))
    rest = build(run(tmp_path / "rest", "cut"))
    before, after = whole.trials[0].measured.phase, rest.trials[0].measured.phase  # type: ignore[union-attr]
    assert (rest.trials[0].cut_s, after.seconds) == (CUT, 12 - CUT)
    assert after.start_ns - before.start_ns == CUT * 10**9
    rows = rest.trials[0].intervals
    kept = rows.filter((rows["phase"] == "run") & (rows["op"] == "TOTAL") & (rows["second"] >= CUT))
    assert (after.total.ok, after.total.failed) == (kept["ok"].sum(), 0)
    assert before.total.failed > 0
    assert after.ok_per_s == pytest.approx(kept["ok"].sum() / (12 - CUT))
    assert after.operations[0].response.count == rows.filter(
        (rows["phase"] == "run") & (rows["op"] == "READ") & (rows["second"] >= CUT)
    )["count"].sum()  # fmt: skip
    assert after.operations[0].response.max_ns < before.operations[0].response.max_ns  # type: ignore[operator]
    frame = trial_frame(tmp_path / "rest" / "sample", rest)
    assert frame["ok_per_s"][0] == pytest.approx(after.ok_per_s)
    assert frame["read_service_p99_ns"][0] == after.operations[0].service.p99_ns
    assert frame["total_service_mean_ns"][0] == after.total.service.mean_ns


def test_a_cut_within_a_second_leaves_the_rate_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are whole seconds: a cut at 2.5 s that left out three of them read 93 of 100 a second."""
    made = Path(
        samples.make(
            tmp_path,
            samples.Sample(seconds=12, load_seconds=2, pause_second=None, target=False, rate=100, timeouts=0),
        )
    )
    said = json.loads((made / "run.json").read_text())
    (made / "run.json").write_text(json.dumps(said | {"design": {"warmup": "cut"}}))
    monkeypatch.setattr(assessment, "steadiness", lambda *_: steady(True, 2.5))
    [trial] = build(made).trials
    rows = trial.intervals
    kept = rows.filter((rows["phase"] == "run") & (rows["op"] == "TOTAL") & (rows["second"] >= 3))
    assert trial.measured is not None
    assert trial.measured.phase.seconds == 9
    assert trial.measured.phase.ok_per_s == pytest.approx(kept["ok"].sum() / 9)


def test_the_rest_is_of_the_window_in_which_operations_were_offered(tmp_path: Path) -> None:
    """A straggler that is answered 5 s after the last second takes nothing from the rate of what is left."""
    made = run(tmp_path, "fixed")
    [trial] = build(made).trials
    assert trial.measured is not None
    phase = replace(trial.measured.phase, seconds=11.0, ok_within=1)
    rest, _ = without_warm_up(trial.source, trial.intervals, phase, float(CUT))
    rows = trial.intervals
    kept = rows.filter(
        (rows["phase"] == "run") & (rows["op"] == "TOTAL") & rows["second"].is_between(CUT, 10)
    )
    assert rest.ok_per_s == pytest.approx(kept["ok"].sum() / (11 - CUT))
    assert rest.total.rate_per_s == pytest.approx(kept["done"].sum() / (11 - CUT))
