"""Workers of others are looked at each by itself: one without an answer holds none of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from steelyard.errors import InfrastructureError
from steelyard.hosts.remote.asking import answers, ask_each, placed
from steelyard.hosts.remote.candidates import Worker

GOOD, FROZEN, GONE, LOST = (Worker(f"tls://10.0.0.{i}:1", name) for i, name in enumerate("abcd"))
ALL = [GOOD, FROZEN, GONE, LOST]


class Client:
    """Dask's client, as far as it asks workers."""

    def sync(self, asked: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        return asyncio.run(asked())

    async def _run(self, function: Any, *given: Any, workers: list[str], on_error: str, **words: Any) -> Any:
        assert on_error == "return"
        (address,) = workers
        if address == FROZEN.address:
            await asyncio.Event().wait()
        if address == LOST.address:
            raise OSError("no route")
        return {} if address == GONE.address else {address: function(*given, **words)}


def test_who_does_not_answer_holds_no_other() -> None:
    found = ask_each(Client(), ALL, int, "11", limit_s=0.01, base=2)
    assert found[GOOD.address] == 3
    said = [str(found[one.address]) for one in ALL[1:]]
    assert said == ["it did not answer within 0.01 s", "it is gone", "no route"]
    assert answers([GOOD], found) is found
    with pytest.raises(InfrastructureError, match="the worker b cannot be looked at: it did not answer"):
        answers(ALL, found)


def test_who_does_not_answer_is_left_out_and_said() -> None:
    boots = {one.address: f"boot-{one.name}\n" for one in ALL} | {GONE.address: ConnectionError("it is gone")}
    namespaces: dict[str, Any] = {one.address: "pid:[1]" for one in ALL} | {LOST.address: PermissionError()}
    found, notes = placed(ALL, boots, namespaces)
    assert [one.machine for one in found] == [("boot-a", "pid:[1]"), ("boot-b", "pid:[1]")]
    assert notes == [
        "the worker c cannot be looked at: it is gone; it is left out",
        "the worker d cannot be looked at: PermissionError; it is left out",
    ]
