"""Windows of whole seconds around actions: neighbours that leave nothing out and overlap nowhere."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from made_seconds import NS, START_NS, action, milestone

from steelyard.analysis.windows.milestones import Elapsed, joined, newcomers, passed, took, took_all, until
from steelyard.analysis.windows.spans import Seconds, around_all, around_each
from steelyard.results.actions import ActionTimes

END_NS = START_NS + 100 * NS


def test_a_second_in_which_it_starts_or_ends_belongs_to_it() -> None:
    found = around_all([action("a", 20.3, 41.5)], START_NS, 100.9)
    assert found is not None
    assert (found.before, found.during, found.after) == (Seconds(0, 20), Seconds(20, 42), Seconds(42, 100))
    assert (found.start_s, found.end_s, found.ended) == (20.3, 41.5, True)
    assert [found.of(s) for s in (0, 20, 41, 42, 99, 100)] == [
        "before",
        "during",
        "during",
        "after",
        "after",
        "",
    ]


def test_one_that_does_not_end_leaves_nothing_after() -> None:
    for how in ("limit", "unfinished", None):
        found = around_all([action("a", 20, 60, how)], START_NS, 100)
        assert found is not None
        assert (found.during, len(found.after), found.ended) == (Seconds(20, 100), 0, False)


def test_one_that_failed_has_ended() -> None:
    found = around_all([action("a", 20, 60, "failed")], START_NS, 100)
    assert found is not None
    assert found.after == Seconds(60, 100)


def test_an_instant_is_a_second() -> None:
    found = around_all([action("a", 20.0, 20.0)], START_NS, 100)
    assert found is not None
    assert found.during == Seconds(20, 21)


def test_warm_up_is_no_part_of_what_comes_before() -> None:
    found = around_all([action("a", 20, 30)], START_NS, 100, first=7)
    assert found is not None
    assert found.before == Seconds(7, 20)


def test_without_actions_in_the_phase_there_are_none() -> None:
    waiting = action("a", 20, None, None)
    assert around_all([], START_NS, 100) is None
    assert around_all([action("late", 100, 120), action("early", -3, 4)], START_NS, 100) is None
    assert around_all([type(waiting)("a", "add", requested_ns=START_NS)], START_NS, 100) is None


def test_each_has_what_lies_between_it_and_its_neighbours() -> None:
    both = around_each([action("b", 60, 70), action("a", 20, 30)], START_NS, 100)
    assert [(a.id, w.before, w.after) for a, w in both] == [
        ("a", Seconds(0, 20), Seconds(30, 60)),
        ("b", Seconds(30, 60), Seconds(70, 100)),
    ]


def test_what_overlaps_has_nothing_of_its_own_between() -> None:
    both = {a.id: w for a, w in around_each([action("a", 20, 50), action("b", 30, 40)], START_NS, 100)}
    assert len(both["b"].before) == len(both["b"].after) == 0
    assert (both["a"].before, both["a"].after) == (Seconds(0, 20), Seconds(50, 100))


@given(
    st.lists(st.tuples(st.floats(0, 120), st.floats(0, 60), st.sampled_from(["done", "limit"])), max_size=4),
    st.integers(1, 110),
    st.integers(0, 20),
)
def test_windows_are_neighbours(acting: list[tuple[float, float, str]], seconds: int, first: int) -> None:
    actions = [
        action(str(n), start, start + lasted, how)  # type: ignore[arg-type]
        for n, (start, lasted, how) in enumerate(acting)
    ]
    whole = around_all(actions, START_NS, seconds, first)
    for found in [
        *(w for _, w in around_each(actions, START_NS, seconds, first)),
        *([whole] if whole else []),
    ]:
        assert found.before.end == found.during.first <= found.during.end == found.after.first
        assert 0 <= found.before.first <= found.before.end
        assert found.after.first <= found.after.end <= seconds
    if whole:
        covered = len(whole.before) + len(whole.during) + len(whole.after)
        assert covered == seconds - min(first, whole.during.first)


ADD = action(
    "a", 20, 50, nodes=("node4", "node5"),
    milestones=tuple(
        milestone("a", node, what, at)
        for node, what, at in (
            ("node4", "up", 25), ("node5", "up", 27), ("node4", "joined", 40), ("node5", "joined", 48),
        )
    ),
)  # fmt: skip


def test_times_to_milestones() -> None:
    assert [(p.what, p.node, p.seconds) for p in passed(ADD)][:2] == [
        ("up", "node4", 5.0),
        ("up", "node5", 7.0),
    ]
    assert until([ADD], END_NS) == {"up": 7.0, "joined": 28.0}
    assert joined([ADD], END_NS) == Elapsed(28.0)
    assert took(ADD, END_NS) == Elapsed(30.0)
    assert took_all([ADD, action("b", 10, 30)], END_NS) == Elapsed(40.0)


def test_nodes_that_a_command_brought_are_told_by_the_cluster() -> None:
    command = action(
        "c", 20, 22, do="run",
        milestones=tuple(
            milestone("c", node, what, at)
            for node, what, at in (
                ("", "told", 22), ("n4", "normal", 40), ("n4", "joined", 50), ("n5", "normal", 41),
                ("n1", "assigned", 60),
            )
        ),
    )  # fmt: skip
    assert joined([command], END_NS) == Elapsed(80.0, reached=False), "n5 has not joined"
    assert until([command], END_NS) == {"told": 2.0, "normal": 21.0}
    later = milestone("c", "n5", "joined", 55)
    whole = replace(command, milestones=(*command.milestones, later))
    assert joined([whole], END_NS) == Elapsed(35.0)
    assert joined([replace(whole, undo=True)], END_NS) is None
    assert newcomers(whole) == {"n4", "n5"}


def test_taking_back_is_no_scaling_and_is_felt() -> None:
    back = replace(action("back", 60, 80, do="restart"), undo=True)
    assert took_all([ADD, back], END_NS) == Elapsed(30.0)
    found = around_all([ADD, back], START_NS, 100)
    assert found is not None
    assert found.during == Seconds(20, 80)
    late = replace(back, how="limit")
    assert took_all([ADD, late], END_NS, [ADD, late]) == Elapsed(30.0)
    assert took_all([back], END_NS) is None


def test_what_never_came_is_censored() -> None:
    half = action("a", 20, 60, "limit", nodes=("node4", "node5"), milestones=ADD.milestones[:3])
    assert joined([half], END_NS) == Elapsed(80.0, reached=False)
    assert until([half], END_NS) == {"up": 7.0}
    assert took(half, END_NS) == Elapsed(40.0, reached=False)
    assert took(action("a", 20, None, None), END_NS) == Elapsed(80.0, reached=False)
    assert took_all([ADD, half], END_NS) == Elapsed(40.0, reached=False)
    never = ActionTimes("b", "restart")
    assert took_all([ADD], END_NS, [ADD, never]) == Elapsed(30.0, reached=False)
    assert took_all([ADD], END_NS, [ADD]) == Elapsed(30.0)
    assert joined([action("a", 20, 30, do="remove")], END_NS) is None


def test_a_node_is_noticed_once() -> None:
    """A server that hangs is killed once it was noticed, and is still missed then."""
    hangs = action("hangs", 20, 33, do="freeze", nodes=("node2/regionserver",),
                   milestones=(milestone("hangs", "node2", "detected", 32),))  # fmt: skip
    dies = action("dies", 33, 36, do="kill", nodes=("node2/regionserver",),
                  milestones=(milestone("dies", "node2", "detected", 36),))  # fmt: skip
    other = action("other", 34, 50, do="kill", nodes=("node3",),
                   milestones=(milestone("other", "node3", "detected", 49),))  # fmt: skip
    assert until([hangs, dies], END_NS) == {"detected": 12.0}
    assert until([dies, hangs], END_NS) == {"detected": 12.0}
    assert until([hangs, dies, other], END_NS) == {"detected": 29.0}


def test_what_came_after_the_run_did_not_come() -> None:
    """The director waits for what is under way and keeps its milestones, with their times."""
    end_ns = START_NS + 45 * NS
    cut = replace(ADD, how="unfinished", ended_ns=end_ns)
    assert joined([cut], end_ns) == Elapsed(25.0, reached=False)
    assert until([cut], end_ns) == {"up": 7.0}
    assert until([cut], START_NS + 30 * NS) == {"up": 7.0}
    assert joined([cut], START_NS + 48 * NS) == Elapsed(28.0)
