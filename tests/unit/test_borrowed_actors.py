"""Actors on workers of others: they are taken as they come, hear of us from then on, and all end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from steelyard.errors import InfrastructureError
from steelyard.hosts.remote import actors
from steelyard.hosts.remote.actors import Actors

LIMIT_S = 60.0


class Client:
    """Dask's client, without its loop."""

    def sync(self, asked: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        return asyncio.run(asked())


@dataclass
class Actor:
    """Dask's proxy of an actor, and in one the future that has it."""

    heard: threading.Event = field(default_factory=threading.Event)
    closed: bool = False
    late: bool = False

    async def clock_ns(self) -> int:
        self.heard.set()
        return 0

    def close(self) -> Actor:
        self.closed = True
        return self

    def result(self, timeout: float) -> Actor:
        assert timeout > 0
        if self.late:
            raise TimeoutError
        return self


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actors, "BEAT_S", 0.01)


def test_the_first_hears_of_us_while_the_second_is_waited_for() -> None:
    first, second = Actor(), Actor()

    def completed() -> Iterator[Actor]:
        yield second
        assert second.heard.wait(LIMIT_S)
        assert not first.heard.is_set()
        yield first
        assert first.heard.wait(LIMIT_S)

    found = Actors(Client())
    taken = found.take(["a", "b"], [first, second], completed())
    assert taken[0] is first
    assert taken[1] is second
    found.end()
    assert first.closed
    assert second.closed


def test_who_takes_up_nothing_is_named_and_the_others_end() -> None:
    first, second, third = Actor(), Actor(), Actor()

    def completed() -> Iterator[Actor]:
        yield second
        raise TimeoutError

    found = Actors(Client())
    with pytest.raises(InfrastructureError, match="the workers a, c took up nothing for 60 s: busy"):
        found.take(["a", "b", "c"], [first, second, third], completed())
    found.end()
    assert (first.closed, second.closed, third.closed) == (False, True, False)


def test_who_does_not_say_that_it_has_taken_it_up_is_named() -> None:
    found = Actors(Client())
    silent = Actor(late=True)
    with pytest.raises(InfrastructureError, match="the worker a took up nothing"):
        found.take(["a"], [silent], iter([silent]))
    found.end()
