"""A process on the machine it runs on, an engine's: started, told, its lines kept until they are fetched."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from steelyard.engine.path import find_engine
from steelyard.engine.pipes import close_input, kill_session, start, write_line
from steelyard.engine.session import STDERR
from steelyard.errors import EngineError
from steelyard.hosts.remote.numbered import Numbered

Answer = tuple[int, list[bytes], int | None]
"""(number of the first line, lines, exit status when no further will come)."""


class Program:
    """A running program; it dies with its worker, and at the end of its input it stops.

    Args:
        words: the command.
        folder: receives what it writes.
    """

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        self.folder = folder
        self._loop = asyncio.get_running_loop()
        self._lines = Numbered()
        self._status: int | None = None
        self._process: subprocess.Popen[bytes]
        self._news = asyncio.Event()
        self._begun: asyncio.Future[int] = self._loop.create_future()
        folder.mkdir(parents=True, exist_ok=True)
        tool = shutil.which("setpriv")
        # a parent-death signal comes when the thread that forked ends: it reads until the program has ended
        words = [tool, "--pdeathsig", "KILL", *words] if tool else words
        threading.Thread(target=self._own, args=(words,), name="program", daemon=True).start()

    async def begun(self) -> int:
        """Its process id. Raises EngineError when it cannot be started."""
        return await self._begun

    async def lines(self, number: int, limit_s: float) -> Answer:
        """Lines from a number on; waits for one, at most `limit_s`."""
        first, lines = self._lines.since(number)
        if not lines and self._status is None:
            self._news.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), limit_s)
            first, lines = self._lines.since(number)
        return first, lines, self._status

    def write(self, line: bytes) -> None:
        """Send a line to its input; raises OSError, ValueError when that is closed."""
        write_line(self._process, line)

    def close_input(self) -> None:
        """End of file on its input: a stop."""
        close_input(self._process)

    def kill(self) -> None:
        """End it now, with all of its session; safe when it has ended."""
        kill_session(self._process)

    def _own(self, words: Sequence[str]) -> None:
        """Start it, and read what it writes until it has ended; a thread of its own."""
        tell = self._loop.call_soon_threadsafe
        try:
            self._process = start(words, self.folder / STDERR)
        except EngineError as error:
            tell(self._begun.set_exception, error)
            return
        tell(self._begun.set_result, self._process.pid)
        assert self._process.stdout is not None  # noqa: S101 - it was opened as a pipe
        for line in self._process.stdout:
            tell(self._push, line)
        tell(self._end, self._process.wait())

    def _push(self, line: bytes) -> None:
        self._lines.push(line)
        self._news.set()

    def _end(self, status: int) -> None:
        self._status = status
        self._news.set()


class EngineProgram(Program):
    """A running engine.

    Args:
        plan: the plan, without `out`.
        folder: receives the plan and all that the engine writes.
    """

    def __init__(self, plan: Mapping[str, Any], folder: Path) -> None:
        folder.mkdir(parents=True)
        path = folder / "plan.json"
        path.write_text(json.dumps({**plan, "out": str(folder)}, indent=1))
        super().__init__([str(find_engine().path), "run", str(path)], folder)
