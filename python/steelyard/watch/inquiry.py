"""What is asked of a server in a protocol of its own, by a thread that may wait for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class NothingToldError(Exception):
    """The server tells nothing that we ask for, and will not later: its text says why."""


class Session(Protocol):
    """A connection to one server, over which it is asked again and again."""

    @property
    def lacking(self) -> Mapping[str, str]:
        """What this server does not tell -> why; said once."""
        ...

    def ask(self) -> dict[str, float]:
        """The metrics that are due.

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
