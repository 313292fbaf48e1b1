"""What is said to a running engine and what it answers, whatever carries the words."""

from __future__ import annotations

import itertools
import json
import queue
import signal
import threading
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import Any

from steelyard.engine.clock import Clock
from steelyard.errors import EngineError, InfrastructureError, InputError, SteelyardError

Event = dict[str, Any]
Queue = queue.Queue[tuple[int, Event]]
"""Receives (engine index, event). The end of an engine's stream is an event `exit` of our own."""

ACK_LIMIT_S = 15.0
EXIT_LIMIT_S = 10.0
STDERR = "stderr.txt"


class EngineSession(ABC):
    """Commands to one engine, each acknowledged, and its events.

    Args:
        index: the engine's index in the fleet.
        folder: the folder of its files.
        events: receives its events.
        clock: of its machine; commands are translated to it, and events from it.
    """

    local = False
    """Whether its process is one of this machine."""

    def __init__(self, index: int, folder: Path, events: Queue, clock: Clock) -> None:
        self.index, self.clock = index, clock
        self._folder, self._events = folder, events
        self._ids = itertools.count(1)
        self._acks: dict[int, Event] = {}
        self._acked = threading.Condition()
        self._posting = threading.Lock()
        self._ended = False
        self._error: Event | None = None
        self.lost: InfrastructureError | None = None
        """Why its machine cannot be reached any more; then what it does there is not known."""

    @property
    @abstractmethod
    def pid(self) -> int:
        """Its process id; with a prefix that does not exec, its parent's."""

    @abstractmethod
    def _write(self, line: bytes) -> None:
        """Send a line to its standard input; raises OSError or ValueError when that is closed."""

    @abstractmethod
    def stderr_tail(self) -> str:
        """The last line of what it wrote on stderr."""

    @abstractmethod
    def wait(self, limit_s: float) -> int | None:
        """Its exit status, or None when it has not ended within the limit."""

    @abstractmethod
    def close_input(self) -> None:
        """End of file on its standard input: a stop."""

    @abstractmethod
    def kill(self) -> None:
        """End it now, with everything in its session; safe when it has ended."""

    def prepare(self) -> int:
        """Get ready for a phase; returns how much longer than usual before its start it must be told, ns."""
        return 0

    def collect(self) -> None:  # noqa: B027 - most have them there
        """Have its files in the fleet's folder, in times of our clock."""

    @property
    def ended(self) -> bool:
        """Whether its event stream has ended."""
        return self._ended

    def post(self, cmd: str, **fields: Any) -> int:
        """Send a command without waiting for its acknowledgement; returns its id. Any thread may."""
        words = {k: v for k, v in fields.items() if v is not None}
        if "at_ns" in words:
            words["at_ns"] = self.clock.there(words["at_ns"])
        try:
            with self._posting:  # several threads give commands: each is whole, and ids stand in their order
                number = next(self._ids)
                self._write(json.dumps({"cmd": cmd, "id": number, **words}).encode() + b"\n")
        except (OSError, ValueError):
            raise self.failure() from None
        return number

    def acknowledged(self, number: int, limit_s: float = ACK_LIMIT_S) -> Event:
        """Wait for the acknowledgement of a command.

        Raises:
            EngineError: the engine refused it, died, or kept silent.
        """
        with self._acked:
            done = self._acked.wait_for(lambda: number in self._acks or self._ended, limit_s)
            ack = self._acks.pop(number, None)
        if ack is None:
            raise self.failure() if done else EngineError(f"{self._name} has not answered for {limit_s:g} s")
        if not ack.get("ok"):
            raise EngineError(f"{self._name} refused {ack.get('cmd')}: {ack.get('error')}")
        return ack

    def failure(self) -> SteelyardError:
        """Why the process ended, as the error that its exit status stands for; waits for the exit."""
        if self.lost:
            return self.lost
        status = self.wait(EXIT_LIMIT_S)
        said = str(self._error.get("text")) if self._error else ""
        if self._error and status == InputError.exit_code:
            return InputError(said)
        if self._error and self._error.get("kind") == "io":
            return InfrastructureError(f"the engine cannot write to {self._folder}: {said}")
        if self._error:
            return EngineError(said) if self._error.get("kind") == "internal" else InfrastructureError(said)
        tail = self.stderr_tail()
        return EngineError(
            f"{self._name} {_ending(status)}" + (f": {tail}" if tail else ""),
            hint=f"all it said is in {self._folder / STDERR}" if tail else None,
        )

    @property
    def _name(self) -> str:
        return f"engine {self.index}" if self.index else "the engine"

    def _end_of_events(self) -> None:
        """Say that nothing more comes; called once, by whoever reads."""
        with self._acked:
            self._ended = True
            self._acked.notify_all()
        self._events.put((self.index, {"event": "exit"}))

    def _take(self, line: bytes) -> None:
        try:
            event = json.loads(line)
            name = event["event"]
            event = self.clock.translated(event)
        except (ValueError, TypeError, KeyError):
            event, name = {"event": "garbage", "text": line[:200].decode(errors="replace").strip()}, "garbage"
        if name == "error":
            self._error = event
        if name == "ack":
            with self._acked:
                self._acks[event.get("id", 0)] = event
                self._acked.notify_all()
        self._events.put((self.index, event))


def _ending(status: int | None) -> str:
    if status is None:
        return "hangs"
    if status < 0:
        with suppress(ValueError):
            return f"was killed by {signal.Signals(-status).name}"
    return f"ended with status {status}"
