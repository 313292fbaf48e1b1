"""Who is told what a phase is doing while it goes on: the phase's loop asks, and never waits for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from steelyard.engine.session import Event


class Observer(Protocol):
    """Told of one phase by its loop, on the loop's thread; each call must return at once.

    Times are CLOCK_MONOTONIC ns.
    """

    def begin(self, at_ns: int, engines: int) -> None:
        """The phase has been commanded to begin at that time on so many engines."""
        ...

    def tick(self, now_ns: int, newest: Mapping[int, Event]) -> Sequence[str]:
        """The loop has turned; `newest` holds each engine's newest `interval` event.

        Returns:
            Labels to be marked in the engines' streams now.
        """
        ...

    def enough(self, now_ns: int) -> bool:
        """Whether all has happened for which the phase goes on, so that it may end before its time."""
        ...

    def wait_s(self, now_ns: int) -> float:
        """How long the next turn may be waited for at most."""
        ...

    def doing(self, now_ns: int) -> str:
        """What is going on, for the live progress line; empty = nothing."""
        ...

    def end(self, now_ns: int) -> None:
        """The phase is over, or was cut short; called once, and only after `begin`."""
        ...
