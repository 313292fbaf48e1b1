"""Actors on workers of others: each hears of the laboratory as soon as it is made, and all end together."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from steelyard.errors import InfrastructureError

TAKEN_S = 60.0
"""A free worker takes up an actor at once."""
RESULT_S, CLOSE_S = 15.0, 15.0
BEAT_S, BEAT_LIMIT_S = 2.0, 5.0


class Actors:
    """Those that have been made; the process beside each worker ends when it hears nothing.

    Args:
        client: Dask's client, in whose loop they are asked.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._made: Sequence[Any] = ()
        self._found: list[Any] = []
        """As they were made; only ever longer, and read as a copy by the thread of the beats."""
        self._ended = threading.Event()

    def take(self, names: Sequence[str], made: Sequence[Any], completed: Iterable[Any]) -> list[Any]:
        """Take each actor when it is made, and let it hear of us from then on.

        A process beside a free worker counts its silence while another worker is still waited for.

        Args:
            names: of the workers.
            made: the actors' futures, in the same order.
            completed: the same futures as they come; raises TimeoutError when the rest has not come in time.

        Returns:
            The actors in the order of `made`.

        Raises:
            InfrastructureError: a worker has taken up nothing in time.
        """
        self._made = made  # an actor lives as long as its future is held
        threading.Thread(target=self._beat, name="beats", daemon=True).start()
        places = {id(future): place for place, future in enumerate(made)}
        taken: dict[int, Any] = {}
        try:
            for future in completed:
                actor = future.result(timeout=RESULT_S)
                taken[places[id(future)]] = actor
                self._found.append(actor)
        except TimeoutError:
            late = [name for place, name in enumerate(names) if place not in taken]
            those = f"worker{'s' * (len(late) != 1)} {', '.join(late)}"
            raise InfrastructureError(
                f"the {those} took up nothing for {TAKEN_S:g} s: busy, or frozen",
                hint="a host of a benchmark does nothing else: start workers for it",
            ) from None
        return [taken[place] for place in range(len(made))]

    def _beat(self) -> None:
        """Let every host hear of us; the one that does not answer keeps no other from it."""

        async def one(actor: Any) -> None:
            with suppress(Exception):
                await asyncio.wait_for(_awaited(actor.clock_ns()), BEAT_LIMIT_S)

        async def all_() -> None:
            await asyncio.gather(*(one(actor) for actor in tuple(self._found)))

        while not self._ended.wait(BEAT_S):
            with suppress(Exception):
                self._client.sync(all_)

    def end(self) -> None:
        """End what is ours on each machine, and wait for it."""
        self._ended.set()
        asked = []
        for actor in self._found:
            with suppress(Exception):
                asked.append(actor.close())
        for one in asked:
            with suppress(Exception, asyncio.CancelledError):
                one.result(CLOSE_S)


async def _awaited(asked: Any) -> Any:
    return await asked
