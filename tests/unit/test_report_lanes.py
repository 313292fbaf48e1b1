"""What nodes were over a phase, by actions and their milestones."""

from __future__ import annotations

from made_acted import one

from steelyard.analysis.windows.milestones import Elapsed, Passed
from steelyard.report.acted import Acted
from steelyard.report.timeline.lanes import State, lanes


def test_lanes_leave_nothing_out() -> None:
    acted = Acted((
        one(start_s=10.0, took=Elapsed(1.0)),
        one(id="b", do="restart", start_s=40.0, took=Elapsed(12.0), passed=(Passed("up", "node2", 5.0),)),
        one(id="c", do="add", nodes=("node4",), start_s=60.0, took=Elapsed(90.0, reached=False),
            passed=(Passed("streaming", "node4", 9.0),)),
    ))  # fmt: skip
    assert lanes(acted, ["node1", "node2"], 100) == [
        State("node1", 0, 100, "serves"),
        State("node2", 0, 10, "serves"), State("node2", 10, 40, "down"), State("node2", 40, 45, "restarting"),
        State("node2", 45, 52, "up"), State("node2", 52, 100, "serves"),
        State("node4", 0, 60, "not there"), State("node4", 60, 69, "starting"),
        State("node4", 69, 100, "streaming"),
    ]  # fmt: skip


def test_what_acts_on_all_shows_on_those_that_passed_something() -> None:
    whole = one(
        do="power-loss", nodes=(), start_s=10.0, took=Elapsed(5.0), passed=(Passed("up", "node1", 3.0),)
    )
    assert [s.state for s in lanes(Acted((whole,)), ["node1"], 100)] == [
        "serves", "without power", "up", "serves",
    ]  # fmt: skip


def test_of_a_cluster_of_others_is_shown_what_it_tells() -> None:
    told = (Passed("normal", "c", 5.0), Passed("joined", "c", 9.0), Passed("left", "b", 20.0))
    command = one(do="run", nodes=(), start_s=10.0, took=Elapsed(2.0), passed=told)
    assert lanes(Acted((command,)), ["a", "b"], 100, "belongs to it") == [
        State("a", 0, 100, "belongs to it"),
        State("b", 0, 30, "belongs to it"), State("b", 30, 100, "not there"),
        State("c", 0, 15, "not there"), State("c", 15, 19, "normal"), State("c", 19, 100, "belongs to it"),
    ]  # fmt: skip


def test_nodes_serve_before_and_after_their_turn_in_an_upgrade() -> None:
    turns = {"node1": 0.0, "node2": 10.0}
    steps = ("drained", "stopped", "serves", "assigned")
    passed = tuple(Passed(what, n, t + 1.0 + i) for n, t in turns.items() for i, what in enumerate(steps))
    whole = one(do="upgrade", nodes=(*turns,), start_s=10.0, took=Elapsed(20.0), passed=passed)
    assert lanes(Acted((whole,)), [*turns], 100) == [
        State("node1", 0, 11, "serves"), State("node1", 11, 12, "drained"), State("node1", 12, 13, "stopped"),
        State("node1", 13, 100, "serves"),
        State("node2", 0, 21, "serves"), State("node2", 21, 22, "drained"), State("node2", 22, 23, "stopped"),
        State("node2", 23, 100, "serves"),
    ]  # fmt: skip
