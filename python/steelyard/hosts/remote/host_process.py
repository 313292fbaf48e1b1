"""A machine's host beside a worker that is not ours: `python -m steelyard.hosts.remote.host_process SECONDS`.

The worker lives on when the laboratory has ended, so that what the laboratory starts must not hang on it: it
hangs on this process, which ends with its input, and when nothing was heard of the laboratory for so long.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
import threading
import time
from typing import IO, Any

from steelyard.errors import InfrastructureError
from steelyard.hosts.remote.actor import HostActor
from steelyard.hosts.remote.frames import framed, received, send
from steelyard.hosts.remote.scratch import make_scratch, remove_scratch
from steelyard.hosts.remote.worker import GONE, PR_SET_PDEATHSIG

LOOKS_S = 0.5
END_S = 5.0
"""So long it may take to remove its files."""


class Answers:
    """Asks a host what comes in, and writes what it answers; many questions are under way at once.

    Args:
        out: receives (number of the question, answer).
    """

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._host = HostActor()
        self._loop = asyncio.get_running_loop()
        self._under_way: set[asyncio.Task[None]] = set()
        self.heard_s = time.monotonic()
        """When the last question came."""

    def read(self, questions: IO[bytes]) -> None:
        """Take (number, method, arguments) until there are no more; a thread of its own."""
        for number, method, given in received(questions):
            self.heard_s = time.monotonic()
            self._loop.call_soon_threadsafe(self._begin, number, method, given)

    def _begin(self, number: int, method: str, given: tuple[Any, ...]) -> None:
        task = self._loop.create_task(self._answer(number, method, given))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _answer(self, number: int, method: str, given: tuple[Any, ...]) -> None:
        found = await getattr(self._host, method)(*given)
        try:
            frame = framed((number, found))
        except Exception as error:  # it cannot be sent
            frame = framed((number, (False, InfrastructureError(repr(error)))))
        try:
            send(self._out, frame)
        except OSError:
            _end()


def _end() -> None:
    """End, soon even where the files are out of reach; what was started from here ends with it."""
    hurry = threading.Timer(END_S, os._exit, (GONE,))
    hurry.daemon = True
    try:
        hurry.start()
        remove_scratch()
    finally:
        os._exit(GONE)


async def _serve(questions: IO[bytes], out: IO[bytes], silence_s: float) -> None:
    answers = Answers(out)

    def read() -> None:
        try:
            answers.read(questions)
        finally:
            _end()

    def watch() -> None:
        while time.monotonic() - answers.heard_s < silence_s:
            time.sleep(LOOKS_S)
        _end()

    threading.Thread(target=read, name="questions", daemon=True).start()
    # not in the loop: it stands still while a frozen worker does not take what is sent to it
    threading.Thread(target=watch, name="silence", daemon=True).start()
    await asyncio.Event().wait()


def main() -> None:
    """Be a host until the laboratory is gone."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what others print is no answer
    make_scratch()
    asyncio.run(_serve(sys.stdin.buffer, out, float(sys.argv[1])))


if __name__ == "__main__":
    main()
