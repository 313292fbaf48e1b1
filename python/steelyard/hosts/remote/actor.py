"""What a worker holds for the laboratory: its machine, the engines on it, and what is being watched there.

Every method answers `(True, what it found)` or `(False, the error)`: what Dask itself raises then means that
the worker is lost. All are coroutines, since one thread serves all others; what blocks has a thread.
"""

from __future__ import annotations

import asyncio
import io
import itertools
import pickle
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from steelyard.errors import InfrastructureError
from steelyard.hosts.host import Watch
from steelyard.hosts.local import LocalHost
from steelyard.hosts.records import clusters_folder
from steelyard.hosts.remote.bandwidth import Sender, received
from steelyard.hosts.remote.hello import Hello, own_hello
from steelyard.hosts.remote.programs import Answer, EngineProgram, Program
from steelyard.hosts.remote.scratch import leftover, remove_leftover, scratch
from steelyard.watch.target import WatchTarget

Answered = tuple[bool, Any]


P = ParamSpec("P")


def answered(method: Callable[P, Awaitable[Any]]) -> Callable[P, Coroutine[Any, Any, Answered]]:
    """Tell errors of a method as what they are; those that cannot be sent as text."""

    @wraps(method)
    async def call(*given: P.args, **words: P.kwargs) -> Answered:
        try:
            return True, await method(*given, **words)
        except Exception as error:
            try:
                pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
            except Exception:
                return False, InfrastructureError(repr(error))
            return False, error

    return call


class HostActor:
    """A machine, for as long as its worker lives."""

    def __init__(self) -> None:
        self._host = LocalHost()
        self._numbers = itertools.count(1)
        self._engines: dict[int, Program] = {}
        self._watches: dict[int, Watch] = {}
        self._senders: dict[int, Sender] = {}

    @answered
    async def call(self, name: str, given: Sequence[Any], words: Mapping[str, Any]) -> Any:
        """A method of `Host`."""
        return await asyncio.to_thread(getattr(self._host, name), *given, **words)

    async def clock_ns(self) -> int:
        """Its CLOCK_MONOTONIC; nothing stands between question and answer."""
        return time.monotonic_ns()

    @answered
    async def hello(self) -> Hello:
        """What this machine has of us."""
        return await asyncio.to_thread(own_hello)

    @answered
    async def leftovers(self) -> list[str]:
        """What earlier workers and owners of clusters have left here, and nobody has ended yet."""
        records = await asyncio.to_thread(self._host.records)
        clusters = [f"cluster {record.name}" for record in records if record.state() == "abandoned"]
        return [*clusters, *(f"folder {path}" for path in leftover())]

    @answered
    async def clusters_folder(self) -> Path:
        """Where clusters have their folders."""
        return clusters_folder()

    @answered
    async def end_leftovers(self) -> list[str]:
        """End and remove them; returns what to say of it."""
        await asyncio.to_thread(remove_leftover)
        return await asyncio.to_thread(self._host.end_leftovers)

    # --- files ---

    @answered
    async def files(self, folder: Path) -> list[tuple[str, int]]:
        """(path below it, bytes) of every file below a folder."""
        return await asyncio.to_thread(_files, folder)

    @answered
    async def part(self, path: Path, start: int, length: int) -> bytes:
        """A part of a file."""
        return await asyncio.to_thread(_part, path, start, length)

    # --- watching ---

    @answered
    async def watch(self, targets: Sequence[WatchTarget], engines: Mapping[str, int]) -> int:
        """Begin to sample; returns the number by which it is known."""
        number = next(self._numbers)
        self._watches[number] = await asyncio.to_thread(self._host.watch, targets, engines)
        return number

    @answered
    async def watching(self, number: int, name: str, given: Sequence[Any]) -> Any:
        """A method of a watch, or what it holds by that name."""
        found = getattr(self._watches[number], name)
        return await asyncio.to_thread(found, *given) if callable(found) else found

    @answered
    async def samples(self, number: int, start: int) -> bytes:
        """What a watch has sampled, from the `start`-th row on, in Arrow's format."""
        return await asyncio.to_thread(_rows, self._watches[number], start)

    # --- engines ---

    @answered
    async def begin_engine(
        self, plan: Mapping[str, Any], files: Mapping[str, bytes]
    ) -> tuple[int, int, Path]:
        """Start an engine; returns (number, process id, folder of its files).

        Args:
            plan: the plan.
            files: setting of its `driver` -> what is in the file that it shall name here.
        """
        number = next(self._numbers)
        for name, content in files.items():
            path = scratch() / "secrets" / str(number) / name  # not among the files that are fetched
            self._host.put_secret(path, content)
            plan = {**plan, "driver": {**plan["driver"], name: str(path)}}
        engine = EngineProgram(plan, scratch() / "engines" / str(number))
        self._engines[number] = engine
        return number, await engine.begun(), engine.folder

    @answered
    async def begin_program(self, module: str) -> tuple[int, int, Path]:
        """Start a program of ours, which is told where its files go; as an engine, it is known by its
        number. Returns (number, process id, that folder)."""
        number = next(self._numbers)
        folder = scratch() / "programs" / str(number)
        self._engines[number] = program = Program([sys.executable, "-m", module, str(folder)], folder)
        return number, await program.begun(), folder

    @answered
    async def lines(self, number: int, after: int, limit_s: float) -> Answer:
        """An engine's lines from number `after` on."""
        return await self._engines[number].lines(after, limit_s)

    @answered
    async def write(self, number: int, line: bytes) -> None:
        """Send an engine a line."""
        self._engines[number].write(line)

    @answered
    async def close_input(self, number: int) -> None:
        """End an engine's input."""
        self._engines[number].close_input()

    @answered
    async def kill(self, number: int) -> None:
        """End an engine now."""
        if engine := self._engines.get(number):  # one that is forgotten has ended
            engine.kill()

    @answered
    async def forget(self, number: int) -> None:
        """Drop an engine that has ended, or a watch, and its files: they have been fetched."""
        self._watches.pop(number, None)
        if engine := self._engines.pop(number, None):
            await asyncio.to_thread(shutil.rmtree, engine.folder, ignore_errors=True)

    # --- how fast bytes travel ---

    @answered
    async def offer_bytes(self, address: str) -> tuple[int, int, bytes]:
        """Offer bytes to whoever knows the token; returns (number, port, token)."""
        number = next(self._numbers)
        self._senders[number] = sender = Sender(address)
        return number, sender.port, sender.token

    @answered
    async def send_bytes(self, number: int, seconds: float) -> None:
        """Send to the one who asks, so long."""
        await asyncio.to_thread(self._senders.pop(number).send, seconds)

    @answered
    async def receive_bytes(self, address: str, port: int, token: bytes) -> float:
        """Receive what another machine offers; returns bytes a second."""
        return await asyncio.to_thread(received, address, port, token)


def _files(folder: Path) -> list[tuple[str, int]]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return [(path.relative_to(folder).as_posix(), path.stat().st_size) for path in found]


def _rows(watch: Watch, start: int) -> bytes:
    into = io.BytesIO()
    watch.frame(start).write_ipc(into)
    return into.getvalue()


def _part(path: Path, start: int, length: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(length)
