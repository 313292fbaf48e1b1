"""The process beside a worker of others: it answers for its machine, ends in every case, and says why."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.hosts.remote import host_process
from steelyard.hosts.remote import relay as relay_module
from steelyard.hosts.remote.actor import HostActor
from steelyard.hosts.remote.frames import framed, received, send
from steelyard.hosts.remote.relay import HOST_PROCESS, Relay
from steelyard.hosts.remote.worker import GONE

LIMIT_S = 60.0


@given(st.lists(st.binary(max_size=100)), st.integers(0, 30))
def test_values_come_whole_or_not(values: list[bytes], lost: int) -> None:
    pipe = io.BytesIO()
    ends = []
    for value in values:
        send(pipe, framed(value))
        ends.append(pipe.tell())
    kept = max(0, pipe.tell() - lost)
    assert list(received(io.BytesIO(pipe.getvalue()[:kept]))) == values[: sum(end <= kept for end in ends)]


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def children() -> set[int]:
    """Processes of ours beside this one."""
    found = subprocess.run(
        ["pgrep", "-P", str(os.getpid()), "-f", "host_process"], capture_output=True, check=False
    )
    return set(map(int, found.stdout.split()))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path))
    return tmp_path


def test_a_process_answers_for_its_machine_and_ends_with_the_actor(cache: Path) -> None:
    before = children()

    async def ask() -> None:
        relay = Relay()
        before_ns = time.monotonic_ns()
        here_ns = await relay.clock_ns()  # type: ignore[attr-defined]
        assert before_ns <= here_ns <= time.monotonic_ns()
        good, found = await relay.call("get", (Path(__file__), 3), {})  # type: ignore[attr-defined]
        assert (good, found[:8]) == (True, Path(__file__).read_bytes()[3:11])
        good, error = await relay.call("get", (Path("/none"), 0), {})  # type: ignore[attr-defined]
        assert (good, type(error)) == (False, FileNotFoundError)
        assert len(list((cache / "workers").iterdir())) == 1

    asyncio.run(ask())  # the actor is dropped with it
    until(lambda: children() == before and not list((cache / "workers").iterdir()))


def test_a_process_ends_when_nothing_is_heard_of_the_laboratory(cache: Path) -> None:
    async def ask() -> None:
        relay = Relay(silence_s=1.0)
        assert await relay.clock_ns()  # type: ignore[attr-defined]
        await asyncio.to_thread(until, lambda: not list((cache / "workers").iterdir()))
        with pytest.raises(ConnectionError, match="has ended: it was closed, or had heard nothing"):
            await relay.clock_ns()  # type: ignore[attr-defined]

    asyncio.run(ask())


@pytest.mark.usefixtures("cache")
def test_a_process_that_is_killed_says_so() -> None:
    before = children()

    async def ask() -> None:
        relay = Relay()
        assert await relay.clock_ns()  # type: ignore[attr-defined]
        (child,) = children() - before
        os.kill(child, signal.SIGKILL)
        await asyncio.to_thread(until, lambda: children() == before)
        with pytest.raises(ConnectionError, match="it was killed by signal 9"):
            await relay.clock_ns()  # type: ignore[attr-defined]

    asyncio.run(ask())


def test_a_process_that_fails_by_itself_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "HOST_PROCESS", "steelyard.no_such_module")

    async def ask() -> None:
        with pytest.raises(ConnectionError, match="it ended with status 1; its worker's log says why"):
            await Relay().clock_ns()  # type: ignore[attr-defined]

    asyncio.run(ask())


@pytest.mark.usefixtures("cache")
def test_answers_that_cannot_be_read_are_waited_for_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(into: IO[bytes]) -> Iterator[Any]:
        yield next(received(into))
        raise ValueError("no pickle")

    monkeypatch.setattr(relay_module, "received", broken)
    before = children()

    async def ask() -> None:
        relay = Relay()
        asked = [relay.clock_ns() for _ in range(3)]  # type: ignore[attr-defined]
        first, *others = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(first, int)
        assert all(isinstance(one, ConnectionError) and "no pickle" in str(one) for one in others)
        assert children() == before

    asyncio.run(ask())


def test_a_process_ends_also_when_nobody_takes_its_answers(cache: Path) -> None:
    large = cache / "large"
    large.write_bytes(bytes(2**20))
    words = [sys.executable, "-m", HOST_PROCESS, "1.0"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        send(process.stdin, framed((0, "call", ("get", (large, 0), {}))))  # no pipe holds so much
        assert process.wait(LIMIT_S) == GONE
    assert not list((cache / "workers").iterdir())


def test_a_process_ends_where_its_files_cannot_be_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    statuses: list[int] = []

    def end(status: int) -> None:
        statuses.append(status)
        ended.set()

    monkeypatch.setattr(host_process, "END_S", 0.01)
    monkeypatch.setattr(host_process, "remove_scratch", lambda: ended.wait(LIMIT_S))
    monkeypatch.setattr(os, "_exit", end)
    host_process._end()  # as if both had ended it
    assert statuses == [GONE, GONE]


@pytest.mark.usefixtures("cache")
def test_a_process_that_is_closed_has_ended() -> None:
    before = children()

    async def ask() -> None:
        relay = Relay()
        number, _, _ = (await relay.begin_program("http.server"))[1]  # type: ignore[attr-defined]
        assert number == 1
        await relay.close()
        assert children() == before
        with pytest.raises(ConnectionError):
            await relay.clock_ns()  # type: ignore[attr-defined]

    asyncio.run(ask())


def test_an_actor_of_others_has_every_method_of_ours() -> None:
    ours = {name for name, member in vars(HostActor).items() if callable(member) and not name.startswith("_")}
    assert ours <= {name for name in vars(Relay) if not name.startswith("_")}
