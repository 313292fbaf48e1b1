"""What a link says and how it reads the answers: words on a socket as values, without the socket."""

from __future__ import annotations

import json
from typing import Protocol


class RefusedError(Exception):
    """A whole answer that gives no metrics; its text says why, and the connection can be kept."""


class Dialogue(Protocol):
    """What is asked of one server again and again; a question is not asked before the last was answered.

    Attributes:
        what: what it gives, as `manifest.host.missing` names it.
    """

    what: str

    def question(self) -> bytes:
        """What to send at this tick, well below 64 KiB; empty when it is not time to ask."""
        ...

    def cut(self, received: bytes, *, closed: bool = False) -> tuple[list[bytes], bytes] | None:
        """The first whole answer in what was received, and what follows it; None while it is not whole.

        Args:
            received: what came since the last answer's end.
            closed: the server has closed the connection and nothing more will come.

        Raises:
            ValueError: this is no answer; the connection is of no use any more.
        """
        ...

    def read(self, answer: list[bytes]) -> dict[str, float]:
        """The metrics of an answer; not called for one that came too late.

        Raises:
            RefusedError: the server gives none at this time.
            ValueError, KeyError, TypeError: this is no answer.
        """
        ...


class AgentDialogue:
    """The Java agent's: one line of words, one line of JSON."""

    what = "server_*"

    def question(self) -> bytes:
        """The same at every tick."""
        return b"metrics\n"

    def cut(self, received: bytes, *, closed: bool = False) -> tuple[list[bytes], bytes] | None:  # noqa: ARG002
        """One line; an agent that closes has nothing to say."""
        line, end, rest = received.partition(b"\n")
        return ([line], rest) if end else None

    def read(self, answer: list[bytes]) -> dict[str, float]:
        """The agent's own names are the metrics' names."""
        said = json.loads(answer[0])
        if not said["ok"]:
            raise RefusedError(str(said.get("error")))
        metrics: dict[str, float] = said["metrics"]
        return metrics
