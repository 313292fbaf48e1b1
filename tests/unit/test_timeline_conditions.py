"""When actions begin and end: pure state machines, told times and figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from steelyard.analysis.steady import Steady
from steelyard.lab.timeline.action_state import ActionState
from steelyard.lab.timeline.conditions import NS, After, Holds, IsSteady, Trigger
from steelyard.lab.timeline.figures import NodeFigures, Second, Seconds
from steelyard.results.actions import ActionRow, MilestoneRow
from steelyard.spec.actions import Action
from steelyard.spec.do_words import actions_of
from steelyard.spec.triggers import Figure


def second(number: int = 0, **figures: Any) -> Second:
    usual = {"rate_per_s": 100.0, "failed_per_s": 0.0, "p50_ms": 1.0, "p99_ms": 5.0}
    return Second(number, **{**usual, "in_flight": 1.0, "backlog": 0.0, **figures})


def action(text: str) -> Any:
    return TypeAdapter(Action).validate_python(actions_of([text])[0])


def trigger(text: str, *, began_ns: int = 0, paced: bool = True) -> Trigger:
    return Trigger(action(text), began_ns, paced=paced)


def state(text: str) -> ActionState:
    asked = action(text)
    return ActionState(asked, Trigger(asked, 0, paced=True))


# --- figures ---


def test_a_second_is_whole_when_every_engine_has_told_it() -> None:
    seconds = Seconds(2)
    first = {"second": 0, "done": 5, "failed": {"timeout": 1}, "response_p99_ns": 2e6, "in_flight": 1}
    other = {"second": 0, "done": 7, "failed": {}, "response_p99_ns": 9e6, "in_flight": 2}
    assert seconds.take({0: first}) is None
    assert seconds.take({0: {**first, "second": 1}}) is None  # the other is behind
    found = seconds.take({0: {**first, "second": 1}, 1: other})
    assert found == Second(0, 12.0, 1.0, None, 9.0, 3.0, 0.0)
    assert seconds.take({0: {**first, "second": 1}, 1: other}) is None  # told once
    assert seconds.take({0: {**first, "second": 1}, 1: {**other, "second": 1}}) is not None


def test_a_nodes_figure_is_a_level_or_the_rate_of_a_counter() -> None:
    samples = {("node1", "memory_bytes"): 7.0, ("node1", "cpu_seconds_total"): 10.0}
    figures = NodeFigures(lambda node, metric: samples.get((node, metric)))
    assert figures.get("node1", "memory_bytes", NS) == 7.0
    assert figures.get("node1", "cpu_cores", NS) is None  # of one sample nothing is known
    samples["node1", "cpu_seconds_total"] = 13.0
    assert figures.get("node1", "cpu_cores", 3 * NS) == 1.5
    assert figures.get("node1", "no_such", NS) is None
    samples["node1", "cpu_seconds_total"] = 0.5  # started again
    assert figures.get("node1", "cpu_cores", 4 * NS) is None


def test_a_sample_that_is_seen_twice_keeps_its_rate_for_a_while() -> None:
    samples = {("node1", "cpu_seconds_total"): 10.0}
    figures = NodeFigures(lambda node, metric: samples.get((node, metric)))
    values = (10.0, 10.0, 12.0, 12.0, 12.0, 15.0, 15.0, 15.0, 15.0, 15.0, 17.0)
    found: list[float | None] = []
    for second, value in enumerate(values):
        samples["node1", "cpu_seconds_total"] = value
        found.append(figures.get("node1", "cpu_cores", second * NS))
    assert found == [None, None, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0]


# --- conditions ---


def test_a_time_is_counted_from_the_start_of_the_run() -> None:
    assert trigger("30s flush wait=5s", began_ns=NS).due_ns == 36 * NS


def test_after_waits_for_the_end_of_that_action_and_keeps_its_time() -> None:
    after = After("join")
    after.ended("other", 5)
    assert after.since_ns is None
    after.ended("join", 7)
    after.ended("join", 9)
    assert after.since_ns == 7


@pytest.mark.parametrize(
    ("values", "since_s"),
    [
        ([9, 9, 9, 9], 3),
        ([9, 9, 4, 9, 9, 9, 9], 6),  # interrupted: counted anew
        ([9, 9, None, 9, 9, 9, 9], 6),  # what is not known does not hold
        ([5, 5, 5, 5, 5], None),  # at the bound is not above it
        ([9, 9, 9], None),
    ],
)
def test_a_figure_must_hold_without_interruption(values: list[float | None], since_s: int | None) -> None:
    holds = Holds(Figure.model_validate({"metric": "p99_ms", "above": 5, "for": 3}))
    for n, value in enumerate(values):
        holds.second(second(n, p99_ms=value), n * NS, {})
    assert holds.since_ns == (None if since_s is None else since_s * NS)


def test_what_has_come_true_stays_true() -> None:
    holds = Holds(Figure(metric="failed_per_s", above=0))
    holds.second(second(failed_per_s=3.0), NS, {})
    holds.second(second(), 2 * NS, {})
    assert holds.since_ns == NS


def test_a_figure_of_a_node_is_the_nodes() -> None:
    holds = Holds(Figure(metric="cpu_cores", node="node2", below=0.5))
    holds.second(second(), NS, {("node1", "cpu_cores"): 0.1, ("node2", "cpu_cores"): None})
    assert holds.since_ns is None
    holds.second(second(), 2 * NS, {("node2", "cpu_cores"): 0.1})
    assert holds.since_ns == 2 * NS


def steady_after(series: list[float], *, paced: bool = True) -> int | None:
    name = "p50_ms" if paced else "rate_per_s"
    found = IsSteady(paced=paced)
    for n, value in enumerate(series):
        found.second(second(n, **{name: value}), n, {})
    return found.since_ns


@pytest.mark.parametrize("paced", [True, False])
def test_steady_state_is_told_from_a_minute_on(paced: bool) -> None:
    level = list(10 + 0.2 * np.random.default_rng(7).standard_normal(300))
    assert steady_after(level[:59], paced=paced) is None
    assert steady_after(level, paced=paced) == 59


def test_what_still_rises_is_not_steady_and_a_warm_up_is_waited_for() -> None:
    noise = np.random.default_rng(7).standard_normal(300)
    rising = np.linspace(10, 40, 300) + 0.2 * noise
    assert steady_after(list(rising)) is None
    warming = np.where(np.arange(300) < 50, 60 - np.arange(300), 10.0) + 0.2 * noise
    since = steady_after(list(warming))
    assert since is not None
    assert since >= 2 * 50 - 1  # a cut in the last half is none


def test_steadiness_is_asked_again_with_each_batch_and_of_the_latest_ten_minutes() -> None:
    asked: list[int] = []

    def judge(series: Any, _measure: str) -> Steady:
        asked.append(series.size)
        return Steady("x", series.size, too_short=False, reached=False)

    found = IsSteady(paced=True, judge=judge)
    for n in range(700):
        found.second(second(n), n, {})
    assert asked == [*range(60, 601, 5), *[600] * 20]


def test_all_conditions_must_come_true() -> None:
    asked = action("10s flush").model_copy(update={"after": "x", "wait": 2})
    found = Trigger(asked, 0, paced=True)
    assert found.due_ns is None
    found.ended("x", 4 * NS)
    assert found.due_ns == 12 * NS


# --- the state of an action ---


def test_the_way_of_an_action() -> None:
    join = state("10s add nodes=1")
    assert not join.due(9 * NS)
    assert join.due(10 * NS)
    parameters = {"nodes": 1, "bootstrap": True, "balance": True, "local": False, "limited": True}
    assert join.requested(11) == [ActionRow("add", "add", "requested", 11, (), parameters)]
    assert not join.due(12 * NS)  # once
    assert join.started(13, ["node4"]) == [ActionRow("add", "add", "started", 13, ("node4",), parameters)]
    assert join.noted("node4", "up", 20) == [MilestoneRow("add", "node4", "up", 20)]
    assert join.doing(20 + 12 * NS) == "add: up 12 s"
    assert join.returned(30, 77) == [
        ActionRow("add", "add", "ended", 30, ("node4",), parameters, "done", bytes=77)
    ]
    assert join.ended
    assert join.failed(40, "too late to tell") == []


def test_a_milestone_that_all_nodes_have_passed_ends_it_and_later_ones_are_kept() -> None:
    join = state("0 add nodes=2 done=joined")
    join.requested(1)
    join.started(2, ["node4", "node5"])
    assert len(join.noted("node4", "joined", 3)) == 1
    _, ended = join.noted("node5", "joined", 4)
    assert isinstance(ended, ActionRow)
    assert (ended.how, ended.t_ns) == ("done", 4)
    assert join.noted("node5", "local", 9) == [MilestoneRow("add", "node5", "local", 9)]
    assert join.returned(10, 5) == [replace(ended, bytes=5)]  # told once more, at the same time


def test_a_milestone_that_never_came_is_a_failure() -> None:
    join = state("0 add done=assigned")
    join.requested(1)
    join.started(2, ["node4"])
    [ended] = join.returned(3, None)
    assert isinstance(ended, ActionRow)
    assert (ended.how, "'assigned' was not passed" in ended.reason) == ("failed", True)


def test_a_figure_that_must_hold_is_asked_for_from_the_systems_answer_on() -> None:
    kill = state("0 kill node=node1 done=p99_ms<50,2s")
    kill.requested(1)
    kill.started(2, ["node1"])
    assert kill.second(second(p99_ms=1.0), NS, {}) == []
    assert kill.returned(2 * NS, None) == []
    assert kill.stage == "settling"
    rows = [row for n in range(3, 7) for row in kill.second(second(p99_ms=1.0), n * NS, {})]
    assert [(row.how, row.t_ns) for row in rows if isinstance(row, ActionRow)] == [("done", 5 * NS)]


def test_past_its_limit_it_is_let_be() -> None:
    join = state("0 add limit=10s")
    join.requested(0)
    join.started(NS, ["node4"])
    assert join.late(11 * NS - 1) == []
    [ended] = join.late(11 * NS)
    assert isinstance(ended, ActionRow)
    assert (ended.how, ended.reason) == ("limit", "not done within 10 s")
    assert join.returned(99 * NS, 1) == []
    assert join.late(99 * NS) == []


def test_the_end_of_the_run_censors_what_is_under_way_and_what_never_came() -> None:
    join, never = state("0 add"), state("after:add flush")
    join.requested(0)
    for one, why in ((join, "the run ended first"), (never, "its condition had not come true")):
        [ended] = one.cut_short(5)
        assert isinstance(ended, ActionRow)
        assert (ended.how, why in ended.reason) == ("unfinished", True)
        assert one.cut_short(6) == []


def test_what_is_waited_for_is_said_until_its_time_is_known() -> None:
    assert state("steady add id=join").doing(0) == "join: once the run is steady"
    assert state("10s add").doing(0) == ""
