"""Runs that did not come to rest: a verdict stands only where it does not hang on how far they wander."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import pytest
from made_trials import METRIC, claim, trials

from steelyard.analysis.claims import Verdict, judge
from steelyard.analysis.claims.looks import Look, Looks
from steelyard.analysis.claims.restless import corners_tell

SYSTEMS = [{"system": s} for s in "ab"]
ABOVE: dict[str, Any] = {
    "kind": "ratio",
    "direction": "above",
    "numerator": {"where": {"system": "b"}},
    "denominator": {"where": {"system": "a"}},
}
QUARTER = 12


def wandering(first: float, last: float) -> list[float]:
    """The seconds of a run whose last quarter lies apart."""
    return [first] * 3 * QUARTER + [last] * QUARTER


def ratio(of: float) -> pl.DataFrame:
    """Six trials of each system, those of b unsteady, with so many times the figure of those of a."""

    def law(system: str) -> dict[str, float]:
        figure = of if system == "b" else 1.0
        return {METRIC: figure, "ok_per_s": figure, "read_service_p99_ns": figure}

    return no_rest(trials(law, SYSTEMS), pl.col("system") == "b")


def judged(
    frame: pl.DataFrame,
    seconds: Sequence[float] | Callable[[int, str], Sequence[float]],
    check: dict[str, Any] | None = None,
    factors: Sequence[str] = (),
    metric: str = METRIC,
) -> Verdict:
    def read(trial: int, metric: str) -> Sequence[float]:
        return seconds(trial, metric) if callable(seconds) else seconds

    (found,) = judge([claim(check or ABOVE, metric)], frame, factors, seconds=read)
    return found


def no_rest(frame: pl.DataFrame, of: pl.Expr | None = None) -> pl.DataFrame:
    """Trials of which those, or all, came to no steady state."""
    bad = pl.lit(value=True) if of is None else of
    words = pl.when(bad).then(pl.lit("no steady state")).otherwise(pl.lit("steady"))
    return frame.with_columns(words.alias("steady"), pl.lit(0.0).alias("false_alarms"))


@pytest.mark.parametrize(
    ("of", "last", "answer"),
    [
        (30.0, 0.7, "confirmed"),
        (1 / 30, 0.7, "refuted"),
        (1.5, 0.98, "confirmed"),
        (1.5, 0.7, "inconclusive"),  # a quarter at 0.76 of the mean: 0.57 of it, as far again, is below 1
        (1.02, 0.98, "inconclusive"),
    ],
)
def test_a_difference_that_is_larger_than_they_wander_stands(of: float, last: float, answer: str) -> None:
    found = judged(ratio(of), wandering(1.0, last))
    assert found.direction == answer
    stands = [words for words in found.left_out if "the direction is the same" in words]
    assert len(stands) == (answer != "inconclusive")
    assert bool(found.reasons) == (answer == "inconclusive")


def test_its_chance_and_words_are_of_the_worst_case() -> None:
    frame = ratio(30.0)
    found = judged(frame, wandering(1.0, 0.7))
    calm = judged(frame.with_columns(pl.lit("steady").alias("steady")), ())
    assert found.estimate == calm.estimate
    assert (found.chance or 0) > (calm.chance or 0) > 0
    assert "6 of 6 trials came to no steady state" in found.left_out[-1]
    assert "multiplied or divided by up to 1.75" in found.left_out[-1]  # (0.925 / 0.7) squared


@pytest.mark.parametrize("metric", ["read_service_p99_ns", "server_cpu_us"])
def test_what_may_wander_farther_than_throughput_is_not_judged(metric: str) -> None:
    frame = ratio(30.0).with_columns(pl.col(METRIC).alias("server_cpu_us"))
    series = wandering(1.0, 0.9)
    assert judged(frame, series, metric=metric).direction == "inconclusive"
    assert judged(frame, series, metric="ok_per_s").direction == "confirmed"


@pytest.mark.parametrize("series", [(), [1.0] * 7, [1.0] * 7 + [0.0]])
def test_where_it_is_not_known_how_far_they_wander_nothing_is_judged(series: Sequence[float]) -> None:
    found = judged(ratio(30.0), series)
    assert (found.direction, found.reasons) == (
        "inconclusive",
        ("system b: 6 of 6 trials: no steady state",),
    )


def test_whatever_else_speaks_against_it_does_so_still() -> None:
    series = wandering(1.0, 0.9)
    short = pl.when(pl.col("system") == "a").then(pl.lit("too short")).otherwise(pl.col("steady"))
    frame = ratio(30.0)
    assert judged(frame.with_columns(short.alias("steady")), series).direction == "inconclusive"
    few = frame.filter(pl.col("repetition") < 6)
    assert judged(few, series).direction == "inconclusive"


def test_one_of_the_trials_wanders_for_all_of_its_cell() -> None:
    frame = ratio(1.5)
    assert judged(frame, wandering(1.0, 0.98)).direction == "confirmed"
    one_far = judged(frame, lambda trial, _: wandering(1.0, 0.7 if trial == 8 else 0.98))
    assert one_far.direction == "inconclusive"


def test_a_late_step_counts_for_where_it_leads() -> None:
    """Its last quarter holds a part of it only; 0.9 / 0.2 is farther than two quarters of the way."""
    late = [1.0] * 42 + [0.2] * 6
    assert judged(ratio(6.0), late).direction == "confirmed"
    assert judged(ratio(4.0), late).direction == "inconclusive"


def line(levels: Sequence[float], unsteady: Sequence[int]) -> pl.DataFrame:
    """Throughput by clients, of which those came to no steady state."""
    points = [{"clients": n} for n in range(1, len(levels) + 1)]
    frame = trials(lambda clients: {"ok_per_s": levels[clients - 1]}, points, scatter=0.01)
    return no_rest(frame, pl.col("clients").is_in(list(unsteady)))


def along(frame: pl.DataFrame, last: float, check: dict[str, Any]) -> str:
    check = {"factor": "clients", **check}
    found = judged(frame, wandering(1.0, last), check=check, factors=["clients"], metric="ok_per_s")
    return found.direction


TREND = {"kind": "trend", "direction": "up"}


def test_each_of_a_lines_cells_may_lie_on_either_side() -> None:
    frame = line([1.0, 2.0, 4.0], [2, 3])
    assert along(frame, 0.95, TREND) == "confirmed"
    assert along(frame, 0.5, TREND) == "inconclusive"


def test_of_many_such_cells_not_every_combination_can_be_judged() -> None:
    levels = [4.0**n for n in range(6)]
    assert along(line(levels, range(1, 6)), 0.99, TREND) == "confirmed"
    assert along(line(levels, range(1, 7)), 0.99, TREND) == "inconclusive"


def test_a_refutation_for_opposite_reasons_is_none() -> None:
    """Moved either way each of these is refuted, and in between it is confirmed."""
    equal = {k: v for k, v in ABOVE.items() if k != "direction"} | {"kind": "equality", "margin": 0.05}
    assert judged(ratio(1.2), wandering(1.0, 0.8), check=equal).direction == "inconclusive"
    assert judged(ratio(1.2), wandering(1.0, 0.99), check=equal).direction == "inconclusive"

    order = {"kind": "order", "groups": [[1], [2], [3]]}
    assert along(line([1.0, 1.2, 1.1], [2]), 0.8, order) == "inconclusive"
    assert along(line([1.0, 2.0, 4.0], [2]), 0.9, order) == "confirmed"
    two = {"kind": "order", "groups": [[1], [2]]}
    assert along(line([2.0, 1.0], [2]), 0.9, two) == "refuted"

    within = {"kind": "value", "unit": "ns", "above": 100.0, "below": 120.0}
    frame = no_rest(trials(lambda **_: {METRIC: 90.0}, [{"system": "b"}]))
    assert judged(frame, wandering(1.0, 0.8), check=within).direction == "inconclusive"
    assert judged(frame, wandering(1.0, 0.9), check=within | {"below": None}).direction == "inconclusive"
    assert judged(frame, wandering(1.0, 0.99), check=within | {"below": None}).direction == "refuted"


@pytest.mark.parametrize(
    ("check", "tells"),
    [
        ({"kind": "shape", "shape": "linear", "factor": "clients"}, False),
        ({"kind": "threshold", "factor": "clients"}, False),
        ({"kind": "peak", "factor": "clients"}, True),
        ({"kind": "trend", "direction": "up", "factor": "clients"}, True),
    ],
)
def test_the_evidence_of_a_model_goes_up_and_down(check: dict[str, Any], tells: bool) -> None:
    assert corners_tell(claim(check).check, "confirmed") is tells


def test_two_figures_of_the_same_trials_wander_each_for_itself() -> None:
    sides = {"numerator": {}, "denominator": {"metric": "update_service_mean_ns"}}
    check = {"kind": "ratio", "direction": "above", "paired": True, **sides}
    frame = trials(lambda **_: {METRIC: 1.5, "update_service_mean_ns": 1.0}, [{"system": "b"}])
    assert judged(no_rest(frame), wandering(1.0, 0.98), check=check).direction == "confirmed"
    found = judged(no_rest(frame), wandering(1.0, 0.8), check=check)  # 1.25 each: 1.5 / 1.25 / 1.25
    assert found.direction == "inconclusive"


@pytest.mark.parametrize(
    ("cells", "targets", "rates"),
    [
        ("plateau", (3900, 5000), {"a": 3600.0, "b": 3950.0}),  # moved down, b's other target is the higher
        ("reached", (3000,), {"a": 3000.0, "b": 3030.0}),  # moved down, b does not reach it
    ],
)
def test_cells_that_are_chosen_by_throughput_stay_chosen_or_nothing_stands(
    cells: str, targets: tuple[int, ...], rates: dict[str, float]
) -> None:
    points = [{"system": s, "target": t} for s in "ab" for t in targets]

    def law(system: str, target: int) -> dict[str, float]:
        return {"ok_per_s": min(rates[system], 1.01 * target)}

    frame = trials(law, points, scatter=0.001)
    more: dict[str, Any] = {"check": {**ABOVE, "cells": cells}, "factors": ["target"], "metric": "ok_per_s"}
    assert judged(frame, (), **more).direction == "confirmed"
    unsteady = no_rest(frame, (pl.col("system") == "b") & (pl.col("target") == targets[-1]))
    assert judged(unsteady, wandering(1.0, 0.7), **more).direction == "inconclusive"


def test_what_an_earlier_look_had_shown_had_not_seen_how_far_they_wander() -> None:
    early = Look(repetitions={1: 6}, most=12, shown={"C1": ("confirmed", 1e-9)})
    last = Look(repetitions={1: 12}, most=12, last=True)
    frame = ratio(30.0).with_columns(pl.lit(1).alias("point"))

    def chance(of: pl.DataFrame) -> float:
        asked = [claim(ABOVE)]
        found = judge(asked, of, [], seconds=lambda *_: wandering(1.0, 0.9), looks=Looks((early, last)))
        return found[0].over_looks or 0.0

    assert chance(frame.with_columns(pl.lit("steady").alias("steady"))) == 1e-9
    assert chance(frame) > 1e-9


def test_a_size_is_none_unless_it_is_the_same_everywhere() -> None:
    series = wandering(1.0, 0.95)
    assert judged(ratio(2.0), series, check={**ABOVE, "paper": 2.0}).size == "confirmed"
    edge = {**ABOVE, "paper": 1.45}
    calm = judged(ratio(2.0).with_columns(pl.lit("steady").alias("steady")), (), check=edge)
    assert (calm.direction, calm.size) == ("confirmed", "confirmed")
    found = judged(ratio(2.0), series, check=edge)
    assert (found.direction, found.size) == ("confirmed", "inconclusive")
    assert "the size is not" in found.left_out[-1]
