"""Intervals, verdicts, power, fits and peaks: against known truths, with few seeded draws.

`benches/stats_truth.py` draws many and prints the shares.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import stats_sources as sources
from scipy import stats

from steelyard.analysis.stats import percentiles as pc
from steelyard.analysis.stats import signs
from steelyard.analysis.stats.changes import change_points
from steelyard.analysis.stats.fits import compare
from steelyard.analysis.stats.peak import peak
from steelyard.analysis.stats.power import CHANCES, more_runs, scatter, settled
from steelyard.analysis.stats.runs import Contrast, Runs, contrast, mean
from steelyard.analysis.stats.verdicts import holm, verdicts


def test_a_mean_is_students_t_on_logs() -> None:
    values = [1.0, 2.0, 4.0, 3.0]
    found = mean(Runs(values))
    low, high = stats.t.interval(0.95, 3, np.log(values).mean(), stats.sem(np.log(values)))
    assert (math.log(found.low), math.log(found.high)) == pytest.approx((low, high))
    assert found.estimate == pytest.approx(stats.gmean(values))


def test_a_contrast_is_welchs_test() -> None:
    a, b = [1.0, 1.2, 0.9, 1.1], [1.5, 1.4, 1.9, 1.2, 1.6, 1.3]
    found, ours = stats.ttest_ind(np.log(b), np.log(a), equal_var=False), contrast(Runs(a), Runs(b))
    low, high = found.confidence_interval(0.95)
    assert ours.difference_p() == pytest.approx(found.pvalue)
    assert ours.freedom == pytest.approx(found.df)
    assert (ours.interval().low, ours.interval().high) == pytest.approx((math.exp(low), math.exp(high)))


def test_one_run_bounds_nothing() -> None:
    assert mean(Runs([5.0])).high == math.inf
    found = contrast(Runs([5.0]), Runs([6.0, 6.1]))
    assert (found.interval().low, found.interval().high) == (0.0, math.inf)
    assert found.difference_p() == 1.0
    assert more_runs(found, 0.03) is None


def test_equal_runs_without_scatter_are_equivalent_and_others_differ() -> None:
    same, other = Runs([2.0, 2.0]), Runs([3.0, 3.0])
    assert verdicts([contrast(same, same)], ["lower"], [0.03]) == ["equivalent"]
    assert verdicts([contrast(same, other)], ["lower"], [0.03]) == ["worse"]
    assert verdicts([contrast(same, other)], ["higher"], [0.03]) == ["better"]


def test_runs_of_one_load_say_so() -> None:
    values = [1.0, 1.1, 0.9, 1.05]
    assert mean(Runs(values)).given == ""
    assert mean(Runs(values, loads=[1, 1, 1, 1])).given == "this load"
    assert mean(Runs(values, starts=[1, 1, 2, 2], loads=[1, 1, 1, 1])).given == "this load"
    assert mean(Runs(values, starts=[1, 1, 1, 1], loads=[1, 1, 1, 1])).given == "this start"
    assert mean(Runs(values, loads=[1, 1, 2, 2])).count == 2
    one_start = mean(Runs(values, starts=[1, 1, 1, 1], loads=[1, 2, 3, 4]))
    assert (one_start.count, one_start.given) == (4, "this start")
    two_starts = mean(Runs(values, starts=[1, 1, 2, 2], loads=[1, 2, 3, 4]))
    assert (two_starts.count, two_starts.given) == (2, "")
    assert mean(Runs(values, starts=[1, 1, 2, 2], loads=[1, 1, 1, 1])).count == 2


def test_intervals_hold_the_truth_and_nesting_matters() -> None:
    assert 0.92 <= sources.mean_coverage(6, 400) <= 0.98
    assert 0.92 <= sources.ratio_coverage((6, 12), 400) <= 0.98
    assert 0.92 <= sources.nested_coverage(6, 4, 400) <= 0.98
    assert sources.nested_coverage(6, 4, 400, told=False) < 0.85


def test_a_percentile_of_ten_runs_is_held_and_equal_ones_are_not_told_apart() -> None:
    assert sources.percentile_coverage(10, 0.99, 60) >= 0.87
    assert sources.percentile_false_calls(10, 0.99, 40) <= 0.125


def test_merged_percentiles_are_those_of_all_values_together() -> None:
    rng = np.random.default_rng(1)
    drawn = [sources.histogram(rng) for _ in range(10)]
    together = np.concatenate([values for values, _ in drawn])
    for quantile in (0.5, 0.99, 0.999):
        found = pc.merged(drawn).quantile(quantile)
        assert found == pytest.approx(np.quantile(together, quantile, method="inverted_cdf"), rel=0.006)


def test_the_same_histograms_give_the_same_interval() -> None:
    def found() -> object:
        rng = np.random.default_rng(1)
        return pc.bounds(pc.merged([sources.histogram(rng) for _ in range(10)]), [1.0] * 10, 0.99)

    assert found() == found()


def test_the_sign_test_holds_the_median_and_gains_by_more_units() -> None:
    assert [signs.sign_p(n, n) for n in (5, 6)] == [2 / 2**5, 2 / 2**6]
    assert signs.sign_p(3, 6) == signs.sign_p(2, 6) == 1.0
    assert signs.sign_p(11, 12) == pytest.approx(2 * 13 / 2**12)
    draws = np.random.default_rng(3).lognormal(0.2, 0.2, (400, 24))
    found = [signs.Signs(row) for row in draws]
    assert sum(one.interval().excludes(math.exp(0.2)) for one in found) < 0.05 * len(found)
    shown = [[signs.Signs(row[:n]).difference_p() < 0.05 for row in draws] for n in (6, 12, 24)]
    assert [sum(of) / len(of) > least for of, least in zip(shown, (0.2, 0.5, 0.9), strict=True)] == [True] * 3
    for one in found:
        assert (one.difference_p() < 0.05) == one.interval().excludes(1.0)
    assert signs.median_bounds(draws[0][:5]) == (0.0, math.inf)
    assert signs.border_p(np.array([1.0] * 8), 1.0) == 1.0, "what lies on the border speaks for neither side"


def test_few_runs_give_their_least_and_greatest() -> None:
    found = pc.bounds(pc.merged([sources.histogram(np.random.default_rng(1))] * 6), [3, 1, 2, 5, 4, 6], 0.99)
    assert (found.low, found.estimate, found.high) == pytest.approx((1, math.sqrt(12), 6))


def test_extremes_tell_apart_only_what_does_not_overlap() -> None:
    low, high = np.array([1, 1.1, 1.2, 1.3, 1.4, 1.5]), np.array([1.6, 1.7, 1.8, 1.9, 2.0, 2.1])
    assert pc.Extremes(low, high).difference_p() == pytest.approx(
        stats.mannwhitneyu(low, high, method="exact").pvalue
    )
    assert pc.Extremes(low, high - 0.15).difference_p() == 1
    assert pc.Extremes(low[:3], high[:3]).difference_p() == 1, "three of each bound nothing with 95 %"
    assert pc.Extremes(low[:3], high[:3]).interval().high == math.inf


def test_holm_steps_down() -> None:
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]).size == 0


def test_correction_leaves_an_open_word_where_one_test_alone_would_speak() -> None:
    weak = Contrast(0.1, 0.04, 10, (6, 6))
    assert verdicts([weak], ["lower"], [0.03]) == ["worse"]
    assert verdicts([weak] * 5, ["lower"] * 5, [0.03] * 5) == ["open"] * 5


def test_equal_things_are_seldom_told_apart() -> None:
    assert sources.aa_false_calls(6, 10, 100) <= 0.1
    assert sources.false_equivalence(20, 200) <= 0.06


@pytest.mark.parametrize("case", [(10, 0.05, 0.03, 0.03), (10, 0.0, 0.02, 0.03), (30, 0.0, 0.03, 0.03)])
def test_power_is_as_foretold(case: tuple[int, float, float, float]) -> None:
    assert settled(*case) == pytest.approx(sources.settled_share(*case, draws=300), abs=0.08)


def chance(contrast_: Contrast, runs: int) -> float:
    """Of being settled, wherever the true ratio lies: over what is known of it."""
    truths = contrast_.log_ratio + contrast_.error * stats.t.ppf(CHANCES, contrast_.freedom)
    return float(np.mean([settled(runs, truth, scatter(contrast_), 0.03) for truth in truths]))


def test_more_runs_are_the_fewest_that_are_enough() -> None:
    open_ = Contrast(0.02, 0.03, 10, (6, 6))
    more = more_runs(open_, 0.03)
    assert more is not None
    assert chance(open_, 6 + more) >= 0.8 > chance(open_, 6 + more - 1)
    assert more_runs(open_, 0.03, family=10) > more
    assert more_runs(Contrast(0.0, 0.05, 400, (200, 200)), 0.001) is None


@pytest.mark.parametrize("name", sources.CURVES)
def test_each_model_is_recovered(name: str) -> None:
    won, held = sources.fit_recovery(name, 10)
    assert won[name] >= 8, won
    assert held.min() >= 0.66


@pytest.mark.parametrize("seed", range(10))
def test_a_bend_between_two_sizes_far_apart_is_found(seed: int) -> None:
    """A ladder of rates: what is offered is done exactly up to what can be done, which scatters."""
    x = np.repeat([250.0, 500.0, 8_000.0, 32_000.0], 6)
    scatter_ = np.where(x < 1500, 0.001, 0.2)
    y = np.minimum(x, 1500.0) * np.exp(np.random.default_rng(seed).normal(0, scatter_))
    fits = compare(x, y, ("linear", "logarithmic", "linear-then-flat")).fits
    bent = next(fit for fit in fits if fit.name == "linear-then-flat")
    assert bent.parameters["k"].estimate == pytest.approx(1500, rel=0.25)
    assert bent.miss < 0.15


def test_a_curve_of_two_shapes_alike_is_undecided() -> None:
    x = np.repeat([1.0, 2.0, 3.0, 4.0], 3)
    y = (10 + x) * np.exp(np.random.default_rng(1).normal(0, 0.1, x.size))
    found = compare(x, y, ("linear", "logarithmic"))
    assert found.winner == "undecided"
    assert sum(fit.weight for fit in found.fits) == pytest.approx(1)


def test_the_universal_law_needs_six_sizes() -> None:
    x = np.repeat([1.0, 2.0, 4.0, 8.0, 16.0], 6)
    y = 100 * x / (1 + 0.05 * (x - 1))
    found = compare(
        x, y * np.exp(np.random.default_rng(2).normal(0, 0.01, x.size)), ("amdahl", "usl", "linear")
    )
    assert "needs 6 sizes" in found.left_out["usl"]
    assert found.winner == "amdahl"


def test_the_universal_laws_top_is_where_it_says() -> None:
    won, _ = sources.fit_recovery("usl", 1)
    assert won["usl"] == 1
    x = np.repeat(sources.SIZES, 6)
    y = 100 * x / (1 + 0.03 * (x - 1) + 0.0005 * x * (x - 1))
    fit = compare(x, y * np.exp(np.random.default_rng(3).normal(0, 0.01, x.size)), ("usl", "amdahl")).fits[0]
    assert fit.top == pytest.approx(math.sqrt(0.97 / 0.0005), rel=0.1)


def test_fits_refuse_what_has_no_logarithm() -> None:
    with pytest.raises(ValueError, match="above zero"):
        compare(np.array([1.0, 2.0]), np.array([0.0, 1.0]), ("linear",))


@pytest.mark.parametrize(
    ("levels", "answer"),
    [((1, 1.5, 2, 1.4), "rises then falls"), ((1, 1.2, 1.5, 2), "no fall"), ((2, 1.5, 1.2, 1), "no rise"),
     ((1, 1, 1, 1), "undecided")],
)  # fmt: skip
def test_a_peak_rises_and_falls(levels: tuple[float, ...], answer: str) -> None:
    rng = np.random.default_rng(5)
    runs = {float(2**n): sources.runs(rng, 6, math.log(level), 0.02) for n, level in enumerate(levels)}
    found = peak(runs, contrast, lambda one: mean(one).estimate)
    assert found.answer == answer


def test_change_points_are_found_where_the_level_changes() -> None:
    rng = np.random.default_rng(1)
    series = np.concatenate([np.full(40, 10.0), np.full(30, 12.0), np.full(50, 9.0)]) + rng.normal(
        0, 0.3, 120
    )
    assert change_points(series) == pytest.approx([40, 70], abs=1)
    assert change_points(rng.normal(10, 0.3, 120)) == []
    assert change_points(np.full(50, 3.0)) == []


@pytest.mark.parametrize("name", sources.SERIES)
def test_the_warm_up_of_known_curves(name: str) -> None:
    none, cut = sources.cuts(name, 300, 30)
    truth = sources.SERIES[name][1]
    if truth is None:
        assert none >= 0.9
    else:
        assert none <= 0.15
        assert truth - 0.08 <= cut <= truth + 0.1
