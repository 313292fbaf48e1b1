"""An engine as a process of this machine."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from steelyard.engine.clock import Clock
from steelyard.engine.pipes import close_input, kill_session, start, write_line
from steelyard.engine.session import EXIT_LIMIT_S, STDERR, EngineSession, Queue


class EngineProcess(EngineSession):
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

    local = True

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
        super().__init__(index, folder, events, Clock())
        self._stderr = folder / STDERR
        path = folder / "plan.json"
        path.write_text(json.dumps(plan, indent=1))
        self._process = start([*prefix, str(engine), "run", str(path)], self._stderr)
        self._reader = threading.Thread(target=self._read, name=f"engine-{index}-events", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """See `EngineSession`."""
        return self._process.pid

    def _write(self, line: bytes) -> None:
        write_line(self._process, line)

    def stderr_tail(self) -> str:
        """See `EngineSession`."""
        with suppress(OSError):
            lines = self._stderr.read_text(errors="replace").strip().splitlines()
            return lines[-1] if lines else ""
        return ""

    def wait(self, limit_s: float) -> int | None:
        """See `EngineSession`."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(limit_s)
        return None

    def close_input(self) -> None:
        """See `EngineSession`."""
        close_input(self._process)

    def kill(self) -> None:
        """See `EngineSession`."""
        self.close_input()
        kill_session(self._process)
        self._process.wait()
        self._reader.join(EXIT_LIMIT_S)

    def _read(self) -> None:
        """Read events until the stream ends; the reader's thread."""
        assert self._process.stdout is not None  # noqa: S101 - it was opened as a pipe
        try:
            for line in self._process.stdout:
                if line.strip():
                    self._take(line)
        finally:
            self._end_of_events()
