"""What may decide a claim, and what may not: losses that were run again, cells that contradict each other,
curves that turn, what a verdict undone takes with it."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from made_trials import METRIC, claim, one, trials

from steelyard.analysis.claims import judge
from steelyard.analysis.claims.why import bear_out

SIDES = {"numerator": {"where": {"system": "b"}}, "denominator": {"where": {"system": "a"}}}
ABOVE = {"kind": "ratio", **SIDES, "direction": "above"}
EQUAL = {"kind": "equality", **SIDES, "margin": 0.1}
SYSTEMS = [{"system": s} for s in "ab"]
MATCHED = [{"system": s, "line": n} for s in "ab" for n in range(3)]
FAILED = {"status": "failed", "reason": "no route to host", "tainted": None}


def twice(system: str, **_: Any) -> dict[str, float]:
    return {METRIC: 2.0 if system == "b" else 1.0}


def along(*levels: float, lines: int = 1, scatter: float = 0.01) -> pl.DataFrame:
    """Throughput over 1, 2, 4 ... clients, alike on every line."""
    points = [{"line": n, "clients": 2**place} for n in range(lines) for place in range(len(levels))]
    return trials(
        lambda clients, **_: {"ok_per_s": levels[clients.bit_length() - 1]}, points, scatter=scatter
    )


# steady states of matched cells ----------------------------------------------------------------------------


def test_both_sides_of_matched_cells_are_asked_for_a_steady_state() -> None:
    """Two unsteady trials of each numerator and one of each denominator may be false alarms; nine are not."""
    frame = trials(twice, MATCHED)
    bad = pl.col("repetition") <= pl.when(pl.col("system") == "b").then(2).otherwise(1)
    states = pl.when(bad).then(pl.lit("no steady state")).otherwise(pl.col("steady"))
    found = one(ABOVE, frame.with_columns(states.alias("steady")), ["line"])
    assert found.direction == "inconclusive"
    assert found.reasons == ("9 of 36 trials: no steady state",)


# what the system failed at first ---------------------------------------------------------------------------


def again(*earlier: dict[str, Any] | None) -> pl.DataFrame:
    """Six trials of each system, of which those of b had these attempts before."""
    frame = trials(twice, SYSTEMS)
    rows = [
        {**row, "earlier": [attempt] if attempt else None}
        for row, attempt in zip(frame.to_dicts(), [None] * 6 + [*earlier], strict=True)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def test_a_failure_through_the_system_that_was_run_again_counts_as_one() -> None:
    found = one(ABOVE, again(*[FAILED] * 3, *[None] * 3), [])
    assert found.direction == "inconclusive"
    assert not found.curable
    (reason,) = found.reasons
    assert reason.startswith("system b: 3 of 6 trials were run again: failed (no route to host)")


@pytest.mark.parametrize(
    "attempt",
    [
        {**FAILED, "tainted": "steal: 5 %"},
        {"status": "done", "reason": None, "tainted": "steal: 5 %"},
        {"status": "interrupted", "reason": None, "tainted": None},
        {"status": None, "reason": None, "tainted": None},
    ],
)
def test_attempts_that_say_nothing_of_the_system_do_not(attempt: dict[str, Any]) -> None:
    assert one(ABOVE, again(*[attempt] * 6), []).direction == "confirmed"


def test_each_kind_of_disturbance_is_told_for_itself() -> None:
    steal = {"status": "done", "reason": None, "tainted": "steal: 5 %. Repeat it at another time."}
    crowded = {**steal, "tainted": "crowded: 1.59 of 2 cores"}
    left_out = one(ABOVE, again(steal, crowded, steal, None, None, None), []).left_out
    assert any("2 of 6 trials were run again: disturbed by steal (5 %)" in said for said in left_out)
    assert any(
        "1 of 6 trials were run again: disturbed by crowded (1.59 of 2 cores)" in said for said in left_out
    )


def test_a_repetition_that_went_well_later_does_not_hide_one_that_failed() -> None:
    frame = trials(twice, SYSTEMS)
    lost = frame.filter(pl.col("trial") == 12).with_columns(pl.lit("failed").alias("status"), trial=13)
    found = one(ABOVE, pl.concat([frame, lost.select(frame.columns)], how="vertical_relaxed"), [])
    assert found.direction == "inconclusive"


# equality --------------------------------------------------------------------------------------------------


def ratios(**of: float) -> pl.DataFrame:
    """b over a, by line."""
    points = [{"system": s, "line": line} for s in "ab" for line in of]
    return trials(lambda system, line: {METRIC: of[line] if system == "b" else 1.0}, points, scatter=0.002)


def test_cells_beyond_the_margin_on_either_side_refute_an_equality() -> None:
    found = one(EQUAL, ratios(x=2.0, y=0.5), ["line"])
    assert found.direction == "refuted", found.words
    assert found.chance is not None
    assert found.chance < 0.05
    assert found.estimate is None
    assert "contradict each other" in found.words


def test_cells_that_are_each_within_the_margin_confirm_an_equality() -> None:
    found = one(EQUAL, ratios(x=1.02, y=0.98), ["line"])
    assert found.direction == "confirmed", found.words
    assert one({**EQUAL, "margin": 0.0205}, ratios(x=1.02, y=0.98), ["line"]).direction == "inconclusive"


def test_an_equality_of_cells_that_agree_tells_their_ratio() -> None:
    found = one(EQUAL, ratios(x=1.02, y=1.02), ["line"])
    assert found.direction == "confirmed", found.words
    assert found.estimate is not None
    assert found.estimate.estimate == pytest.approx(1.02, rel=0.01)


# thresholds ------------------------------------------------------------------------------------------------

THRESHOLD = {"kind": "threshold", "factor": "clients"}


def test_a_fall_to_a_plateau_is_no_threshold() -> None:
    rises = one(THRESHOLD, along(100, 200, 400, 800, 800, 800), ["clients"], metric="ok_per_s")
    assert rises.direction == "confirmed", rises.words
    falls = one(THRESHOLD, along(900, 800, 600, 200, 200, 200), ["clients"], metric="ok_per_s")
    assert falls.direction == "refuted", falls.words


# trends ----------------------------------------------------------------------------------------------------

UP = {"kind": "trend", "factor": "clients", "direction": "up"}


def test_a_curve_that_turns_goes_no_one_way() -> None:
    found = one(UP, along(100, 300, 500, 520, 430), ["clients"], metric="ok_per_s")
    assert found.direction == "inconclusive"
    assert "clients 8 to 16 goes the other way" in found.words
    levels = one(UP, along(100, 300, 500, 520, 520), ["clients"], metric="ok_per_s")
    assert levels.direction == "confirmed", levels.words
    assert one({**UP, "direction": "down"}, along(100, 300, 500, 520, 430), ["clients"],
               metric="ok_per_s").direction == "refuted"  # fmt: skip


def test_lines_that_turn_are_none_of_most() -> None:
    turning = along(100, 300, 500, 520, 430, lines=5)
    most = {**UP, "most": True}
    assert one(most, turning, ["line", "clients"], metric="ok_per_s").direction == "inconclusive"
    rising = along(100, 300, 500, 520, 560, lines=5)
    assert one(most, rising, ["line", "clients"], metric="ok_per_s").direction == "confirmed"


# what a verdict that is undone takes with it ---------------------------------------------------------------


def test_sources_have_no_verdict_that_the_claim_lost() -> None:
    """Alone the ratio is told apart; among many claims it is not."""
    frame = trials(lambda system: {METRIC: 1.06 if system == "b" else 1.0}, SYSTEMS, seed=3)
    papers = {"A": 1.05, "B": 0.9}
    asked = claim({**ABOVE, "paper": 1.05, "papers": papers})
    (alone,) = judge([asked], frame, [])
    assert alone.chance is not None
    assert 0.001 < alone.chance < 0.05
    assert [s.direction for s in alone.sources] == ["confirmed", "refuted"]
    others = [claim({"kind": "value", "unit": "ns", "below": 1.005 + n / 1e3}, id=f"V{n}") for n in range(60)]
    found = judge([asked, *others], frame, [])[0]
    assert found.direction == "inconclusive"
    assert [s.direction for s in found.sources] == ["inconclusive"] * 2
    assert (found.size, [s.size for s in found.sources]) == (alone.size, [s.size for s in alone.sources])


def test_sources_of_a_range_that_is_not_covered_are_not_judged() -> None:
    frame = along(100, 200, 400)
    check = {**UP, "paper": 4, "papers": {"A": 4, "B": 0.5}}
    found = one(check, frame, ["clients"], metric="ok_per_s", covers=[1, 64])
    assert (found.direction, found.size) == ("range not covered",) * 2
    assert {(s.direction, s.size) for s in found.sources} == {("range not covered",) * 2}
    small = one(check, frame, ["clients"], small=True, metric="ok_per_s", covers=[1, 64])
    assert {(s.direction, s.size) for s in small.sources} == {("range not covered", "not claimed")}


# reasons ---------------------------------------------------------------------------------------------------

WHY = {"reason": "it works more", "metric": "server_cpu_us", "expect": "up"}


def borne(check: dict[str, Any], frame: pl.DataFrame, factors: list[str], **more: Any) -> Any:
    (found,) = bear_out(claim(check, why=[WHY], **more), frame, factors)
    return found


def test_a_reason_is_judged_over_the_cells_that_reach_the_target() -> None:
    """Where both reach it b works twice as hard; past that, where latency is not compared, half as much."""
    points = [{"system": s, "target": t} for s in "ab" for t in (100, 200, 400)]

    def law(system: str, target: int) -> dict[str, float]:
        reached = target < 400
        more = (2.0 if reached else 0.1) if system == "b" else 1.0
        return {METRIC: more, "server_cpu_us": more, "ok_per_s": target if reached else 250.0}

    frame = trials(law, points, scatter=0.001)
    found = borne({**ABOVE, "cells": "reached"}, frame, ["target"])
    assert found.direction == "confirmed", found.words
    assert "2 matched cells" in found.words


def test_a_reason_of_pairs_is_judged_in_pairs() -> None:
    def law(system: str) -> dict[str, float]:
        more = 1.05 if system == "b" else 1.0
        return {METRIC: more, "server_cpu_us": more}

    frame = trials(law, SYSTEMS, 8, scatter=0.005)
    frame = frame.with_columns(pl.col("server_cpu_us") * 2.0 ** pl.col("repetition"))
    assert borne({**ABOVE, "paired": True}, frame, []).direction == "confirmed"
    assert borne({**EQUAL, "paired": True}, frame, []).direction == "confirmed"


def test_a_reason_of_most_lines_is_counted() -> None:
    points = [{"line": n, "clients": c} for n in range(9) for c in (1, 2, 4)]

    def law(line: int, clients: int) -> dict[str, float]:
        law = clients ** (-1.0 if line == 0 else 1.0)
        return {METRIC: law, "server_cpu_us": law}

    found = borne({**UP, "most": True}, trials(law, points), ["line", "clients"])
    assert found.direction == "confirmed", found.words
    assert "8 of 9 lines" in found.words
