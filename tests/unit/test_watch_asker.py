"""Servers that are asked by threads: what they tell comes into the table, what they do not is said once."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from watching import await_missing, await_samples

from steelyard.systems.waiting import wait_until
from steelyard.watch import Sampler
from steelyard.watch.asker import END_WITHIN_S, Askers
from steelyard.watch.inquiry import Answer, NothingToldError
from steelyard.watch.target import WatchTarget

PERIOD_S = 0.05
SSTABLES = "server_sstables"
TOOK = "took"
"""How long a scripted answer says that it took, s."""


@dataclass(frozen=True)
class Script:
    """A server that is not there; answers come from a function.

    Attributes:
        name: of the node.
        answer: makes an answer of how often it was asked before.
        opened: counts connections.
    """

    name: str
    answer: Callable[[int], Mapping[str, float]]
    opened: list[int] = field(default_factory=list)

    @property
    def what(self) -> str:
        return "server_*"

    def open(self) -> Script:
        self.opened.append(0)
        return self

    @property
    def lacking(self) -> Mapping[str, str]:
        return {"heap": "nobody tells it"}

    def ask(self) -> Iterator[Answer]:
        self.opened[-1] += 1
        values = self.answer(sum(self.opened) - 1)
        yield Answer("all", values, time.monotonic_ns(), values.get(TOOK, 0.0))

    def close(self) -> None: ...


def told(_: int) -> Mapping[str, float]:
    return {SSTABLES: 3.0}


def sampling(*scripts: Script) -> Sampler:
    targets = [WatchTarget(script.name, inquiries=(script,), outside=True) for script in scripts]
    sampler = Sampler(targets, dict, os.getpid(), lambda _: [], PERIOD_S)
    sampler.start()
    return sampler


def test_what_is_told_is_sampled_and_nothing_is_made_up_of_its_machine() -> None:
    sampler = sampling(Script("10.0.0.1", told))
    await_samples(sampler, "10.0.0.1", SSTABLES, 3)
    sampler.stop()
    assert set(sampler.frame().filter(source="10.0.0.1")["metric"]) == {SSTABLES}
    missing = {what: why for what, why in sampler.missing.items() if what.startswith("10.0.0.1.")}
    assert missing.pop("10.0.0.1.server_* (heap)") == "nobody tells it"
    assert "--watch-hosts" in missing.pop("10.0.0.1.cpu, memory, disk, network")
    gaps = missing.pop("10.0.0.1.server_*", "")  # a busy machine may leave one, but not by itself
    assert "not asked yet" not in gaps
    assert not missing
    assert sampler.cost()["cpu_seconds"] > 0


def test_a_server_that_has_nothing_to_tell_is_asked_once() -> None:
    def nothing(_: int) -> Mapping[str, float]:
        raise NothingToldError("no virtual tables before 4.0")

    old, new = Script("old", nothing), Script("new", told)
    sampler = sampling(old, new)
    await_samples(sampler, "new", SSTABLES, 5)
    sampler.stop()
    assert old.opened == [1]
    assert sampler.missing["old.server_*"] == "never answered: no virtual tables before 4.0"


def test_a_connection_that_breaks_is_opened_again_and_the_gap_is_told() -> None:
    def breaking(before: int) -> Mapping[str, float]:
        if before == 1:
            raise ConnectionResetError("the server closed the connection")
        return {SSTABLES: float(before)}

    script = Script("node", breaking)
    sampler = sampling(script)
    wait_until(lambda: len(script.opened) > 1, [], 60, "no second connection")
    await_samples(sampler, "node", SSTABLES, 3)
    sampler.stop()
    assert "the server closed the connection" in sampler.missing["node.server_*"]
    assert "no answer to" in sampler.missing["node.server_*"]


def test_one_that_hangs_holds_up_nobody() -> None:
    let_go = threading.Event()

    def hanging(_: int) -> Mapping[str, float]:
        let_go.wait(60)
        return {}

    sampler = sampling(Script("frozen", hanging), Script("alive", told))
    await_samples(sampler, "alive", SSTABLES, 5)
    await_samples(sampler, "machine", "cpu_seconds_total", 5)
    sampler.stop()
    let_go.set()
    assert sampler.missing["frozen.server_*"].startswith("never answered: no answer for ")


def test_a_question_under_way_at_the_end_is_no_gap() -> None:
    let_go, awaited = threading.Event(), threading.Event()

    def second_hangs(before: int) -> Mapping[str, float]:
        if before == 1:
            awaited.set()
            let_go.wait(60)
        return {SSTABLES: 3.0}

    asked, script = Askers(lambda *_: None, 2 * 10**9), Script("node", second_hangs)
    asked.retarget([WatchTarget("node", inquiries=(script,))])
    assert awaited.wait(60)
    asked.stop()
    assert "node.server_*" not in asked.missing
    let_go.set()


def test_several_that_hang_share_the_wait_at_the_end() -> None:
    let_go = threading.Event()

    def hanging(_: int) -> Mapping[str, float]:
        let_go.wait(60)
        return {}

    asked = Askers(lambda *_: None, 10**9)
    scripts = [Script(f"frozen{n}", hanging) for n in range(20)]
    asked.retarget([WatchTarget(script.name, inquiries=(script,)) for script in scripts])
    began = time.monotonic()
    asked.stop()
    let_go.set()
    assert time.monotonic() - began < 10 * END_WITHIN_S


def test_an_answer_that_is_late_is_not_taken_and_told() -> None:
    def late_once(before: int) -> Mapping[str, float]:
        return {SSTABLES: float(before), TOOK: 1.5 if before == 1 else 0.1}

    sampler = sampling(Script("node", late_once))
    await_samples(sampler, "node", SSTABLES, 3)
    sampler.stop()
    assert 1.0 not in sampler.frame().filter(source="node", metric=SSTABLES)["value"].to_list()
    assert sampler.missing["node.server_* (all)"] == "no answer to questions within 1 s: 1"


def test_whatever_goes_wrong_is_told() -> None:
    def wrong(_: int) -> Mapping[str, float]:
        raise KeyError("scope")

    sampler = sampling(Script("node", wrong))
    await_missing(sampler, "node.server_*", "never answered: 'scope'")
    sampler.stop()


def test_those_that_come_are_asked_and_those_that_go_are_not() -> None:
    first, second = Script("first", told), Script("second", told)
    sampler = sampling(first)
    await_samples(sampler, "first", SSTABLES, 2)
    sampler.retarget([WatchTarget("second", inquiries=(second,), outside=True)])
    await_samples(sampler, "second", SSTABLES, 3)
    asked = sum(first.opened)
    await_samples(sampler, "second", SSTABLES, 6)
    sampler.stop()
    assert sum(first.opened) == asked
    assert (len(first.opened), len(second.opened)) == (1, 1)
