"""Who belongs to a cluster that others operate: what comes and what leaves, as answers tell."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from steelyard.lab.timeline import roll_call
from steelyard.lab.timeline.roll_call import GONE_S, Members, News, RollCall
from steelyard.systems.changes import Listed

LIMIT_S = 20.0
NS = 1_000_000_000


def listed(**passed: str) -> list[Listed]:
    """`a="normal joined"`: the nodes of an answer, each with what it has behind it."""
    return [Listed(name, name, tuple(what.split()), {"name": name}) for name, what in passed.items()]


def told(*answers: list[Listed], every_s: float = 1.0) -> list[News]:
    """What answers bring, the first at 0 s."""
    members = Members()
    at = {round(every_s * NS) * n: answer for n, answer in enumerate(answers)}
    return [news for at_ns, answer in at.items() for news in members.told(answer, at_ns)]


def test_who_is_there_at_first_is_no_news() -> None:
    assert told(listed(a="normal joined"), listed(a="normal joined")) == []


def test_a_node_comes_step_by_step() -> None:
    answers = listed(a=""), listed(a="", b="normal"), listed(a="", b="normal joined")
    [new] = listed(b="normal")
    assert told(*answers) == [News("b", "normal", NS, new), News("b", "joined", 2 * NS)]


def test_one_that_was_coming_already_goes_on() -> None:
    assert told(listed(a="normal"), listed(a="normal joined")) == [News("a", "joined", NS)]


def test_a_node_has_left_when_answers_lack_it_for_a_while_since_the_first_of_them() -> None:
    there, gone = listed(a="x", b="x"), listed(a="x")
    assert told(there, gone, gone, every_s=GONE_S - 0.1) == []
    assert told(there, there, gone, gone, every_s=GONE_S) == [News("b", "left", round(2 * GONE_S * NS))]
    assert told(there, gone, gone, gone, there, gone, gone, gone, every_s=GONE_S / 3) == []


def test_one_that_left_comes_back_as_one_that_is_known() -> None:
    there, gone = listed(a="x", b="x"), listed(a="x")
    assert told(there, gone, gone, there, every_s=GONE_S) == [
        News("b", "left", round(GONE_S * NS)), News("b", "x", round(3 * GONE_S * NS)),
    ]  # fmt: skip


def test_one_whose_address_changes_is_no_other() -> None:
    before, after = Listed("id", "10.0.0.1", ("x",), {}), Listed("id", "10.0.0.9", ("x",), {})
    assert told([before], [after], [after], every_s=GONE_S) == []


class Cluster:
    """Tells nothing at first, then of `a`, then of `b` as well."""

    def __init__(self) -> None:
        self.asked, self.ended, self.told_all = 0, threading.Event(), threading.Event()

    def roll(self) -> Sequence[Listed]:
        self.asked += 1
        if self.asked == 1:
            raise OSError("not now")
        if self.asked > 3:
            self.told_all.set()
        return listed(a="x") if self.asked == 2 else listed(a="x", b="x")

    def end_roll(self) -> None:
        self.ended.set()


def test_it_is_asked_beside_the_run_until_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roll_call, "EVERY_S", 0.001)
    cluster = Cluster()
    roll = RollCall(cluster)
    roll.begin()
    try:
        assert cluster.told_all.wait(LIMIT_S)
    finally:
        roll.end()
    assert cluster.ended.wait(LIMIT_S)
    assert [(news.node, news.what) for news in roll.news()] == [("b", "x")]
    assert roll.news() == []


def test_that_nobody_ever_tells_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roll_call, "EVERY_S", 0.001)
    cluster = Cluster()
    asked = threading.Event()

    def refuse() -> Sequence[Listed]:
        asked.set()
        raise OSError("no SELECT permission")

    monkeypatch.setattr(cluster, "roll", refuse)
    roll = RollCall(cluster)
    roll.begin()
    assert asked.wait(LIMIT_S)
    roll.end()
    roll.join(LIMIT_S)
    assert roll.never == "no SELECT permission"
