"""Controllers on series as they are recorded: what they decide, and when they keep still."""

from __future__ import annotations

import math

import pytest

from steelyard.lab.timeline.controllers import Controller, Rule

RULE = Rule(above=0.8, below=0.3, window_s=10, cool_down_s=20, least=1, most=3)
JOINING_S = 15


def played(rule: Rule, demand: list[float | None], nodes: int = 1) -> list[tuple[int, str]]:
    """Decisions over a recorded demand (node-seconds of CPU a second); a change takes 15 s."""
    controller, done_at, told = Controller(rule, nodes), None, []
    for t, asked in enumerate(demand):
        if done_at == t:
            controller.changed(t, controller.nodes + (1 if told[-1][1] == "add" else -1))
        share = None if asked is None else min(asked / controller.nodes, 1.0)
        if decision := controller.second(t, share):
            told.append((t, decision))
            done_at = t + JOINING_S
    return told


def test_a_load_within_the_bounds_changes_nothing() -> None:
    assert played(RULE, [0.5] * 300) == []


def test_it_decides_when_the_window_is_full_and_waits_for_the_end_and_the_cool_down() -> None:
    # 1.5 nodes' worth: one is too few, two are right
    assert played(RULE, [1.5] * 300) == [(9, "add")]
    # 3 nodes' worth: again 15 s of joining and 20 s of quiet later
    assert played(RULE, [3.0] * 300) == [(9, "add"), (9 + JOINING_S + 20, "add")]


def test_no_more_than_the_most_and_no_fewer_than_the_least() -> None:
    assert [d for _, d in played(RULE, [9.0] * 900)] == ["add", "add"]
    assert [d for _, d in played(RULE, [0.1] * 900, nodes=3)] == ["remove", "remove"]


def test_a_spike_shorter_than_the_window_is_ridden_out() -> None:
    assert played(RULE, [0.5] * 60 + [1.0] * 5 + [0.5] * 60) == []


def test_a_daily_curve_is_followed_up_and_down_without_swinging() -> None:
    rule = Rule(above=0.8, below=0.3, window_s=60, cool_down_s=120, least=1, most=4)
    day = [1.2 - 1.1 * math.cos(2 * math.pi * t / 3600) for t in range(3600)]
    decisions = [decision for _, decision in played(rule, list(day))]
    assert decisions == sorted(decisions)  # all up, then all down
    assert set(decisions) == {"add", "remove"}


def test_what_is_not_known_decides_nothing() -> None:
    assert played(RULE, [None] * 300) == []
    assert played(RULE, [2.0, None, None, None] * 60) == []
    assert played(RULE, [2.0, 2.0, 2.0, 2.0, None] * 60)[0] == (9, "add")


def test_what_was_measured_before_a_change_does_not_count_after_it() -> None:
    controller = Controller(Rule(above=0.8, window_s=10, cool_down_s=0, most=3), 1)
    assert [controller.second(t, 1.0) for t in range(10)][-1] == "add"
    controller.changed(10, 2)
    assert controller.average is None
    assert [controller.second(t, 0.5) for t in range(10, 40)] == [None] * 30


def test_a_change_that_failed_is_tried_again_after_the_cool_down() -> None:
    controller = Controller(RULE, 1)
    assert [controller.second(t, 1.0) for t in range(10)][-1] == "add"
    controller.changed(10, 1)
    decided = [t for t in range(11, 60) if controller.second(t, 1.0)]
    assert decided[0] == 30


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"above": 0.5, "below": 0.5}, "it would swing"),
        ({"above": 0.5, "least": 3, "most": 2}, "enclose no number"),
        ({"above": 0.5, "window_s": 0}, "at least one second"),
    ],
)
def test_rules_that_cannot_work_are_refused(rule: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Rule(**rule)  # type: ignore[arg-type]
