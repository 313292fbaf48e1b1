"""One engine process: a plan goes in, commands go in and are acknowledged, events come out."""

from __future__ import annotations

import itertools
import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from steelyard.errors import EngineError, InfrastructureError, InputError, SteelyardError

Event = dict[str, Any]
Queue = queue.Queue[tuple[int, Event]]
"""Receives (engine index, event). The end of an engine's stream is an event `exit` of our own."""

ACK_LIMIT_S = 15.0
EXIT_LIMIT_S = 10.0


class EngineProcess:
    """A running engine.

    It stands in a session of its own, so that a Ctrl-C at the terminal reaches Steelyard alone, which then
    stops the engine in order; if Steelyard is killed, the end of the engine's standard input stops it.

    Args:
        engine: the binary.
        plan: the plan; written to `folder/plan.json`.
        folder: receives the plan and the engine's stderr.
        events: receives its events.
        index: the engine's index in the fleet.
        prefix: words before the command, e.g. `nsenter --net=...`.
    """

    def __init__(
        self,
        engine: Path,
        plan: dict[str, Any],
        folder: Path,
        events: Queue,
        *,
        index: int = 0,
        prefix: Sequence[str] = (),
    ) -> None:
        self.index = index
        self._events = events
        self._stderr = folder / "stderr.txt"
        self._ids = itertools.count(1)
        self._acks: dict[int, Event] = {}
        self._acked = threading.Condition()
        self._posting = threading.Lock()
        self._ended = False
        self._error: Event | None = None
        path = folder / "plan.json"
        path.write_text(json.dumps(plan, indent=1))
        command = [*prefix, str(engine), "run", str(path)]
        try:
            with self._stderr.open("wb") as stderr:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    start_new_session=True,
                )
        except OSError as error:
            raise EngineError(f"the engine cannot be started: {error}") from error
        self._reader = threading.Thread(target=self._read, name=f"engine-{index}-events", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Its process id; with a prefix that does not exec, its parent's."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether its event stream has ended."""
        return self._ended

    def post(self, cmd: str, **fields: Any) -> int:
        """Send a command without waiting for its acknowledgement; returns its id. Any thread may."""
        words = {k: v for k, v in fields.items() if v is not None}
        stdin = self._process.stdin
        try:
            if stdin is None:
                raise BrokenPipeError
            with self._posting:  # several threads give commands: each is whole, and ids stand in their order
                number = next(self._ids)
                stdin.write(json.dumps({"cmd": cmd, "id": number, **words}).encode() + b"\n")
                stdin.flush()
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
        status = self.wait(EXIT_LIMIT_S)
        said = str(self._error.get("text")) if self._error else ""
        if self._error and status == InputError.exit_code:
            return InputError(said)
        if self._error and self._error.get("kind") == "io":
            return InfrastructureError(f"the engine cannot write to {self._stderr.parent}: {said}")
        if self._error:
            return EngineError(said) if self._error.get("kind") == "internal" else InfrastructureError(said)
        tail = self.stderr_tail()
        return EngineError(
            f"{self._name} {_ending(status)}" + (f": {tail}" if tail else ""),
            hint=f"all it said is in {self._stderr}" if tail else None,
        )

    def stderr_tail(self) -> str:
        """The last line of what it wrote on stderr."""
        with suppress(OSError):
            lines = self._stderr.read_text(errors="replace").strip().splitlines()
            return lines[-1] if lines else ""
        return ""

    def wait(self, limit_s: float) -> int | None:
        """Its exit status, or None when it has not ended within the limit."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(limit_s)
        return None

    def close_input(self) -> None:
        """End of file on its standard input: a stop."""
        with suppress(OSError, ValueError):
            if self._process.stdin:
                self._process.stdin.close()

    def kill(self) -> None:
        """End it now, with everything in its session; safe when it has ended."""
        self.close_input()
        if self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._reader.join(EXIT_LIMIT_S)

    @property
    def _name(self) -> str:
        return f"engine {self.index}" if self.index else "the engine"

    def _read(self) -> None:
        """Read events until the stream ends; the reader's thread."""
        assert self._process.stdout is not None  # noqa: S101 - it was opened as a pipe
        try:
            for line in self._process.stdout:
                if line.strip():
                    self._take(line)
        finally:
            with self._acked:
                self._ended = True
                self._acked.notify_all()
            self._events.put((self.index, {"event": "exit"}))

    def _take(self, line: bytes) -> None:
        try:
            event = json.loads(line)
            name = event["event"]
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
