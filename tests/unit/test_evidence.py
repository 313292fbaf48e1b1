"""The one way from trials to figures: what counts, which units there are, how figures are put together."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import stats_sources as sources
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_stats_claims import CLIENTS, METRIC, RATIO, TREND, claim, one, rising, trials

from steelyard.analysis.claims import judge
from steelyard.analysis.evidence import Cell, Sample, Trials, lost, versus
from steelyard.analysis.evidence.cells import Counts
from steelyard.analysis.stats import percentiles as pc
from steelyard.analysis.stats.runs import Contrast, Runs
from steelyard.spec.levels import level_text

DONE: dict[str, Any] = {"status": "done", "tainted": None}
P99 = "read_service_p99_ns"


@pytest.mark.parametrize(
    ("row", "kind", "by"),
    [
        ({}, None, None),
        ({"status": "failed", "reason": "no route to host"}, "failed", "system"),
        ({"server_died": "node1: killed by signal 9"}, "a server died", "system"),
        ({"status": "failed", "server_died": "node1"}, "a server died", "system"),
        ({"wrong_values": 3.0}, "corrupt values", "system"),
        ({"wrong_values": 0.0, "saturated_share": 0.005}, None, None),
        ({"saturated_share": 0.2}, "the client was saturated", "client"),
        ({"tainted": "steal: 4 %"}, "disturbed by steal", "outside"),
        ({"status": "failed", "tainted": "steal: 4 %"}, "disturbed by steal", "outside"),
        ({"status": "planned"}, "not run", "outside"),
        ({"status": "interrupted"}, "interrupted", "outside"),
    ],
)
def test_a_trial_counts_or_it_is_said_why_not(row: dict[str, Any], kind: str | None, by: str | None) -> None:
    found = lost(DONE | row)
    assert (found and found.kind, found and found.by) == (kind, by)


TWO = {"kind": "ratio", "numerator": {"where": {"system": "b"}}, "denominator": {"where": {"system": "a"}},
       "direction": "above"}  # fmt: skip
SIDES = [{"system": "a"}, {"system": "b"}]


def two(factor: float, metric: str = METRIC, repetitions: int = 12, scatter: float = 0.03) -> pl.DataFrame:
    return trials(
        lambda system: {metric: 1e6 * (factor if system == "b" else 1)}, SIDES, repetitions, scatter
    )


@pytest.mark.parametrize("loss", ["failed", "server died", "corrupt"])
def test_a_side_that_lost_trials_itself_is_not_judged_by_the_others(loss: str) -> None:
    frame = two(2.0)
    hit = (pl.col("system") == "b") & (pl.col("repetition") <= 6)
    column, value = {
        "failed": ("status", "failed"), "server died": ("server_died", "node1: signal 9"),
        "corrupt": ("wrong_values", 5.0),
    }[loss]  # fmt: skip
    before = pl.col(column) if column in frame.columns else pl.lit(None)
    found = one(TWO, frame.with_columns(pl.when(hit).then(pl.lit(value)).otherwise(before).alias(column)), [])
    assert found.direction == "inconclusive"
    assert "6 of 12 trials do not count" in found.reasons[0]


def test_what_came_from_outside_is_named_and_the_rest_decides() -> None:
    hit = (pl.col("system") == "b") & (pl.col("repetition") <= 2)
    tainted = two(2.0).with_columns(pl.when(hit).then(pl.lit("steal: 4 %")).alias("tainted"))
    found = one(TWO, tainted, [])
    assert (found.direction, found.reasons) == ("confirmed", ())
    assert found.left_out == ("system b: 2 of 12 trials do not count: disturbed by steal (4 %)",)
    saturated = two(2.0).with_columns(pl.when(hit).then(0.4).alias("saturated_share"))
    assert "the client was saturated (in 40 % of the time)" in one(TWO, saturated, []).left_out[0]


def test_percentiles_are_told_apart_by_starts_and_not_by_runs() -> None:
    """Two starts of three runs a side: the runs do not overlap, and two starts decide nothing."""
    frame = two(1.11, P99, repetitions=6, scatter=0.01).with_columns(
        (pl.col("system").rank("dense") * 10 + (pl.col("repetition") - 1) // 3).alias("group")
    )
    found = one(TWO, frame, [], metric=P99)
    assert found.direction == "inconclusive"
    assert any("2 of 6 starts needed" in reason for reason in found.reasons)
    assert found.estimate is not None
    assert found.estimate.high == np.inf
    assert found.estimate.count == 2


def test_a_unit_has_the_percentile_of_its_merged_histograms() -> None:
    rng = np.random.default_rng(3)
    drawn = [sources.histogram(rng) for _ in range(6)]
    sample = Sample(P99, Runs([1.0] * 6, [1, 1, 2, 2, 3, 3]), pc.merged(drawn, [1, 1, 2, 2, 3, 3]), 0.99)
    for place, value in enumerate(sample.units):
        both = np.concatenate([values for values, _ in drawn[2 * place : 2 * place + 2]])
        assert value == pytest.approx(np.quantile(both, 0.99, method="inverted_cdf"), rel=0.006)
    assert sample.way == "ordered"


@pytest.mark.parametrize("count", [9, 10])
def test_percentiles_are_merged_from_ten_units_on_and_never_averaged(count: int) -> None:
    rng = np.random.default_rng(4)
    drawn = {n: sources.histogram(rng) for n in range(1, 2 * count + 1)}

    def histograms(number: int, _phase: str, tag: str) -> Counts:
        assert tag == "READ.service"
        return drawn[number]

    frame = two(1.0, P99, count).with_columns(pl.int_range(1, pl.len() + 1).alias("trial"))
    [cell, _] = Trials(frame, (), histograms).cells().values()
    sample = cell.sample(P99)
    assert sample is not None
    assert sample.way == ("merged" if count == 10 else "ordered")
    if count == 10:
        together = np.concatenate([drawn[n][0] for n in range(1, 11)])
        truth = np.quantile(together, 0.99, method="inverted_cdf")
        assert sample.interval.estimate == pytest.approx(truth, rel=0.006)
        [verdict] = judge([claim(TWO, P99)], frame, [], histograms=histograms)
        assert {one.way for one in verdict.evidence} == {"merged", ""}


def test_a_percentile_without_histograms_is_an_order_statistic_however_many_runs() -> None:
    values = [1.0] * 11 + [1000.0]
    assert Sample(P99, Runs(values)).interval.estimate == 1
    assert Sample("sstables_per_read_p99", Runs(values)).way == "ordered"


@pytest.mark.parametrize("kind", ["trend", "peak", "shape"])
def test_curves_of_percentiles_do_not_average_them(kind: str) -> None:
    """One run of six stalls at the last level: a mean of percentiles rises tenfold, the median does not."""
    frame = trials(lambda clients: {P99: 1e6 + 0 * clients}, CLIENTS, scatter=0.001)
    stalled = (pl.col("clients") == 32) & (pl.col("repetition") == 1)
    frame = frame.with_columns(pl.when(stalled).then(1e12).otherwise(pl.col(P99)).alias(P99))
    checks: dict[str, dict[str, Any]] = {
        "trend": {"direction": "up"},
        "peak": {},
        "shape": {"shape": "constant", "against": ["constant", "linear"]},
    }
    check = {"kind": kind, **checks[kind]}
    found = one({"factor": "clients", **check}, frame, ["clients"], metric=P99)
    assert found.direction == ("confirmed" if kind == "shape" else "inconclusive"), found.words


def test_a_trend_of_percentiles_is_found_by_ranks() -> None:
    frame = trials(lambda clients: {P99: 1e6 * clients}, CLIENTS)
    found = one({"kind": "trend", "factor": "clients", "direction": "up"}, frame, ["clients"], metric=P99)
    assert found.direction == "confirmed"
    assert found.words.startswith("slope 0.997 [0.99, 1.01]")


@pytest.mark.parametrize("metric", ["audit_lost", "audit_fields_lost", "audit_stale", "audit_wrong"])
def test_records_that_could_not_be_read_may_be_lost(metric: str) -> None:
    check = {"kind": "value", "below": 1}
    frame = trials(lambda: {metric: 0.0}, [{}], repetitions=8).with_columns(pl.lit(0.0).alias("audit_unread"))
    assert one(check, frame, [], metric=metric).direction == "confirmed"
    frame = frame.with_columns(
        pl.when(pl.col("repetition") == 3).then(900.0).otherwise(0.0).alias("audit_unread")
    )
    found = one(check, frame, [], metric=metric)
    assert found.direction == "inconclusive"
    assert "1 of 8 trials: records could not be read back, and may be lost" in found.reasons[0]
    assert one(check, frame, [], metric="audit_unread").direction == "inconclusive"


def test_zeros_stay_in_a_ratio() -> None:
    """Nothing failed in half the trials of B: their ratio is not that of the other half."""
    half = two(3.0, "requests_waiting").with_columns(
        pl.when((pl.col("system") == "b") & (pl.col("repetition") > 6)).then(0.0)
        .otherwise(pl.col("requests_waiting")).alias("requests_waiting")
    )  # fmt: skip
    found = one(TWO, half, [], metric="requests_waiting")
    assert found.direction == "inconclusive"
    assert found.estimate is not None
    assert (found.estimate.low, found.estimate.count) == (0, 12)
    none = two(3.0, "requests_waiting").with_columns(
        pl.when(pl.col("system") == "a")
        .then(0.0)
        .otherwise(pl.col("requests_waiting"))
        .alias("requests_waiting")
    )
    assert one(TWO, none, [], metric="requests_waiting").direction == "confirmed"


@pytest.mark.parametrize("where", [1, 1.0, True])
def test_levels_are_compared_by_value(where: float) -> None:
    frame = trials(lambda share: {METRIC: 1e6 * float(share)}, [{"share": s} for s in (0.8, 1, 1.5)])
    frame = frame.with_columns(pl.col("share").cast(pl.Float64))
    sides = {"numerator": {"where": {"share": 1.5}}, "denominator": {"where": {"share": where}}}
    found = one({"kind": "ratio", **sides, "direction": "above"}, frame, ["share"])
    assert found.direction == ("inconclusive" if where is True else "confirmed")


def test_levels_as_text() -> None:
    same = [1, 1.0, "1"]
    assert {level_text(level) for level in same} == {"1"}
    assert level_text(0.8) == "0.8"
    assert level_text("4.10") != level_text(4.1)
    assert level_text(True) == "true"


def test_a_target_of_max_is_never_reached() -> None:
    points = [{"system": s, "target": t} for s in "ab" for t in ("1000", "max")]
    frame = trials(
        lambda system, **_: {METRIC: 1e6 * (2 if system == "b" else 1), "ok_per_s": 1000.0}, points
    )
    found = one({**TWO, "cells": "reached"}, frame, ["target"])
    assert found.direction == "confirmed"
    assert "1 matched cell" in found.words


def test_contradicting_lines_are_shown_and_not_pooled() -> None:
    points = [{"workload": w, "clients": n} for w in "ab" for n in (1, 2, 4, 8)]
    up_and_down = trials(
        lambda workload, clients: {METRIC: 1e6 * (clients**2 if workload == "a" else 1 / clients)}, points
    )
    found = one(
        {"kind": "trend", "factor": "clients", "direction": "up"}, up_and_down, ["workload", "clients"]
    )
    assert found.direction == "inconclusive"
    assert "contradict each other: up at workload a, down at workload b" in found.words
    sides = {"numerator": {"where": {"clients": 8}}, "denominator": {"where": {"clients": 1}}}
    ratio = one({"kind": "ratio", **sides, "direction": "above"}, up_and_down, ["workload", "clients"])
    assert ratio.direction == "inconclusive"
    assert "down at workload b" in ratio.words


def test_all_claims_share_one_error_rate() -> None:
    """A difference that is significant alone (p of some percent) is none among ten claims."""
    rng = np.random.default_rng(5)
    frame = two(1.0, repetitions=6)
    columns = {f"m{n}": pl.Series(f"m{n}", np.exp(rng.normal(0, 0.05, 12))) for n in range(9)}
    values = np.exp(np.tile([-0.05, 0.05, -0.02, 0.02, 0.0, 0.01], 2) + np.repeat([0.0, 0.06], 6))
    frame = frame.with_columns(pl.Series(METRIC, values), *columns.values())
    alone = judge([claim(TWO, METRIC)], frame, [])
    assert alone[0].direction == "confirmed"
    assert alone[0].chance is not None
    assert 0.005 < alone[0].chance < 0.05
    family = judge([claim(TWO, METRIC), *(claim(TWO, name) for name in columns)], frame, [])
    assert family[0].direction == "inconclusive"
    assert "10 claims share one error rate" in family[0].reasons[-1]
    assert family[0].estimate == alone[0].estimate


FRAME = trials(rising, CLIENTS)
SIX = trials(lambda heap: {METRIC: 1e6 * heap, P99: 2e6 * heap}, [{"heap": 1}, {"heap": 2}])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False))
def test_the_order_of_trials_changes_no_verdict(random: Any) -> None:
    for check, frame, factor in ((TREND, FRAME, "clients"), (RATIO, SIX, "heap")):
        order = list(range(frame.height))
        random.shuffle(order)
        there, back = one(check, frame, [factor]), one(check, frame[order], [factor])
        assert (there.direction, there.size) == (back.direction, back.size)
        assert there.estimate is not None
        assert back.estimate is not None
        assert back.estimate.low == pytest.approx(there.estimate.low)


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from([METRIC, P99]), st.floats(0, 1e12), st.sampled_from(["steal: 9 %", "crowded: a build"])
)
def test_one_more_disturbed_trial_changes_no_verdict(metric: str, value: float, why: str) -> None:
    more = SIX[:1].with_columns(
        pl.lit(value).alias(metric), pl.lit(why).alias("tainted"), pl.lit(7, pl.Int64).alias("repetition")
    )
    plain = one(RATIO, SIX, ["heap"], metric=metric)
    both = one(RATIO, pl.concat([SIX, more], how="diagonal_relaxed"), ["heap"], metric=metric)
    assert (both.direction, both.reasons, both.estimate) == (plain.direction, plain.reasons, plain.estimate)
    assert both.left_out


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 1999), max_size=5))
def test_a_split_log_changes_nothing(places: list[int]) -> None:
    """A histogram in parts, as a log of seconds or several engines have it, is the same histogram."""
    values, counts = sources.histogram(np.random.default_rng(6))
    whole = pc.merged([(values, counts)])
    parts = list(zip(np.split(values, sorted(places)), np.split(counts, sorted(places)), strict=True))
    split = pc.merged([part for part in parts if part[0].size])
    assert split.quantile(0.99) == pytest.approx(whole.quantile(0.99))


def test_what_two_samples_are_told_apart_by() -> None:
    few, ten = Sample(METRIC, Runs([1.0, 2.0])), Sample(METRIC, Runs([1.0] * 5 + [2.0] * 5))
    assert isinstance(versus(few, ten), Contrast)
    assert isinstance(versus(few, Sample(METRIC, Runs([0.0, 1.0]))), pc.Extremes)
    assert isinstance(versus(Sample(P99, few.runs), Sample(P99, ten.runs)), pc.Extremes)
    assert Cell((), ()).sample(METRIC) is None


def test_no_interval_goes_where_its_figure_cannot_be() -> None:
    runs = Runs([0.2, 0.5, 0.9, 0.3, 0.8, 0.95])
    free, part = Sample("server_cpu_share", runs).interval, Sample("throttled_share", runs).interval
    assert free.high > 1 == part.high
    assert (part.estimate, part.low) == (free.estimate, free.low)
    assert Sample("load_throttled_share", runs).interval == part
    assert Sample("cpu_imbalance", Runs([1.0, 1.0, 1.0, 1.0, 1.0, 1.5])).interval.low == 1


@pytest.mark.parametrize("count", [1, 2, 5])
def test_few_units_are_drawn_within_their_least_and_greatest(count: int) -> None:
    sample = Sample(METRIC, Runs([3.0, 5.0, 4.0, 6.0, 7.0][:count]))
    assert (sample.bar.low, sample.bar.high) == pytest.approx((min(sample.units), max(sample.units)))
    assert sample.bar.estimate == sample.interval.estimate


def test_six_units_are_drawn_with_their_interval() -> None:
    sample = Sample(METRIC, Runs([3.0, 5.0, 4.0, 6.0, 7.0, 5.0]))
    assert sample.bar == sample.interval


LINES = [{"system": s, "clients": n} for s in "ab" for n in (1, 2, 4, 8, 16)]


def matched(factor: float, repetitions: int = 6) -> pl.DataFrame:
    """Two systems at five levels, whose runs scatter by 5 %."""
    law = {"a": 1e6, "b": 1e6 * factor}
    return trials(lambda system, clients: {P99: law[system] * clients}, LINES, repetitions, 0.05)


def test_a_ratio_of_percentiles_over_several_cells_goes_by_ranks_within_each() -> None:
    """15 % apart at five levels of six runs each: no cell is free of overlaps, all together are clear."""
    found = one(TWO, matched(1.15), ["clients"], metric=P99)
    assert (found.direction, found.reasons) == ("confirmed", ())
    assert found.estimate is not None
    assert found.estimate.low < 1.15 < found.estimate.high < 1.25
    assert found.chance is not None
    assert found.chance < 1e-4
    equal = one(TWO, matched(1.0), ["clients"], metric=P99)
    assert equal.direction == "inconclusive"
    assert equal.chance is not None
    assert equal.chance > 0.05


def test_a_ratio_by_ranks_is_confirmed_only_where_its_chance_says_so() -> None:
    """An interval beyond 1 and a chance of 1 are not of one test."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        frame = matched(1.0).with_columns(pl.col(P99) * pl.Series(np.exp(rng.normal(0, 0.2, 60))))
        found = one(TWO, frame, ["clients"], metric=P99)
        assert found.estimate is not None
        assert found.chance is not None
        assert found.estimate.excludes(1.0) == (found.chance < 0.05) or 0.03 < found.chance < 0.07


def test_percentiles_of_several_cells_are_equal_within_a_margin() -> None:
    check = {**TWO, "kind": "equality", "margin": 0.2}
    check.pop("direction")
    found = one(check, matched(1.0), ["clients"], metric=P99)
    assert found.direction == "confirmed"
    assert found.chance is not None
    assert found.chance < 0.05
    assert one({**check, "margin": 0.01}, matched(1.0), ["clients"], metric=P99).direction == "inconclusive"


def test_zeros_of_several_cells_are_ranked_too() -> None:
    waits = matched(1.0).rename({P99: "requests_waiting"}).with_columns(
        pl.when((pl.col("system") == "a") & (pl.col("repetition") > 2)).then(0.0)
        .otherwise(pl.col("requests_waiting")).alias("requests_waiting")
    )  # fmt: skip
    assert one(TWO, waits, ["clients"], metric="requests_waiting").direction == "confirmed"
