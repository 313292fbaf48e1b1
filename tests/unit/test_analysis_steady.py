"""Steady state: MSER-5, drift, intervals."""

from __future__ import annotations

import numpy as np
import pytest
import stats_sources as sources
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from steelyard.analysis.steady import batch_means, drift, level_together, mser, steady, throughput


def series(seconds: int, level: float = 1000.0, noise: float = 10.0) -> np.ndarray:
    return np.random.default_rng(1).normal(level, noise, seconds)


def test_level_series_is_steady_from_the_start() -> None:
    found = steady(series(120), "throughput")
    assert found.reached
    assert found.warm_up_s <= 10
    assert found.drift == 0
    assert found.mean == pytest.approx(1000, rel=0.01)
    assert 0 < found.half_width < 10


def test_a_slow_start_is_cut() -> None:
    values = series(120)
    values[:20] *= np.linspace(0.3, 0.9, 20)
    assert 15 <= steady(values, "throughput").warm_up_s <= 40


def test_a_jump_in_the_last_half_is_no_steady_state() -> None:
    values = series(120)
    values[90:] *= 3
    found = steady(values, "throughput")
    assert found.reached is False


def test_a_constant_series_has_nothing_to_cut() -> None:
    assert mser(np.full(20, 600.0)) == 0


def test_fewer_than_sixty_seconds_are_too_short() -> None:
    assert steady(series(59), "throughput").too_short
    assert not steady(series(60), "throughput").too_short


def test_tenths_of_a_second_find_the_warm_up_of_a_short_run() -> None:
    tenths = series(100, level=100, noise=5)
    tenths[:20] *= np.linspace(0.2, 0.9, 20)
    found = throughput(tenths)
    assert found.reached
    assert 1.5 <= found.warm_up_s <= 4
    assert found.mean == pytest.approx(1000, rel=0.02), "operations a second"
    assert found.seconds == pytest.approx(10)
    assert throughput(tenths[:59]).too_short


def test_an_hour_is_judged_in_longer_intervals() -> None:
    found = throughput(series(36_000, level=100))
    assert found.intervals <= 6000
    assert found.seconds == pytest.approx(3600)
    assert found.mean == pytest.approx(1000, rel=0.01)


def test_a_trend_is_a_drift_and_noise_is_none() -> None:
    assert drift(np.linspace(100, 120, 100)) == pytest.approx(0.17, abs=0.03)
    assert drift(series(100)) == 0


def test_an_interval_from_batch_means_holds_the_mean_most_of_the_time() -> None:
    rng = np.random.default_rng(7)
    found = [steady(rng.normal(50, 5, 200), "x") for _ in range(200)]
    reached = [f for f in found if f.reached]
    assert len(reached) >= 190
    assert np.mean([abs(f.mean - 50) <= f.half_width for f in reached]) >= 0.85


@given(hnp.arrays(np.float64, st.integers(0, 200), elements=st.floats(0, 1e9)))
def test_any_series_is_judged(values: np.ndarray) -> None:
    found = steady(values, "throughput")
    assert found.too_short == (values.size < 60)
    assert found.warm_up_s <= values.size / 2
    assert batch_means(values).size == values.size // 5


def test_runs_that_wander_around_one_level_are_level_together() -> None:
    single, together = sources.unsteady_shares(ramp=0.0, cells=50)
    assert single > 0.2, "the rule for one run takes such scatter for a change"
    assert together < 0.7 * single


def test_what_all_runs_have_in_common_is_no_scatter() -> None:
    single, together = sources.unsteady_shares(ramp=0.6, cells=50)
    assert together > max(single, 0.85)


def test_one_run_alone_and_short_runs_are_not_level_together() -> None:
    run = throughput(series(100, level=100, noise=5))
    assert level_together([run.batches] * 2)
    assert not level_together([run.batches])
    assert not level_together([run.batches[:11]] * 6)
    assert not level_together([(), run.batches])
