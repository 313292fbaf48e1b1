"""Measures over windows: closed-form series, and properties that hold for any."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import example, given
from hypothesis import strategies as st
from made_seconds import START_NS, action, drawn, level

from steelyard.analysis.steady import Steady
from steelyard.analysis.windows import impact, losses
from steelyard.analysis.windows.again import level_again, steady_again
from steelyard.analysis.windows.coverage import covered
from steelyard.analysis.windows.effect import Measured, effect
from steelyard.analysis.windows.host import Host, host
from steelyard.analysis.windows.milestones import Elapsed
from steelyard.analysis.windows.moved import gain, least_bytes
from steelyard.analysis.windows.recovery import recovered
from steelyard.analysis.windows.slices import BySecond, by_second
from steelyard.analysis.windows.spans import Seconds, Windows, around_all
from steelyard.analysis.windows.steadiness import of_windows
from steelyard.results.histograms import held, percentiles

AROUND = Windows(Seconds(0, 60), Seconds(60, 120), Seconds(120, 300), 60.0, 120.0, True)


def stepped(during: float, recovering: float, after: float) -> list[float]:
    """1 ms before; during; 30 s of recovering; after."""
    return [1.0] * 60 + [during] * 60 + [recovering] * 30 + [after] * 150


times = st.lists(st.lists(st.integers(1, 10**10), max_size=30), min_size=1, max_size=6)


@given(times, st.floats(0.01, 1.0))
@example([[1] * 31, [2] * 14], 0.7)
def test_merged_seconds_have_the_percentiles_of_a_merged_histogram(
    rows: list[list[int]], share: float
) -> None:
    whole = HdrHistogram(1, 3600 * 10**9, 3)
    log = []
    for second, values in enumerate(rows):
        one = HdrHistogram(1, 3600 * 10**9, 3)
        for value in values:
            one.record_value(value)
            whole.record_value(value)
        lows, counts = held(one)
        highs = [float(one.get_highest_equivalent_value(int(low))) for low in lows]
        log.append((float(second), np.array(highs), counts))
    merged = by_second(log, len(rows)).merged(Seconds(0, len(rows)))
    if not whole.get_total_count():
        assert merged.quantile(share) is None
        return
    assert merged.count == whole.get_total_count()
    assert merged.quantile(share) == percentiles(whole, [share * 100])[0]


@given(st.lists(st.integers(0, 700), min_size=1, max_size=40), st.data())
def test_slices_cover_a_window_and_hold_enough(counts: list[int], data: st.DataObject) -> None:
    table = BySecond(np.array([1e6]), np.array(counts, dtype=np.int64)[:, None])
    first = data.draw(st.integers(0, len(counts)))
    window = Seconds(first, data.draw(st.integers(first, len(counts))))
    found = table.slices(window)
    assert all(table.merged(one).count >= 1000 for one in found)
    assert bool(found) == (table.merged(window).count >= 1000)
    if found:
        assert (found[0].first, found[-1].end) == (window.first, window.end)
        assert all(a.end == b.first for a, b in itertools.pairwise(found))


def test_a_p99_needs_a_thousand_operations() -> None:
    assert level([1.0], 999).merged(Seconds(0, 1)).p99_ns is None
    assert level([1.0], 1000).merged(Seconds(0, 1)).p99_ns == 1e6


def test_excess_is_the_area_above_what_was_before() -> None:
    table = level(stepped(3.0, 2.0, 0.5), operations=2000)
    # 60 s x 2,000 operations x 2 ms, and 30 s x 2,000 x 1 ms; what is faster afterwards makes up for nothing
    assert impact.excess_s(table, Seconds(0, 60), Seconds(60, 300)) == pytest.approx(240 + 60)
    assert impact.excess_s(table, Seconds(0, 60), Seconds(60, 120)) == pytest.approx(240)
    assert impact.excess_s(table, Seconds(0, 0), Seconds(60, 120)) is None


@given(st.lists(st.floats(0.1, 50), min_size=4, max_size=30), st.floats(1.0, 10.0))
def test_excess_scales_with_time_and_is_never_below_zero(ms: list[float], scale: float) -> None:
    before, rest = Seconds(0, 2), Seconds(2, len(ms))
    once = impact.excess_s(level(ms), before, rest)
    assert once is not None
    assert once >= 0
    scaled = impact.excess_s(level([one * scale for one in ms]), before, rest)
    assert scaled == pytest.approx(once * scale, rel=1e-6, abs=1e-9)


def test_an_action_without_effect_has_no_impact() -> None:
    quiet = drawn([1.0] * 300, seed=1)
    found = impact.compared(quiet, quiet, AROUND.before, Seconds(60, 300))
    assert (found.impact_s, found.impact_share) == (0.0, 0.0)
    assert found.control_above == pytest.approx(0.01, abs=0.002)


def test_impact_is_less_the_controls_own() -> None:
    own, control = level(stepped(3.0, 1.0, 1.0)), level(stepped(1.5, 1.0, 1.0))
    found = impact.compared(own, control, AROUND.before, Seconds(60, 120))
    assert (found.excess_s, found.control_excess_s) == (pytest.approx(120), pytest.approx(30))
    assert found.impact_s == pytest.approx(90)
    assert found.above == 1.0
    assert found.impact_share == pytest.approx(1.0)


def test_worst_spread_and_time_outside() -> None:
    table = level([1.0, 2.0, 4.0, 1.0])
    every = Seconds(0, 4)
    assert impact.worst(table, every) == impact.Worst(4e6, 2, 3)
    assert impact.spread(table, every) == pytest.approx(np.std([1, 2, 4, 1]) / 2.0)
    assert impact.outside_s(table, every, 1.9e6) == 2
    assert impact.worst(level([1.0], 10), Seconds(0, 1)) is None


def test_few_operations_that_waited_long_are_felt() -> None:
    counts = np.array([[1000, 0], [1000, 0], [0, 10]])
    table = BySecond(np.array([1e6, 1e9]), counts)
    assert impact.excess_s(table, Seconds(0, 2), Seconds(2, 3)) == pytest.approx(10 * 0.999)
    assert impact.outside_s(table, Seconds(2, 3), 5e6) is None


def test_the_outcome_does_not_choose_where_the_worst_is_looked_for() -> None:
    late = [1.0] * 60 + [2.0] * 60 + [1.0] * 150 + [9.0] + [1.0] * 29
    counts = {name: np.zeros(300) for name in ("due", "done", "ok", "failed", "stale", "lost", "not_yet")}
    nothing = pl.DataFrame(schema={"phase": pl.String, "second": pl.Int64, "coordinator": pl.String,
                                   "failed": pl.Int64, "failures": pl.String})  # fmt: skip
    phase = Measured("run", START_NS, False, {"TOTAL": level(late)}, {}, counts, nothing, pl.DataFrame())
    found = effect(phase, AROUND)
    assert found.felt == Seconds(60, 120)
    assert found.worst == impact.Worst(9e6, 270, 271)
    assert found.spread == pytest.approx(impact.spread(level(late), Seconds(60, 300)))


def test_felt_lasts_until_it_is_steady_again() -> None:
    assert impact.felt(AROUND, Elapsed(95.5)) == Seconds(60, 156)
    assert impact.felt(AROUND, Elapsed(0.0)) == Seconds(60, 120)
    assert impact.felt(AROUND, Elapsed(240.0, reached=False)) == impact.felt(AROUND, None) == Seconds(60, 300)


def test_steady_again_when_the_new_level_begins() -> None:
    found = steady_again(drawn(stepped(2.0, 1.5, 0.8)), AROUND)
    assert found is not None
    assert found.reached
    assert found.seconds == pytest.approx(90, abs=3)


def test_a_change_of_the_tail_alone_is_seen() -> None:
    slow = drawn([1.0] * 300)
    tail = slow.counts.copy()
    at = len(slow.values_ns) - 1
    for second in range(60, 150):  # three in a hundred are as slow as the slowest
        moved = 30 * np.minimum(tail[second], 1).cumsum().clip(max=1)[at]
        tail[second, int(tail[second].argmax())] -= moved
        tail[second, at] += moved
    found = steady_again(BySecond(slow.values_ns, tail), AROUND)
    assert found is not None
    assert found.seconds == pytest.approx(90, abs=3)


def test_steady_again_at_once_where_nothing_changed() -> None:
    assert steady_again(level([1.0] * 300), AROUND) == Elapsed(0.0)


def test_not_steady_again_in_time_is_censored() -> None:
    late = [1.0] * 60 + [3.0] * 190 + [1.0] * 50
    assert steady_again(drawn(late), AROUND) == Elapsed(240.0, reached=False)
    endless = around_all([action("a", 60, 90, "limit")], START_NS, 300)
    assert endless is not None
    assert steady_again(level([1.0] * 300), endless) == Elapsed(240.0, reached=False)


def test_too_little_afterwards_tells_nothing() -> None:
    short = Windows(Seconds(0, 60), Seconds(60, 120), Seconds(120, 130), 60.0, 120.0, True)
    assert steady_again(level([1.0] * 130), short) is None


def test_a_closed_loop_is_asked_for_its_throughput_too() -> None:
    rate = np.array([100.0] * 60 + [40.0] * 100 + [100.0] * 140)
    found = steady_again(level([1.0] * 300), AROUND, rate)
    assert found is not None
    assert found.seconds == pytest.approx(100, abs=3)


def test_a_loop_that_stands_still_is_not_steady_again() -> None:
    assert level_again(np.array([100.0] * 60 + [0.0] * 40), 60) is None
    rate = np.array([100.0] * 60 + [0.0] * 240)
    assert steady_again(level([1.0] * 300), AROUND, rate) == Elapsed(240.0, reached=False)


def test_an_excursion_belongs_to_the_level() -> None:
    series = np.ones(100)
    series[40:45] = 3.0
    assert level_again(series, 60) == 45
    series[80:85] = 3.0  # such are of the new steady state
    assert level_again(series, 60) == 0


def test_a_disturbance_is_no_excursion() -> None:
    """Felt only from the sixth slice on, and for less than a tenth of the rest."""
    series = np.ones(103)
    series[5:13] = 3.0
    assert level_again(series, 51) == 13


def counts(due: list[float], done: list[float]) -> dict[str, np.ndarray]:
    zeros = np.zeros(len(due))
    named = {"due": np.array(due), "done": np.array(done), "ok": np.array(done), "failed": zeros}
    return named | {"stale": zeros, "lost": zeros, "not_yet": zeros}


def test_lost_operations_are_those_not_done_when_due() -> None:
    found = counts([10, 10, 10, 10], [10, 4, 16, 10])
    assert losses.lost_operations(found, Seconds(0, 4)) == 6
    assert losses.lost_operations(found, Seconds(2, 4)) == 0


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=2, max_size=20), st.data())
def test_losses_of_neighbours_add_up(rows: list[tuple[int, int]], data: st.DataObject) -> None:
    found = counts([float(a) for a, _ in rows], [float(b) for _, b in rows])
    cut = data.draw(st.integers(0, len(rows)))
    whole = losses.lost_operations(found, Seconds(0, len(rows)))
    parts = [losses.lost_operations(found, Seconds(*ends)) for ends in ((0, cut), (cut, len(rows)))]
    assert whole == sum(parts)
    assert whole >= max(sum(a - b for a, b in rows), 0)


def test_failures_by_window_coordinator_and_kind() -> None:
    told: list[tuple[int, str, dict[str, int]]] = [
        (10, "a:1", {"timeout": 1}), (70, "b:1", {"timeout": 2, "overloaded": 1}),
        (71, "b:1", {"timeout": 3}), (400, "b:1", {"timeout": 9}),
    ]  # fmt: skip
    rows = pl.DataFrame(
        [("run", s, n, sum(f.values()), json.dumps(f)) for s, n, f in told],
        schema=["phase", "second", "coordinator", "failed", "failures"], orient="row",
    )  # fmt: skip
    found = losses.failures(rows, "run", AROUND)
    assert [(f.window, f.coordinator, f.kind, f.attempts) for f in found] == [
        ("before", "a:1", "timeout", 1), ("during", "b:1", "overloaded", 1), ("during", "b:1", "timeout", 5),
    ]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "copies", "share"), [
    (3, 4, 3, 1 / 4), (3, 4, 1, 1 / 4), (3, 6, 3, 1 / 2), (4, 3, 3, 1 / 4), (1, 2, 3, 1.0), (2, 1, 3, 0.0),
    (3, 3, 3, 0),
])  # fmt: skip
def test_the_least_that_must_move(before: int, after: int, copies: int, share: float) -> None:
    assert least_bytes(1200.0, before, after, copies) == pytest.approx(1200 * share)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 5))
def test_no_more_than_all_copies_can_have_to_move(before: int, after: int, copies: int) -> None:
    least = least_bytes(1.0, before, after, copies)
    held = min(copies, after) / min(copies, before)  # all copies afterwards
    assert 0 <= least <= held + 1e-9
    if min(before, after) >= copies:
        assert least == pytest.approx(abs(after - before) / max(before, after))


def test_gain_against_the_ideal() -> None:
    found = gain(1000.0, 1200.0, 3, 4)
    assert found is not None
    assert (found.ratio, found.share) == (pytest.approx(1.2), pytest.approx(0.6))
    assert gain(None, 1200.0, 3, 4) is None
    assert gain(4000.0, 3000.0, 4, 3).share == pytest.approx(1.0)  # type: ignore[union-attr]


def machine(busy: list[float], stolen: list[float]) -> pl.DataFrame:
    rows = [
        {"t_ns": START_NS + n * 10**9, "source": "machine", "metric": metric, "value": value}
        for metric, rate in (("cpu_seconds_total", busy), ("cpu_steal_seconds_total", stolen))
        for n, value in enumerate(np.cumsum([0.0, *rate]))
    ]
    return pl.DataFrame(rows)


def test_seconds_in_which_the_host_was_to_blame() -> None:
    system = machine([1.0, 1.95, 1.95, 0.5], [0.0, 0.0, 0.1, 0.0])
    assert host(system, START_NS, Seconds(0, 4), 2) == Host(4.0, 2.0, 1.0)
    assert host(system, START_NS, Seconds(3, 4), 2) == Host(1.0, 0.0, 0.0)
    assert host(system, START_NS, Seconds(0, 4), None) is None
    assert host(system.clear(), START_NS, Seconds(0, 4), 2) is None


def test_a_node_that_joined_late_is_averaged_over_the_whole() -> None:
    from steelyard.analysis.counters import Window

    end_ns = START_NS + 100 * 10**9
    late = [(START_NS + s * 10**9, "node4", "cpu_seconds_total", 7.0 + (s - 70)) for s in range(70, 101)]
    system = pl.DataFrame(late, schema=["t_ns", "source", "metric", "value"], orient="row")
    assert Window(system, START_NS, end_ns).rate("node4", "cpu_seconds_total") is None
    found = covered(system, ["node4"], START_NS, end_ns)
    assert Window(found, START_NS, end_ns).rate("node4", "cpu_seconds_total") == pytest.approx(0.3)
    assert covered(system, [], START_NS, end_ns).equals(system)


def judged(reached: bool | None, drift: float = 0.0, warm_up_s: float = 0.0) -> Steady:
    return Steady("throughput", 100, reached is None, reached, warm_up_s, drift, mean=5.0, half_width=0.1)


def test_the_worse_window_decides() -> None:
    assert of_windows(None, None) is None
    for before, after, word in (
        (True, True, "steady"), (True, False, "no steady state"), (None, True, "too short"),
        (None, False, "no steady state"),
    ):  # fmt: skip
        found = of_windows(judged(before), judged(after))
        assert found is not None
        assert found.word == word
        assert found.mean is None
        assert found.false_alarms == pytest.approx(0.1)  # 100 intervals each: 5 % and 5 %


def test_of_an_action_at_the_start_one_window_is_left_and_has_a_mean() -> None:
    after = replace(judged(False), batches=(0.9, 1.1))
    found = of_windows(None, after)
    assert found == replace(after, measure="throughput after the action", alarms=after.false_alarms)


def test_recovery_is_no_warm_up() -> None:
    found = of_windows(judged(True, warm_up_s=2.0), judged(True, drift=0.2, warm_up_s=40.0))
    assert found is not None
    assert (found.warm_up_s, found.drift, found.measure) == (2.0, 0.2, "throughput after the action")
    assert found.intervals == 200


def succeeded(rate: list[float], due: list[float] | None = None) -> dict[str, np.ndarray]:
    return {"ok": np.array(rate), "due": np.array(due or [100.0] * len(rate))}


def test_recovered_when_as_much_succeeds_as_before() -> None:
    found = succeeded([100.0] * 60 + [66.0] * 33 + [100.0] * 207)
    assert recovered(found, AROUND, closed=False) == Elapsed(33.0)
    assert recovered(found, AROUND, closed=True) == Elapsed(33.0)


def test_recovered_at_once_where_nothing_was_missed() -> None:
    assert recovered(succeeded([100.0, 92.0] * 150), AROUND, closed=True) == Elapsed(0.0)


def test_recovered_for_good() -> None:
    again = [100.0] * 60 + [0.0] * 10 + [100.0] * 50 + [80.0] * 10 + [100.0] * 170
    assert recovered(succeeded(again), AROUND, closed=False) == Elapsed(70.0)
    never = succeeded([100.0] * 60 + [80.0] * 240)
    assert recovered(never, AROUND, closed=False) == Elapsed(240.0, reached=False)


def test_what_is_caught_up_in_a_burst_was_missed_all_the_same() -> None:
    burst = [100.0] * 60 + [0.0] * 3 + [400.0] + [100.0] * 236
    assert recovered(succeeded(burst), AROUND, closed=False) == Elapsed(3.0)


def test_dips_that_there_were_before_are_let_pass() -> None:
    dips = [100.0] * 40 + [50.0] * 8 + [100.0] * 12 + [0.0] * 20 + [100.0] * 120 + [50.0] * 8 + [100.0] * 92
    assert recovered(succeeded(dips), AROUND, closed=True) == Elapsed(20.0)


def test_a_load_that_falls_is_no_loss() -> None:
    falling = [100.0] * 100 + [10.0] * 200
    assert recovered(succeeded(falling, falling), AROUND, closed=False) == Elapsed(0.0)
    assert recovered(succeeded(falling), AROUND, closed=True) == Elapsed(240.0, reached=False)


def test_seconds_of_few_operations_are_taken_together() -> None:
    """Of two a second five hundred seconds would be needed."""
    assert recovered(succeeded([2.0] * 300, [2.0] * 300), AROUND, closed=False) is None
    thin = succeeded([20.0, 0.0] * 150, [10.0] * 300)
    assert recovered(thin, AROUND, closed=False) == Elapsed(0.0)


def test_where_nothing_was_done_before_nothing_is_recovered() -> None:
    assert recovered(succeeded([0.0] * 60 + [100.0] * 240), AROUND, closed=False) is None
