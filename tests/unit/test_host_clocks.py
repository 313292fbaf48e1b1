"""Clocks of other machines: the true offset is within the bound, and times are told there and back."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.clock import Clock, Exchange, Offset, offset_of

NS = 1_000_000_000
offsets = st.integers(-10_000 * NS, 10_000 * NS)
delays = st.integers(0, NS)
times = st.integers(20_000 * NS, 40_000 * NS)


@given(offsets, st.lists(st.tuples(times, delays, delays), min_size=1))
def test_the_true_offset_is_within_the_bound(offset: int, ways: list[tuple[int, int, int]]) -> None:
    """However long the way there and the way back took, and however they differ."""
    exchanges = [Exchange(sent, sent + out + offset, sent + out + back) for sent, out, back in ways]
    found = offset_of(exchanges)
    assert abs(found.offset_ns - offset) <= found.bound_ns + 1
    assert found.bound_ns <= (min(out + back for _, out, back in ways) + 1) // 2


def test_what_one_exchange_leaves_another_narrows() -> None:
    """The one was slow on its way there, the other on its way back."""
    offset = 5000
    there_slow, back_slow = Exchange(0, 100 + offset, 110), Exchange(200, 210 + offset, 310)
    assert offset_of([there_slow, back_slow]) == Offset(155, offset, 10)


def test_of_exchanges_that_contradict_each_other_the_shortest_counts() -> None:
    assert offset_of([Exchange(0, 5000, 100), Exchange(200, 6200, 220)]) == Offset(210, 5990, 10)


def test_no_exchange_is_no_offset() -> None:
    with pytest.raises(ValueError, match="empty"):
        offset_of([])


measured = st.lists(
    st.tuples(st.integers(1, 1000), st.integers(-100_000, 100_000)), min_size=1, max_size=6
)  # fmt: skip


@given(offsets, measured, times)
def test_there_and_back(offset: int, steps: list[tuple[int, int]], at_ns: int) -> None:
    clock, now = Clock(), 20_000 * NS
    for seconds, more_ns in steps:
        now, offset = now + seconds * NS, offset + more_ns
        clock.note(Offset(now, offset, 1000))
    assert abs(clock.here(clock.there(at_ns)) - at_ns) <= 1
    assert clock.there(at_ns) < clock.there(at_ns + 10)


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=5), st.integers(0, 100))
def test_between_two_measurements_the_offset_is_between_theirs(found: list[int], percent: int) -> None:
    points = [Offset(n * NS, offset, 10) for n, offset in enumerate(found)]
    clock = Clock(points)
    for one, other in pairwise(points):
        at_ns = one.at_ns + (other.at_ns - one.at_ns) * percent // 100
        low, high = sorted((one.offset_ns, other.offset_ns))
        assert low <= clock.there(at_ns) - at_ns <= high
    assert clock.there(-NS) == -NS + found[0]
    assert clock.there(100 * NS) == 100 * NS + found[-1]


def test_a_clock_that_was_never_measured_is_ours() -> None:
    said = {"event": "interval", "t_ns": 5}
    assert (Clock().there(7), Clock().here(7), Clock().bound_ns, Clock().drift_ppm) == (7, 7, 0, None)
    assert Clock().translated(said) == said


def test_drift_is_what_it_gains_on_ours() -> None:
    clock = Clock([Offset(0, 100, 5), Offset(10 * NS, 100 + 200_000, 9)])
    assert clock.drift_ppm == pytest.approx((20.0, 14 / 10_000))
    assert clock.bound_ns == 9
    assert clock.since(NS).measured == (Offset(10 * NS, 200_100, 9),)


def test_times_are_translated_and_spans_are_not() -> None:
    clock = Clock([Offset(0, 1000, 5)])
    summary = {"start_ns": 3000, "end_ns": 4000, "window_end_ns": 4000, "cpu_user_ns": 77, "seconds": 1.0}
    said = {"event": "phase_end", "t_ns": 5000, "start_ns": 3000, "summary": summary, "late_max_ns": 9}
    assert clock.translated(said) == {
        "event": "phase_end", "t_ns": 4000, "start_ns": 2000, "late_max_ns": 9,
        "summary": {
            "start_ns": 2000, "end_ns": 3000, "window_end_ns": 3000, "cpu_user_ns": 77, "seconds": 1.0,
        },
    }  # fmt: skip
