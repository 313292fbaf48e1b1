"""What a worker that is not ours holds for the laboratory: the way to a process of ours on its machine.

Nothing of ours runs in the worker's own process: it may be busy, may be kept small, and it lives on.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import queue
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import IO, Any

from steelyard.hosts.remote.actor import HostActor
from steelyard.hosts.remote.frames import framed, received, send
from steelyard.hosts.remote.worker import GONE

HOST_PROCESS = "steelyard.hosts.remote.host_process"
SILENCE_S = 15.0
"""So long nothing may be heard of the laboratory."""
OF_NANNIES = frozenset(
    {"MALLOC_TRIM_THRESHOLD_", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
)
"""What Dask puts into its workers' environment, and would change how what we start allocates."""
END_LIMIT_S = 10.0


class HostProcess:
    """The process, and what is asked of it.

    Args:
        silence_s: it ends when it is asked nothing for so long.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, silence_s: float) -> None:
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._frames = queue.SimpleQueue[bytes | None]()
        self._begun, self._ended = threading.Event(), threading.Event()
        self._fault: Exception | None = None
        self._unread = ""
        """Why what it answered could not be read."""
        self._silence_s, self._status = silence_s, 0
        words = [sys.executable, "-m", HOST_PROCESS, str(silence_s)]
        # its parent-death signal comes when the thread that forked ends: it reads until the process has ended
        threading.Thread(target=self._own, args=(words,), name="host-process", daemon=True).start()
        self._begun.wait()
        if self._fault:
            raise self._fault

    def _own(self, words: list[str]) -> None:
        """Start it, and read what it answers until it has ended; a thread of its own."""
        environment = {name: word for name, word in os.environ.items() if name not in OF_NANNIES}
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True
            )
        except Exception as error:  # another thread raises it
            self._fault = error
            return
        finally:
            self._begun.set()
        try:
            self._read(process)
        except Exception as error:  # whatever it is, nobody reads any more
            self._unread = repr(error)
            process.kill()
        finally:
            self._release(process)

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        """Pass on what it answers, until it has ended."""
        assert process.stdin is not None  # noqa: S101 - it was opened as a pipe
        assert process.stdout is not None  # noqa: S101 - likewise
        threading.Thread(
            target=self._write, args=(process.stdin,), name="to-host-process", daemon=True
        ).start()
        for number, answer in received(process.stdout):
            _tell(self._waiting.pop(number, None), answer)

    def _release(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for its end, and let all know that wait for it."""
        self.close_input()
        self._status = process.wait()
        self._ended.set()
        for number in list(self._waiting):
            _tell(self._waiting.pop(number, None), None)

    def _write(self, stdin: IO[bytes]) -> None:
        """Send what is to be sent; a thread of its own: the worker must not wait for a frozen process."""
        with suppress(OSError), stdin:
            while frame := self._frames.get():
                send(stdin, frame)

    async def ask(self, method: str, given: tuple[Any, ...]) -> Any:
        """What a method of the machine's `HostActor` gives.

        Raises:
            ConnectionError: the process has ended.
        """
        number = next(self._numbers)
        self._waiting[number] = future = asyncio.get_running_loop().create_future()
        self._frames.put(framed((number, method, given)))
        answer = None if self._ended.is_set() and not future.done() else await future
        self._waiting.pop(number, None)
        if answer is None:
            raise ConnectionError(f"the process of ours there has ended: {self._why()}")
        return answer[0]

    def _why(self) -> str:
        if self._unread:
            return f"what it answered could not be read: {self._unread}"
        if self._status == GONE:
            return f"it was closed, or had heard nothing of the laboratory for {self._silence_s:g} s"
        if self._status < 0:
            return f"it was killed by signal {-self._status}"
        return f"it ended with status {self._status}; its worker's log says why"

    def close_input(self) -> None:
        """End its input, with which it ends."""
        self._frames.put(None)

    def close(self) -> None:
        """End it, and wait until it has ended."""
        self.close_input()
        self._ended.wait(END_LIMIT_S)


def _tell(future: asyncio.Future[Any] | None, answer: Any) -> None:
    """Give a future of another thread's loop its answer, as a tuple; None = there will be none."""
    if future is None:
        return

    def put() -> None:
        if not future.done():
            future.set_result(None if answer is None else (answer,))

    with suppress(RuntimeError):  # that loop has ended
        future.get_loop().call_soon_threadsafe(put)


class Relay:
    """The actor: it has every method of `HostActor`, and the process answers.

    When the scheduler finds that the laboratory is gone, it drops the actor, and the process ends; where it
    does not find out, the process does by itself.

    Args:
        silence_s: after so long without a word of the laboratory.
    """

    def __init__(self, silence_s: float = SILENCE_S) -> None:
        self._process = HostProcess(silence_s)
        weakref.finalize(self, self._process.close_input)

    async def close(self) -> None:
        """End the process, and all that it has started."""
        await asyncio.to_thread(self._process.close)


def _passed_on(name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    async def ask(self: Relay, *given: Any) -> Any:
        return await self._process.ask(name, given)

    return ask


for _name, _member in vars(HostActor).items():
    if callable(_member) and not _name.startswith("_"):
        setattr(Relay, _name, _passed_on(_name))
