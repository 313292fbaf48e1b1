"""Values, slopes, speed-ups, scaling, winners and distributions on trials whose truth is known."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from made_trials import METRIC, claim, one, trials

from steelyard.analysis.claims import Verdict, judge
from steelyard.analysis.claims.curves import lines
from steelyard.analysis.evidence import Trials
from steelyard.analysis.stats.percentiles import GRID
from steelyard.analysis.stats.spread import modes, skewness

SIDES = {"numerator": {"where": {"system": "b"}}, "denominator": {"where": {"system": "a"}}}
BOTH = [{"system": s, "nodes": n} for s in "ab" for n in (1, 2, 4, 8)]


def power(exponents: dict[str, float], metric: str = METRIC) -> Any:
    """A law: each system's metric goes with nodes to a power of its own."""
    return lambda system, nodes: {metric: 100.0 * nodes ** exponents[system]}


# value -----------------------------------------------------------------------------------------------------


def milliseconds(value: float) -> Any:
    return trials(lambda **_: {METRIC: value * 1e6}, [{"clients": 1}])


@pytest.mark.parametrize(
    ("paper", "size"),
    [
        ("35 ms", "confirmed"),
        ("0.035 s", "confirmed"),
        ("80 ms", "refuted"),
        ("25 to 30 ms", "confirmed"),
        ("> 20 ms", "confirmed"),
        ("> 90 ms", "refuted"),
        ("< 20 ms", "refuted"),
        ({"value": 30, "unit": "ms", "label": "about 30"}, "confirmed"),
    ],
)
def test_a_value_is_compared_in_the_unit_it_is_printed_in(paper: Any, size: str) -> None:
    found = one({"kind": "value", "paper": paper}, milliseconds(34), ["clients"])
    assert (found.direction, found.size) == ("not claimed", size)
    assert found.metric == METRIC
    small = one({"kind": "value", "paper": paper}, milliseconds(34), ["clients"], small=True)
    assert small.size == "not claimed"


@pytest.mark.parametrize(
    ("bounds", "answer"),
    [
        ({"above": 30}, "confirmed"),
        ({"above": 30, "below": 40}, "confirmed"),
        ({"below": 30}, "refuted"),
        ({"above": 30, "below": 34}, "inconclusive"),
    ],
)
def test_a_values_bounds_are_its_direction(bounds: dict[str, float], answer: str) -> None:
    found = one({"kind": "value", "unit": "ms", **bounds}, milliseconds(34), ["clients"])
    assert found.direction == answer
    assert found.chance is not None


def test_a_value_holds_in_every_cell_or_not_at_all() -> None:
    frame = trials(lambda clients: {METRIC: 1e6 * clients}, [{"clients": 1}, {"clients": 9}])
    assert one({"kind": "value", "unit": "ms", "below": 5}, frame, ["clients"]).direction == "refuted"
    assert one({"kind": "value", "unit": "ms", "below": 12}, frame, ["clients"]).direction == "confirmed"


def test_what_refutes_has_its_own_chance() -> None:
    """A cell far inside the bound says nothing of how surely another one lies beyond it."""
    frame = trials(lambda clients: {METRIC: 1e6 * clients}, [{"clients": 1}, {"clients": 9}])
    found = one({"kind": "value", "unit": "ms", "below": 8.6}, frame, ["clients"])
    assert found.direction == "refuted"
    assert found.chance is not None
    assert 1e-4 < found.chance < 0.05
    order = {"kind": "order", "factor": "clients", "groups": [["a"], ["b", "c"]]}
    level = {"a": 1.0, "b": 9.0, "c": 0.95}
    frame = trials(lambda clients: {METRIC: level[clients]}, [{"clients": name} for name in level])
    found = one(order, frame, ["clients"])
    assert found.direction == "refuted"
    assert found.chance is not None
    assert found.chance > 1e-4


def test_a_percentile_is_within_bounds_when_every_run_is() -> None:
    frame = trials(lambda **_: {"read_service_p99_ns": 5e6}, [{"clients": 1}], scatter=0.1)
    check = {"kind": "value", "unit": "ms"}
    metric = "read_service_p99_ns"
    assert one({**check, "below": 9}, frame, ["clients"], metric=metric).direction == "confirmed"
    assert one({**check, "below": 5}, frame, ["clients"], metric=metric).direction == "inconclusive"


# slope and speed-up ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exponents", "direction", "answer"),
    [
        ({"a": 0.2, "b": 0.8}, "steeper", "confirmed"),
        ({"a": 0.2, "b": 0.8}, "flatter", "refuted"),
        ({"a": 0.5, "b": 0.5}, "steeper", "inconclusive"),
        ({"a": -0.8, "b": 0.0}, "steeper", "inconclusive"),
        ({"a": -0.8, "b": 0.0}, "flatter", "inconclusive"),
    ],
)
@pytest.mark.parametrize("metric", [METRIC, "read_service_p99_ns"])
def test_slopes_of_two_sides(exponents: Any, direction: str, answer: str, metric: str) -> None:
    check = {"kind": "slope", **SIDES, "factor": "nodes", "direction": direction}
    found = one(check, trials(power(exponents, metric), BOTH), ["nodes"], metric=metric)
    assert found.direction == answer, found.words
    assert ("what is steeper does not rise" in found.words) == (exponents["b"] == 0)


def test_the_chance_of_a_slope_is_of_both_that_it_needs() -> None:
    """Sides differ beyond doubt; that the steeper one rises at all is less sure, and counts."""
    check = {"kind": "slope", **SIDES, "factor": "nodes", "direction": "steeper"}

    def found(rise: float) -> Verdict:
        frame = trials(power({"a": -3.0, "b": rise}, METRIC), BOTH, scatter=0.05)
        return one(check, frame, ["nodes"])

    hardly, surely, falling = found(0.02), found(1.0), found(-0.5)
    assert (hardly.direction, surely.direction, falling.direction) == (
        "inconclusive",
        "confirmed",
        "inconclusive",
    )
    assert surely.chance is not None
    assert hardly.chance is not None
    assert surely.chance < 1e-6 < hardly.chance < 1
    assert falling.chance == 1


def ladder(system: str, target: int) -> dict[str, float]:
    """`b` rises with the root of what it achieves, up to 900/s; `a` is level, up to 2,500/s."""
    achieved = min(float(target), 900.0 if system == "b" else 2500.0)
    return {METRIC: achieved**0.5 if system == "b" else 30.0, "ok_per_s": achieved}


def test_a_slope_over_targets_ends_where_one_side_reaches_them_no_more() -> None:
    points = [{"system": s, "target": t} for s in "ab" for t in (200, 400, 800, 6400, 51_200)]
    check = {"kind": "slope", **SIDES, "factor": "target", "direction": "steeper", "cells": "reached"}
    found = one(check, trials(ladder, points, scatter=0.01), ["target"])
    assert found.direction == "confirmed"
    told = re.match(r"slopes (\S+) \[.*\] against (\S+) \[", found.words)
    assert told, found.words
    assert float(told[1]) == pytest.approx(0.5, abs=0.05)
    assert float(told[2]) == pytest.approx(0, abs=0.05)
    assert {e.what.split("target ")[1] for e in found.evidence} == {"200", "400", "800"}
    assert "over target 200 to 800: difference" in found.words
    far = [point for point in points if point["target"] != 200 and point["target"] != 400]
    none = one(check, trials(ladder, far, scatter=0.01), ["target"])
    assert none.reasons == ("no line has two levels of target that both sides reach within 2 %",)


@pytest.mark.parametrize(
    ("exponents", "direction", "answer"),
    [
        ({"a": 0.2, "b": 0.8}, "above", "confirmed"),
        ({"a": 0.8, "b": 0.2}, "above", "refuted"),
        ({"a": 0.5, "b": 0.5}, "above", "inconclusive"),
    ],
)
@pytest.mark.parametrize("metric", ["ok_per_s", "read_service_p99_ns"])
def test_a_speedup_is_a_ratio_of_ratios(exponents: Any, direction: str, answer: str, metric: str) -> None:
    check = {"kind": "speedup", **SIDES, "factor": "nodes", "direction": direction, "paper": 8**0.6}
    found = one(check, trials(power(exponents, metric), BOTH, scatter=0.02), ["nodes"], metric=metric)
    assert found.direction == answer, found.words
    assert found.estimate is not None
    assert found.estimate.estimate == pytest.approx(8 ** (exponents["b"] - exponents["a"]), rel=0.1)
    if metric == "ok_per_s" and answer == "confirmed":
        assert found.size == "confirmed"


def test_a_speedup_between_two_named_levels() -> None:
    check = {"kind": "speedup", **SIDES, "factor": "nodes", "direction": "above", "first": 1, "last": 2}
    found = one(check, trials(power({"a": 0.0, "b": 1.0}), BOTH), ["nodes"])
    assert found.estimate is not None
    assert found.estimate.estimate == pytest.approx(2, rel=0.1)
    absent = one({**check, "last": 3}, trials(power({"a": 0.0, "b": 1.0}), BOTH), ["nodes"])
    assert absent.reasons == ("cannot be computed: nodes 3 was not measured",)


def test_a_speedup_within_repetitions_leaves_out_what_a_start_does_to_both_sides() -> None:
    check = {"kind": "speedup", **SIDES, "factor": "nodes", "direction": "above"}
    frame = trials(power({"a": 0.0, "b": 0.2}), BOTH, scatter=0.02)
    starts = (pl.col("repetition") * 7 + pl.col("nodes") * 5) % 11
    frame = frame.with_columns(pl.col(METRIC) * 1.2**starts)
    assert one(check, frame, ["nodes"]).direction == "inconclusive"
    paired = one({**check, "paired": True}, frame, ["nodes"])
    assert paired.direction == "confirmed", paired.words
    assert paired.estimate is not None
    assert paired.estimate.estimate == pytest.approx(8**0.2, rel=0.06)


def test_a_speedup_within_repetitions_wants_means_of_the_same_repetitions() -> None:
    check = {"kind": "speedup", **SIDES, "factor": "nodes", "direction": "above", "paired": True}
    law = power({"a": 0.0, "b": 1.0}, "read_service_p99_ns")
    tails = one(check, trials(law, BOTH), ["nodes"], metric="read_service_p99_ns")
    assert "has signs only within repetitions" in tails.reasons[0]
    frame = trials(power({"a": 0.0, "b": 1.0}), BOTH)
    apart = frame.with_columns(
        repetition=pl.col("repetition") + pl.when(pl.col("system") == "a").then(4).otherwise(0)
    )
    few = one(check, apart, ["nodes"])
    assert few.reasons == ("cannot be computed: 2 of 6 pairs needed were measured in the same repetitions",)


# scaling ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exponent", "ideal", "answer", "efficiency"),
    [
        (1.0, "linear", "confirmed", 1.0),
        (0.5, "linear", "refuted", 8**-0.5),
        (0.0, "constant", "confirmed", 1.0),
        (0.5, "constant", "refuted", 8**-0.5),
        (-1.0, "inverse", "confirmed", 1.0),
        (-0.5, "inverse", "refuted", 8**-0.5),
        (np.log(0.8 * 8) / np.log(8), "linear", "inconclusive", 0.8),
    ],
)
def test_scaling_is_the_share_of_the_ideal(
    exponent: float, ideal: str, answer: str, efficiency: float
) -> None:
    frame = trials(lambda nodes: {METRIC: 100.0 * nodes**exponent}, [{"nodes": n} for n in (1, 2, 4, 8)])
    found = one({"kind": "scaling", "factor": "nodes", "ideal": ideal, "paper": 0.95}, frame, ["nodes"])
    assert found.direction == answer, found.words
    assert found.estimate is not None
    assert found.estimate.estimate == pytest.approx(efficiency, rel=0.06)


@pytest.mark.parametrize(("ideal", "answer"), [(1.0, "confirmed"), (0.5, "refuted")])
def test_what_moves_with_a_factor_tells_no_lines_apart(ideal: float, answer: str) -> None:
    points = [{"nodes": n, "clients": 16 * n, "system": s} for n in (2, 3, 4) for s in "ab"]
    frame = trials(lambda nodes, **_: {METRIC: 100.0 * nodes**ideal}, points)
    found = one({"kind": "scaling", "factor": "nodes"}, frame, ["nodes", "clients"])
    assert found.direction == answer, found.words


def test_what_is_crossed_with_a_factor_tells_lines_apart() -> None:
    points = [{"nodes": n, "clients": c} for n in (2, 4) for c in (8, 16)]
    frame = trials(lambda nodes, **_: {METRIC: 100.0 * nodes}, points)
    found = lines(Trials(frame, ("nodes", "clients")).cells(), "nodes")
    assert [dict(key) for key in found] == [{"clients": 8}, {"clients": 16}]


# best ------------------------------------------------------------------------------------------------------

LEVELS = [{"level": c, "share": s} for c in ("ONE", "QUORUM", "ALL") for s in (0.05, 0.95)]


@pytest.mark.parametrize(
    ("level", "want", "answer"),
    [
        ("ONE", "lowest", "confirmed"),
        ("ALL", "highest", "confirmed"),
        ("QUORUM", "lowest", "refuted"),
        ("TWO", "lowest", "inconclusive"),
    ],
)
def test_the_best_level_wins_on_every_line(level: str, want: str, answer: str) -> None:
    cost = {"ONE": 1.0, "QUORUM": 1.5, "ALL": 2.0}
    frame = trials(lambda level, share: {METRIC: cost[level] * (1 + share)}, LEVELS)
    check = {"kind": "best", "factor": "level", "want": want, "level": level}
    assert one(check, frame, ["level", "share"]).direction == answer


@pytest.mark.parametrize(("crossing", "answer"), [(True, "confirmed"), (False, "refuted")])
def test_the_winner_may_depend_on_another_factor(crossing: bool, answer: str) -> None:
    def law(level: str, share: float) -> dict[str, float]:
        cost = {"ONE": 1.0, "QUORUM": 1.5, "ALL": 2.0}[level]
        return {METRIC: 1 / cost if crossing and share > 0.5 else cost}

    check = {"kind": "best", "factor": "level", "want": "lowest", "depends_on": "share"}
    found = one(check, trials(law, LEVELS), ["level", "share"])
    assert found.direction == answer, found.words
    assert "share 0.05: ONE" in found.words
    alike = trials(lambda **_: {METRIC: 1.0}, LEVELS)
    assert one(check, alike, ["level", "share"]).direction == "inconclusive"


# distribution ----------------------------------------------------------------------------------------------


def histogram(modes_ms: list[float], tail: float, seed: int) -> tuple[Any, Any]:
    """Values and counts of 20,000 operations, lognormal around each mode; `tail` stretches one side."""
    rng = np.random.default_rng(seed)
    drawn = [np.exp(rng.normal(np.log(at * 1e6), 0.1, 10_000)) for at in modes_ms]
    values = np.concatenate(drawn)
    values = np.median(values) + np.where(values > np.median(values), tail, 1.0) * (
        values - np.median(values)
    )
    edges = np.exp(GRID * np.arange(2200, 3800))
    return edges[:-1], np.histogram(values, edges)[0].astype(float)


@pytest.mark.parametrize(
    ("check", "at", "tail", "answer"),
    [
        ({"modes": 1, "skew": "positive"}, [5.0], 3.0, "confirmed"),
        ({"modes": 1}, [5.0, 50.0], 1.0, "refuted"),
        ({"modes": 2}, [5.0, 50.0], 1.0, "confirmed"),
        ({"skew": "negative"}, [5.0], 3.0, "refuted"),
        ({"skew": "negative"}, [5.0], 0.2, "confirmed"),
    ],
)
def test_a_distribution_has_modes_and_a_longer_side(
    check: dict[str, Any], at: list[float], tail: float, answer: str
) -> None:
    frame = trials(lambda **_: {METRIC: 5e6}, [{"clients": 1}])
    asked = claim({"kind": "distribution", "unit": "ms", "paper": 5, **check})
    (found,) = judge([asked], frame, ["clients"], histograms=lambda n, *_: histogram(at, tail, n))
    assert found.direction == answer, found.words
    if len(at) == 1:
        assert found.size == "confirmed"


def test_without_histograms_a_distribution_cannot_be_told() -> None:
    frame = trials(lambda **_: {METRIC: 5e6}, [{"clients": 1}])
    found = one({"kind": "distribution", "modes": 1}, frame, ["clients"])
    assert found.reasons == (f"cannot be computed: no cell has the histograms of {METRIC}",)


def test_what_lies_within_a_tenth_is_one_mode() -> None:
    x = np.arange(0, 400) * GRID
    near = np.exp(-0.5 * ((x - 1.00) / 0.03) ** 2) + np.exp(-0.5 * ((x - 1.08) / 0.03) ** 2)
    far = np.exp(-0.5 * ((x - 0.60) / 0.03) ** 2) + 0.5 * np.exp(-0.5 * ((x - 1.40) / 0.03) ** 2)
    assert len(modes(near, GRID)) == 1
    assert [round(at * GRID, 1) for at in modes(far, GRID)] == [0.6, 1.4]
    assert skewness(np.array([1.0]), GRID) == 0.0


def test_the_tails_tell_the_skewness_and_not_the_middle() -> None:
    """Eight of ten values lean to the fast side; two in a hundred are far at the slow one."""
    counts = np.zeros(600)
    counts[[0, 90, 100, 110]] = [5, 20, 58, 15]
    counts[500] = 2
    assert skewness(counts, GRID) > 0.5
    counts[500] = 0
    assert skewness(counts, GRID) < 0


def test_one_trial_refutes_what_is_said_of_every_trial() -> None:
    """One of six loses a thousand records: the median is none."""
    none = trials(lambda: {"audit_lost": 0.0}, [{}])
    lost = none.with_columns(
        pl.when(pl.col("repetition") == 2).then(1000.0).otherwise(0.0).alias("audit_lost")
    )
    check = {"kind": "value", "below": 1}
    assert one(check, lost, [], metric="audit_lost").direction == "inconclusive"
    found = one({**check, "every": True}, lost, [], metric="audit_lost")
    assert found.direction == "refuted"
    assert "1 trial beyond" in found.words
    assert one({**check, "every": True}, none, [], metric="audit_lost").direction == "confirmed"
