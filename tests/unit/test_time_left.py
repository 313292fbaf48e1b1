"""Time left: from the trials that have run, else from what was estimated."""

from __future__ import annotations

from steelyard.lab.time_left import TimeLeft
from steelyard.spec.units import about


def test_before_anything_was_measured_the_estimate_stands() -> None:
    assert TimeLeft({1: 10.0, 2: 20.0}, {1: 1, 2: 2}).left_s([1, 2]) == 30


def test_a_point_that_has_run_takes_as_long_again_and_others_in_proportion() -> None:
    time_left = TimeLeft({1: 10.0, 2: 10.0, 3: 20.0}, {1: 1, 2: 1, 3: 2})
    time_left.took(1, 30.0)
    assert time_left.left_s([2]) == 30
    assert time_left.left_s([3]) == 60
    assert time_left.left_s([]) == 0


def test_words() -> None:
    assert [about(s) for s in (7.4, 89, 120, 5000, 9000)] == [
        "about 7 s", "about 89 s", "about 2 min", "about 83 min", "about 2.5 h",
    ]  # fmt: skip
