"""Claims on synthetic trials whose truth is known."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from made_trials import METRIC, claim, one, trials
from pydantic import ValidationError

from steelyard.errors import InputError

CLIENTS = [{"clients": n} for n in (1, 2, 4, 8, 16, 32)]


def rising(clients: int) -> dict[str, float]:
    return {METRIC: 1e6 * (1 + 0.5 * clients), "ok_per_s": 1000.0 * clients / (1 + 0.05 * (clients - 1))}


RATIO = {
    "kind": "ratio",
    "numerator": {"where": {"heap": 2}},
    "denominator": {"where": {"heap": 1}},
    "direction": "above",
}


@pytest.mark.parametrize(
    ("starts", "answer"),
    [([1] * 6, "inconclusive"), ([1, 2, 3, 4, 5, 6], "confirmed"), ([None] * 6, "confirmed")],
)
@pytest.mark.parametrize("check", [RATIO, {"kind": "trend", "factor": "heap", "direction": "up"}])
def test_clusters_are_compared_over_several_starts_only(
    check: dict[str, Any], starts: list[int | None], answer: str
) -> None:
    frame = trials(lambda heap: {METRIC: 1e6 * heap}, [{"heap": 1}, {"heap": 2}])
    groups = [start and 10 * heap + start for heap in (1, 2) for start in starts]
    found = one(check, frame.with_columns(pl.Series("group", groups, dtype=pl.Int64)), ["heap"])
    assert found.direction == answer
    assert any("shared one start of a cluster" in reason for reason in found.reasons) == (
        answer != "confirmed"
    )


def test_points_on_one_start_are_compared() -> None:
    frame = trials(lambda heap: {METRIC: 1e6 * heap}, [{"heap": 1}, {"heap": 2}])
    assert one(RATIO, frame.with_columns(pl.lit(1).alias("group")), ["heap"]).direction == "confirmed"


@pytest.mark.parametrize(("direction", "answer"), [("up", "confirmed"), ("down", "refuted")])
def test_a_trend_has_a_direction(direction: str, answer: str) -> None:
    found = one(
        {"kind": "trend", "factor": "clients", "direction": direction}, trials(rising, CLIENTS), ["clients"]
    )
    assert found.direction == answer
    assert found.size == "not claimed"
    assert len(found.evidence) == len(CLIENTS)
    assert "clients 32" in found.evidence[-1].what


def test_a_flat_line_decides_no_trend() -> None:
    flat = trials(lambda clients: {METRIC: 1e6 + 0 * clients}, CLIENTS, seed=3)
    check = {"kind": "trend", "factor": "clients", "direction": "up"}
    assert one(check, flat, ["clients"]).direction == "inconclusive"


def test_a_level_without_usable_trials_is_said_in_words() -> None:
    frame = trials(rising, CLIENTS[:2]).with_columns(
        pl.when(pl.col("clients") == 2).then(pl.lit("steal")).alias("tainted")
    )
    found = one({"kind": "trend", "factor": "clients", "direction": "up"}, frame, ["clients"])
    assert found.direction == "inconclusive"
    assert "cannot be computed: no line has trials to go by at two levels" in found.reasons


@pytest.mark.parametrize(
    "check",
    [
        {"kind": "order", "factor": "clients", "groups": [[1], [2]]},
        {"kind": "threshold", "factor": "clients"},
        {"kind": "peak", "factor": "clients"},
        {"kind": "shape", "factor": "clients", "shape": "linear"},
        {
            "kind": "equality",
            "numerator": {"where": {"clients": 1}},
            "denominator": {"where": {"clients": 2}},
        },
        {"kind": "trend", "factor": "clients", "direction": "up"},
    ],
)
@pytest.mark.parametrize("metric", [METRIC, "read_service_p99_ns"])
def test_trials_that_all_failed_leave_every_check_open(check: dict[str, Any], metric: str) -> None:
    frame = trials(lambda clients: {metric: 1.0 * clients}, CLIENTS[:4]).with_columns(
        pl.lit("failed").alias("status")
    )
    found = one(check, frame, ["clients"], metric=metric)
    assert found.direction == "inconclusive"
    assert any(reason.startswith("cannot be computed: ") for reason in found.reasons)
    assert found.evidence == ()


def test_zeros_are_values() -> None:
    frame = trials(lambda clients: {METRIC: 0.0 * clients}, CLIENTS)
    found = one({"kind": "trend", "factor": "clients", "direction": "up"}, frame, ["clients"])
    assert (found.direction, found.reasons) == ("inconclusive", ())
    assert found.words == "slope 0 [0, 0] (log over log), last level over first 1 [1, 1]"


def test_a_trend_over_words_goes_by_their_order() -> None:
    level = {"ONE": 1.0, "QUORUM": 1.3, "ALL": 1.6}
    frame = trials(lambda consistency: {METRIC: level[consistency]}, [{"consistency": c} for c in level])
    check = {"kind": "trend", "factor": "consistency", "levels": ["ONE", "QUORUM", "ALL"], "direction": "up"}
    found = one({**check, "paper": 1.6}, frame, ["consistency"])
    assert (found.direction, found.size) == ("confirmed", "confirmed")
    missing = frame.filter(pl.col("consistency") != "ALL")
    assert "not measured: ALL" in one(check, missing, ["consistency"]).reasons


@pytest.mark.parametrize(
    ("paper", "size"), [(0.4, "confirmed"), (0.5, "confirmed"), (0.2, "refuted"), (0.598, "inconclusive")]
)
def test_a_ratio_is_judged_for_direction_and_size_apart(paper: float, size: str) -> None:
    points = [{"system": s, "clients": n} for s in ("cassandra", "hbase") for n in (1, 4, 16)]
    factor = {"cassandra": 0.4, "hbase": 1.0}
    frame = trials(lambda system, clients: {METRIC: factor[system] * clients}, points, scatter=0.05)
    check = {"kind": "ratio", "numerator": {"where": {"system": "cassandra"}},
             "denominator": {"where": {"system": "hbase"}}, "paper": paper}  # fmt: skip
    found = one(check, frame, ["clients"])
    assert found.direction == "confirmed"
    assert found.estimate is not None
    assert found.estimate.estimate == pytest.approx(0.4, rel=0.05)
    assert "3 matched cells" in found.words
    assert found.size == size
    assert one(check, frame, ["clients"], small=True).size == "not claimed"


def ladder(system: str, target: int) -> dict[str, float]:
    top = 900.0 if system == "hbase" else 2500.0
    reached = min(float(target), top)
    return {METRIC: 0.5 if system == "cassandra" else 1.0 if reached == target else 50.0, "ok_per_s": reached}


SIDES = {"numerator": {"where": {"system": "cassandra"}}, "denominator": {"where": {"system": "hbase"}}}
LADDER = [{"system": s, "target": t} for s in ("cassandra", "hbase") for t in (400, 800, 1600, 3200)]


def test_latencies_are_compared_where_both_reach_the_target() -> None:
    found = one({"kind": "ratio", **SIDES, "direction": "below", "cells": "reached"},
                trials(ladder, LADDER, scatter=0.01), ["target"])  # fmt: skip
    assert found.estimate is not None
    assert found.estimate.estimate == pytest.approx(0.5, rel=0.03)
    assert "2 matched cells" in found.words


@pytest.mark.parametrize(
    ("systems", "least", "reason"),
    [
        (("cassandra", "hbase"), 1000, "no cell in which both sides reach the target within 2 %"),
        (("hbase",), 0, "no cell has both sides"),
    ],
)
def test_a_side_that_a_form_leaves_out_is_not_said_to_miss_its_target(
    systems: tuple[str, ...], least: int, reason: str
) -> None:
    points = [point for point in LADDER if point["system"] in systems and int(str(point["target"])) > least]
    check = {"kind": "ratio", **SIDES, "direction": "below", "cells": "reached"}
    assert one(check, trials(ladder, points), ["target"]).reasons == (reason,)


def test_throughputs_are_compared_at_their_plateaus() -> None:
    check = {"kind": "ratio", **SIDES, "paper": 2.8, "cells": "plateau"}
    found = one(check, trials(ladder, LADDER, scatter=0.01), ["target"], metric="ok_per_s")
    assert found.estimate is not None
    assert found.estimate.estimate == pytest.approx(2500 / 900, rel=0.03)
    assert (found.direction, found.size) == ("confirmed", "confirmed")


def workloads(workload: str) -> dict[str, float]:
    return {"ok_per_s": {"f": 214.0, "e": 267.0, "a": 290.0, "b": 292.0}[workload]}


@pytest.mark.parametrize(
    ("groups", "answer"),
    [
        ([["f"], ["e"], ["a", "b"]], "confirmed"),
        ([["a"], ["f"]], "refuted"),
        ([["a"], ["b"]], "inconclusive"),
    ],
)
def test_an_order_holds_pair_by_pair(groups: list[list[str]], answer: str) -> None:
    frame = trials(workloads, [{"workload": w} for w in "abef"])
    check = {"kind": "order", "factor": "workload", "groups": groups}
    assert one(check, frame, ["workload"], metric="ok_per_s").direction == answer


def test_an_order_of_levels_that_were_not_measured_is_open() -> None:
    frame = trials(workloads, [{"workload": w} for w in "ab"])
    check = {"kind": "order", "factor": "workload", "groups": [["a", "b"], ["f"]]}
    found = one(check, frame, ["workload"], metric="ok_per_s")
    assert found.direction == "inconclusive"
    assert "cannot be computed: no two levels of neighbouring groups were measured" in found.reasons


def test_equality_is_inside_the_margin_not_merely_unproven() -> None:
    sides = {"numerator": {"where": {"workload": "a"}}, "denominator": {"where": {"workload": "b"}}}
    points = [{"workload": w} for w in "abef"]
    check = {"kind": "equality", **sides, "margin": 0.1}
    assert one(check, trials(workloads, points), ["workload"], metric="ok_per_s").direction == "confirmed"
    noisy = trials(workloads, points, scatter=0.3)
    assert one(check, noisy, ["workload"], metric="ok_per_s").direction == "inconclusive"
    apart = {**check, "denominator": {"where": {"workload": "f"}}}
    assert one(apart, trials(workloads, points), ["workload"], metric="ok_per_s").direction == "refuted"


def test_two_metrics_of_the_same_cells_are_a_ratio_too() -> None:
    frame = trials(lambda clients: {METRIC: 3.0 * clients, "update_service_mean_ns": 1.0 * clients}, CLIENTS)
    check = {
        "kind": "ratio",
        "numerator": {},
        "denominator": {"metric": "update_service_mean_ns"},
        "direction": "above",
    }
    found = one(check, frame, ["clients"])
    assert found.direction == "confirmed"
    assert found.estimate is not None
    assert found.estimate.estimate == pytest.approx(3, rel=0.03)


def test_a_threshold_is_a_knee_and_its_plateau() -> None:
    targets = [{"target": t} for t in (2000, 4000, 8000, 12000, 16000, 24000, 32000)]
    flat = trials(lambda target: {"ok_per_s": min(float(target), 12000.0)}, targets, scatter=0.01)
    check = {"kind": "threshold", "factor": "target", "paper": 12000}
    found = one(check, flat, ["target"], metric="ok_per_s")
    assert (found.direction, found.size) == ("confirmed", "confirmed")
    never = trials(lambda target: {"ok_per_s": float(target)}, targets, scatter=0.01)
    assert one(check, never, ["target"], metric="ok_per_s").direction == "refuted"


def test_a_peak_rises_and_falls() -> None:
    level = {1: 100.0, 8: 300.0, 64: 500.0, 512: 350.0, 4096: 200.0}
    frame = trials(lambda clients: {"ok_per_s": level[clients]}, [{"clients": c} for c in level])
    found = one({"kind": "peak", "factor": "clients", "paper": 64}, frame, ["clients"], metric="ok_per_s")
    assert (found.direction, found.size) == ("confirmed", "confirmed")
    monotone = trials(rising, CLIENTS)
    check = {"kind": "peak", "factor": "clients"}
    assert one(check, monotone, ["clients"], metric="ok_per_s").direction == "refuted"


def test_a_shape_is_what_wins() -> None:
    frame = trials(rising, [{"clients": 2**n} for n in range(8)])
    found = one({"kind": "shape", "factor": "clients", "shape": "linear"}, frame, ["clients"])
    assert found.direction == "confirmed", found.words
    other = one({"kind": "shape", "factor": "clients", "shape": "logarithmic"}, frame, ["clients"])
    assert other.direction == "refuted"


def test_a_shape_must_win_and_fit() -> None:
    """A line through a saw wins over a constant, and misses it by more than half."""
    level = {1: 1.0, 2: 6.0, 4: 4.0, 8: 24.0, 16: 16.0, 32: 96.0, 64: 64.0, 128: 384.0}
    frame = trials(lambda clients: {METRIC: level[clients]}, [{"clients": n} for n in level])
    check = {"kind": "shape", "factor": "clients", "shape": "linear", "against": ["constant", "linear"]}
    found = one(check, frame, ["clients"])
    assert found.words.startswith("linear: ")
    assert found.direction == "inconclusive"
    assert one({**check, "largest_miss": 2.0}, frame, ["clients"]).direction == "confirmed"


TREND = {"kind": "trend", "factor": "clients", "direction": "up", "paper": 10.0}


def test_what_speaks_against_judging_makes_it_inconclusive() -> None:
    few = one(TREND, trials(rising, CLIENTS, repetitions=5), ["clients"])
    assert (few.direction, few.size) == ("inconclusive", "inconclusive")
    assert few.reasons[0] == "clients 1 and 5 more: 5 of 6 repetitions needed have read_service_mean_ns"
    assert "slope" in few.words, "the figures are shown all the same"
    frame = trials(rising, CLIENTS)
    unsteady = first_unsteady(frame, 3)
    found = one(TREND, unsteady, ["clients"])
    assert found.direction == "inconclusive"
    assert found.reasons == ("clients 1: 3 of 6 trials: no steady state",)
    assert one(TREND, unsteady, ["clients"], unsteady="it measures start-up").direction == "confirmed"


def first_unsteady(frame: pl.DataFrame, count: int) -> pl.DataFrame:
    """The first trials of a frame without a steady state, all others with one."""
    first = pl.int_range(pl.len()) < count
    return frame.with_columns(
        pl.when(first).then(pl.lit("no steady state")).otherwise(pl.lit("steady")).alias("steady")
    )


def test_as_many_unsteady_trials_as_false_alarms_bring_are_told_and_count() -> None:
    """Each of sixty level runs is called unsteady with up to 5 %: one such word must not undo a study."""
    found = one(TREND, first_unsteady(trials(rising, CLIENTS), 1), ["clients"])
    assert found.direction == "confirmed"
    assert any("no more than false alarms" in words for words in found.left_out), found.left_out


def test_a_disturbed_trial_counts_unless_it_was_run_again() -> None:
    frame = trials(rising, CLIENTS)
    first = pl.int_range(pl.len()) == 0
    disturbed = frame.filter(first).with_columns(pl.lit("steal: 4 %").alias("tainted"))
    both = pl.concat([frame, disturbed], how="diagonal_relaxed")
    assert one(TREND, both, ["clients"]).direction == "confirmed"
    instead = pl.concat([frame.filter(~first), disturbed], how="diagonal_relaxed")
    found = one(TREND, instead, ["clients"])
    assert found.direction == "inconclusive"
    assert found.left_out == ("clients 1: 1 of 6 trials do not count: disturbed by steal (4 %)",)
    assert found.reasons == ("clients 1: 5 of 6 repetitions needed have read_service_mean_ns",)


def test_percentiles_of_few_runs_go_by_their_extremes() -> None:
    points = [{"system": "a"}, {"system": "b"}]
    frame = trials(lambda system: {"read_service_p99_ns": 1.0 if system == "a" else 2.0}, points)
    sides = {"numerator": {"where": {"system": "b"}}, "denominator": {"where": {"system": "a"}}}
    found = one({"kind": "ratio", **sides, "direction": "above"}, frame, [], metric="read_service_p99_ns")
    assert found.direction == "confirmed"
    values = {s: frame.filter(pl.col("system") == s)["read_service_p99_ns"] for s in "ab"}
    assert found.estimate is not None
    assert found.estimate.low == pytest.approx(values["b"].min() / values["a"].max())  # type: ignore[operator]


@pytest.mark.parametrize(
    ("check", "metric", "told"),
    [(TREND, "read_service_maen_ns", r"did you mean 'read_service_mean_ns'\?"),
     ({**TREND, "factor": "client"}, METRIC, r"did you mean 'clients'\?")],
)  # fmt: skip
def test_unknown_names_are_told_with_the_nearest(check: dict[str, Any], metric: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        one(check, trials(rising, CLIENTS), ["clients"], metric=metric)


def test_nothing_measured_is_inconclusive() -> None:
    found = one(TREND, trials(rising, CLIENTS[:1]), ["clients"])
    assert (found.direction, found.size) == ("inconclusive", "inconclusive")
    assert found.reasons == ("fewer than two levels of clients were measured",)


def test_a_ratio_needs_a_direction_or_a_figure() -> None:
    with pytest.raises(ValidationError, match="say the direction"):
        claim({"kind": "ratio", "numerator": {}, "denominator": {}})
