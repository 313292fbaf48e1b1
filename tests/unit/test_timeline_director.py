"""A timeline carried out beside a phase: on a made-up testbed, by a loop that is the test itself."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import get_args

import psutil
import pytest
from played_timeline import LIMIT_S, NS, Growing, Play, wait_until

from steelyard.errors import InfrastructureError
from steelyard.lab.timeline import aftermath
from steelyard.lab.timeline.director import BUSY_S, IDLE_S
from steelyard.lab.timeline.perform import HOW
from steelyard.spec.actions import Action
from steelyard.systems.base import Death
from steelyard.systems.capabilities import CAPABILITIES


def test_every_action_that_can_be_said_can_be_done() -> None:
    models = get_args(get_args(Action)[0])
    assert {get_args(model.model_fields["do"].annotation)[0] for model in models} == HOW.keys()
    for capability in {name for model in models for name in model.model_construct().capabilities}:
        assert capability in CAPABILITIES


def test_an_action_begins_at_its_time_and_its_steps_are_kept(tmp_path: Path) -> None:
    play = Play(tmp_path, "10s add stream_mbit=40 id=join")
    play.at(9.9)
    assert play.bed.calls == []
    assert play.director.wait_s(play.now_ns) == pytest.approx(0.1)
    play.at(10)
    assert play.bed.streaming.wait(LIMIT_S)
    play.at(11)
    assert play.director.wait_s(play.now_ns) == BUSY_S
    assert play.director.doing(play.now_ns).startswith("join: streaming ")
    assert play.watch.told == [["node1", "node2", "node3", "node4"]]
    play.bed.go_on.set()
    play.settled()
    join = play.one("join")
    assert (join.requested_ns, join.nodes, join.how, join.bytes) == (
        play.began_ns + 10 * NS,
        ("node4",),
        "done",
        1000,
    )
    assert join.parameters["stream_mbit"] == 40
    assert [(m.node, m.what) for m in join.milestones] == [("node4", "streaming"), ("node4", "joined")]
    assert join.started_ns is not None
    assert join.ended_ns is not None
    assert join.started_ns <= join.milestones[0].t_ns <= join.milestones[1].t_ns <= join.ended_ns
    assert play.labels == ["join started", "join ended"]
    told = [(e["event"], e["detail"]) for e in play.manifest.timeline if e["event"] == "action"]
    assert told == [("action", "join: started: add node4"), ("action", "join: ended: done")]
    assert {"node4 answers", "join: node4 streaming"} <= set(play.show.lines)
    assert play.director.wait_s(play.now_ns) == IDLE_S
    assert play.manifest.warnings == []


def test_a_run_is_long_enough_so_long_after_its_last_action(tmp_path: Path) -> None:
    play = Play(tmp_path, "1s add id=join", "after:join remove wait=2s", rest_s=5)
    play.bed.go_on.set()
    told = {}
    for second in range(1, 12):
        play.at(second)
        assert play.director.join(LIMIT_S) == []
        told[second] = play.director.enough(play.now_ns)
    joined, left = play.kept().each()
    assert (joined.how, left.how) == ("done", "done")
    assert play.began_ns + 2 * NS < (left.requested_ns or 0) < play.began_ns + 4 * NS
    assert told == {second: second >= 4 + 5 for second in told}, "4 s: the first turn that knows of its end"


def test_a_run_goes_on_if_nobody_said_how_long_is_enough(tmp_path: Path) -> None:
    play = Play(tmp_path, "0 flush")
    play.at(0)
    play.settled()
    play.at(10_000)
    assert not play.director.enough(play.now_ns)


def test_one_follows_another(tmp_path: Path) -> None:
    play = Play(tmp_path, "0 add nodes=2 id=join", "after:join remove nodes=2", "after:remove flush")
    play.bed.go_on.set()
    play.at(0)
    play.settled()
    play.settled()
    play.settled()
    assert play.bed.calls == [
        ("add", "node4", "node5", None), ("remove", "node5", "node4"),
        ("flush", "node1"), ("flush", "node2"), ("flush", "node3"),
    ]  # fmt: skip
    assert [action.how for action in play.kept().each()] == ["done"] * 3


def test_a_milestone_lets_the_next_begin_and_the_bytes_are_kept_when_they_are_known(tmp_path: Path) -> None:
    play = Play(tmp_path, "0 add id=join done=streaming", "after:join flush node=node1")
    play.at(0)
    assert play.bed.streaming.wait(LIMIT_S)
    play.at(LIMIT_S)
    assert (play.one("join").how, play.one("join").bytes) == ("done", None)
    play.bed.go_on.set()
    play.settled()
    join = play.one("join")
    assert (join.bytes, join.ended_ns) == (1000, join.milestones[0].t_ns)
    assert [label for label in play.labels if label == "join ended"] == ["join ended"]
    assert play.one("flush").how == "done"


def test_a_node_that_cannot_answer_is_waited_for_until_the_others_miss_it(tmp_path: Path) -> None:
    play = Play(tmp_path, "0 freeze node=node2")
    play.at(0)
    play.settled()
    assert [(m.node, m.what) for m in play.one("freeze").milestones] == [
        ("node2", "frozen"),
        ("node2", "detected"),
    ]
    assert play.bed.calls.count(("missed", "node2")) == 3


@pytest.mark.parametrize(
    ("dead", "how", "reason"),
    [
        ("node2/regionserver", "failed", "node2/regionserver did not come back: ABORTING"),
        ("node2", "failed", "node2 did not come back: ABORTING"),
        ("node1", "done", ""),
    ],
)
def test_a_node_that_died_meanwhile_does_not_come_back(
    tmp_path: Path, dead: str, how: str, reason: str
) -> None:
    play = Play(tmp_path, "0 heal node=node2")
    play.bed.deaths = [Death(dead, "ABORTING", 1)]
    play.bed.missed = lambda node: play.bed.calls.append(("missed", node)) or len(play.bed.calls) < 5  # type: ignore[method-assign, func-returns-value]
    play.at(0)
    play.settled()
    assert (play.one("heal").how, play.one("heal").reason) == (how, reason)


@pytest.mark.parametrize("what", ["restart node=node2", "resize node=node2 cpu=1 restart=true"])
def test_a_node_that_was_restarted_serves_when_the_others_count_it_again(tmp_path: Path, what: str) -> None:
    play = Play(tmp_path, f"0 {what}")
    play.bed.missed = lambda node: play.bed.calls.append(("missed", node)) or len(play.bed.calls) < 4  # type: ignore[method-assign, func-returns-value]
    play.at(0)
    play.settled()
    assert play.bed.calls == [("restart", "node2"), *[("missed", "node2")] * 3]
    [action] = play.kept().each()
    assert (action.how, action.milestones[-1].what) == ("done", "serves")
    assert [m.what for m in action.milestones].count("serves") == 1


def test_a_node_that_was_restarted_alone_serves_when_it_answers(tmp_path: Path) -> None:
    play = Play(tmp_path, "0 restart node=node1 done=serves")
    play.bed.names = ["node1"]
    play.at(0)
    play.settled()
    assert (play.one("restart").how, play.bed.calls) == ("done", [("restart", "node1")])


def test_a_node_that_nobody_counts_is_not_waited_for(tmp_path: Path) -> None:
    play = Play(tmp_path, "0 freeze node=master1")
    play.at(0)
    play.settled()
    assert play.bed.calls == [("freeze", "master1")]
    assert [m.what for m in play.one("freeze").milestones] == ["frozen"]


class Regions(Growing):
    """What a node serves is taken over by others: nine regions, of which a third are nobody's for a while."""

    capabilities = frozenset({"detect", "reassign"})

    def __init__(self, *counts: int) -> None:
        super().__init__()
        self.counts = iter(counts)

    def missed(self, node: str) -> bool:
        return ("freeze", node) in self.calls

    def served(self) -> int:
        """As many as the test says; once it says no more, the node that is counted does not answer."""
        self.calls.append(("served",))
        if (count := next(self.counts)) < 0:
            raise InfrastructureError("node2 does not answer")
        return count


@pytest.fixture
def asked_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aftermath, "ASK_EVERY_S", 0.001)


@pytest.mark.usefixtures("asked_often")
def test_what_a_node_served_is_followed_until_others_serve_it(tmp_path: Path) -> None:
    play = Play(tmp_path, "0 freeze node=node2", bed=Regions(9, -1, 6, 9))
    play.at(0)
    play.settled()
    frozen = play.one("freeze")
    assert [(m.node, m.what) for m in frozen.milestones] == [
        ("node2", "frozen"),
        ("node2", "detected"),
        ("node2", "reassigned"),
    ]
    assert frozen.ended_ns is not None
    assert frozen.ended_ns < frozen.milestones[-1].t_ns, "the action had ended before"


def test_a_node_that_is_missed_already_loses_nothing_more(tmp_path: Path) -> None:
    bed = Regions()
    bed.calls.append(("freeze", "node2"))
    play = Play(tmp_path, "0 freeze node=node2", bed=bed)
    play.at(0)
    play.settled()
    assert [m.what for m in play.one("freeze").milestones] == ["frozen", "detected"]
    assert ("served",) not in bed.calls


@pytest.mark.usefixtures("asked_often")
def test_the_end_of_the_run_ends_the_following(tmp_path: Path) -> None:
    play = Play(tmp_path, "0 freeze node=node2", bed=Regions(9, *[6] * 100_000))
    play.at(0)
    wait_until(lambda: "freeze ended" in play.labels_now())
    play.director.end(play.began_ns + 6 * NS)
    assert play.director.join(LIMIT_S) == []
    assert [m.what for m in play.one("freeze").milestones] == ["frozen", "detected"]


@pytest.mark.parametrize("alone", [True, False])
def test_where_nobody_is_left_to_notice_nothing_is_waited_for(tmp_path: Path, alone: bool) -> None:
    play = Play(tmp_path, "0 freeze node=node1")
    if alone:
        play.bed.names = ["node1"]
    else:
        play.bed.serves = lambda: False  # type: ignore[method-assign]
    play.at(0)
    play.settled()
    assert [m.what for m in play.one("freeze").milestones] == ["frozen"]


def test_what_fails_is_recorded_and_the_others_go_on(tmp_path: Path) -> None:
    play = Play(tmp_path, "0 kill node=node1", "after:kill add nodes=3", "0 balance", "after:add flush")
    play.at(0)
    for _ in range(3):
        play.settled()
    assert [(a.id, a.how, a.reason) for a in play.kept().each()] == [
        ("kill", "failed", "it is dead already"),
        ("balance", "failed", "a fault: ZeroDivisionError()"),
        ("add", "failed", "3 nodes are wanted, and 2 are in reserve"),
        ("flush", "done", ""),
    ]
    assert {"kind": "action", "text": "kill: ended: failed: it is dead already"} in play.manifest.warnings


def test_the_end_of_the_run_makes_the_rest_unfinished(tmp_path: Path) -> None:
    play = Play(tmp_path, "0 add", "after:add flush", "5s run -- sleep 1000", "900s flush id=late")
    play.at(0)
    play.at(5)
    assert play.bed.streaming.wait(LIMIT_S)
    play.director.end(play.began_ns + 6 * NS)
    found = {action.id: action for action in play.kept().each()}
    assert {id_: action.how for id_, action in found.items()} == dict.fromkeys(
        ("add", "flush", "run", "late"), "unfinished"
    )
    assert found["late"].requested_ns is None
    play.bed.go_on.set()  # what still runs is waited for, and tells nothing more but milestones
    assert play.director.join(LIMIT_S) == []
    assert play.kept().milestones[-1].what == "joined"
    assert [row.state for row in play.kept().rows].count("ended") == 4
    assert not [p for p in psutil.Process().children(recursive=True) if "sleep" in p.name()]


@pytest.mark.parametrize("what", ["flush", "resize cpu=1", "restart rolling=true"])
def test_when_the_run_is_over_no_further_node_is_touched(tmp_path: Path, what: str) -> None:
    play = Play(tmp_path, f"0 {what}")
    touched: list[str] = []

    def touch(name: str, *_: object) -> None:
        touched.append(name)
        play.director.end(play.now_ns)

    setattr(play.bed, what.split(maxsplit=1)[0], touch)
    play.at(0)
    assert play.director.join(LIMIT_S) == []
    assert touched == ["node1"]


def test_an_action_whose_thread_cannot_start_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = Play(tmp_path, "0 flush")

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RuntimeError, match="new thread"):
        play.at(0)
    assert play.director.join(0) == []


def test_past_its_limit_an_action_is_let_be_and_the_next_begins(tmp_path: Path) -> None:
    play = Play(tmp_path, "0 add limit=10s", "after:add flush node=node1")
    play.at(0)
    assert play.bed.streaming.wait(LIMIT_S)
    play.at(1)
    started_ns = play.one("add").started_ns
    assert started_ns is not None
    play.labels += play.director.tick(started_ns + 10 * NS, {})
    play.bed.go_on.set()
    play.settled()
    assert (play.one("add").how, play.one("flush").how) == ("limit", "done")


def test_a_command_of_the_users_is_run_until_another_says_that_it_is_done(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    play = Play(tmp_path, f"0 run id=scale done='test -e {mark}' every=50ms -- touch {mark}")
    play.at(0)
    play.settled()
    scale = play.one("scale")
    assert (scale.how, scale.nodes, [m.what for m in scale.milestones]) == ("done", (), ["told"])
    assert (tmp_path / "actions" / "scale.txt").read_text() == f"$ touch {mark}\n"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("sh -c 'echo no such thing >&2; exit 3'", "sh ended with status 3: no such thing"),
        ("/no/such/program", "/no/such/program cannot be run: No such file or directory"),
    ],
)
def test_a_command_that_fails_says_why(tmp_path: Path, command: str, reason: str) -> None:
    play = Play(tmp_path, f"0 run -- {command}")
    play.at(0)
    play.settled()
    assert (play.one("run").how, play.one("run").reason) == ("failed", reason)
