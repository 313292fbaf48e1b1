"""What is asked of a server in a protocol of its own, by a thread that may wait for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

LATE_S = 1.0
"""An answer that took longer is thrown away: nobody knows of which second it is."""


class NothingToldError(Exception):
    """The server tells nothing that we ask for, and will not later: its text says why."""


@dataclass(frozen=True)
class Answer:
    """What came of one question.

    Attributes:
        what: was asked for, in the server's words.
        values: the metrics.
        came_ns: when it came, CLOCK_MONOTONIC.
        took_s: how long it took.
    """

    what: str
    values: Mapping[str, float]
    came_ns: int
    took_s: float

    @property
    def late(self) -> bool:
        """Whether it is thrown away."""
        return self.took_s > LATE_S


class Session(Protocol):
    """A connection to one server, over which it is asked again and again."""

    @property
    def lacking(self) -> Mapping[str, str]:
        """What this server does not tell -> why; said once."""
        ...

    def ask(self) -> Iterator[Answer]:
        """Ask for what is due, question by question; also answers that are late are told.

        Raises:
            NothingToldError: there are none, and never will be.
            OSError: no answer, or none that can be read; the session is of no use any more.
        """
        ...

    def close(self) -> None:
        """End the connection."""
        ...


class Inquiry(Protocol):
    """Whom to ask, and what; a value that equals another of the same words."""

    @property
    def what(self) -> str:
        """What it gives, as `manifest.host.missing` names it."""
        ...

    def open(self) -> Session:
        """Connect, and say who one is; raises as `Session.ask`."""
        ...
