"""Questions to workers that others run, before anything of ours is there: each is waited for by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.errors import InfrastructureError
from steelyard.hosts.remote.candidates import Worker

LOOK_S = 15.0
"""So long a worker that is not frozen needs at most for its answer."""


def ask_each(
    client: Any,
    workers: Sequence[Worker],
    function: Any,
    *given: Any,
    limit_s: float = LOOK_S,
    **words: Any,
) -> dict[str, Any]:
    """What a function of Python's own library gives on each worker, or why there is no answer.

    A worker that cannot import what it is sent ends: until it is known to have our package, nothing else is.

    Args:
        client: Dask's.
        workers: each is asked by itself, so that one that is frozen keeps no answer of another back.
        function: it runs there with what is `given` and these `words`.
        limit_s: so long each is waited for.

    Returns:
        By the worker's address; an exception instead of an answer.
    """

    async def one(address: str) -> Any:
        asked = client._run(function, *given, workers=[address], on_error="return", **words)
        try:
            found = await asyncio.wait_for(asked, limit_s)
        except TimeoutError:
            return TimeoutError(f"it did not answer within {limit_s:g} s")
        return found.get(address, ConnectionError("it is gone"))

    async def all_() -> list[Any]:
        return await asyncio.gather(*(one(each.address) for each in workers), return_exceptions=True)

    return dict(zip((each.address for each in workers), client.sync(all_), strict=True))


def answers(workers: Sequence[Worker], found: Mapping[str, Any]) -> Mapping[str, Any]:
    """What all have answered.

    Raises:
        InfrastructureError: one has not.
    """
    for worker in workers:
        if (why := no_answer(worker, found[worker.address])) is not None:
            raise InfrastructureError(why)
    return found


def no_answer(worker: Worker, answer: Any) -> str | None:
    """What to say when a worker has not answered; None = it has."""
    if not isinstance(answer, BaseException):
        return None
    return f"the worker {worker.name} cannot be looked at: {str(answer) or type(answer).__name__}"


def placed(
    workers: Sequence[Worker], boots: Mapping[str, Any], namespaces: Mapping[str, Any]
) -> tuple[list[Worker], list[str]]:
    """Workers with the machines they are on, and what to say of those that have not answered.

    Args:
        workers: that a scheduler has.
        boots, namespaces: the answers by address.
    """
    found, notes = [], []
    for one in workers:
        boot, namespace = boots[one.address], namespaces[one.address]
        why = no_answer(one, boot) or no_answer(one, namespace)
        if why is None:
            found.append(Worker(one.address, one.name, (boot.strip(), namespace)))
        else:
            notes.append(f"{why}; it is left out")
    return found, notes
