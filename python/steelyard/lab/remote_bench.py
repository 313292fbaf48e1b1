"""Another machine as a bench: trials run there wholly, and their folders come back."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from steelyard.engine.session import STDERR
from steelyard.errors import SteelyardError
from steelyard.hosts.host import HostLostError
from steelyard.hosts.remote.host import RemoteHost
from steelyard.hosts.remote.numbered import unread
from steelyard.lab.bench import Ran
from steelyard.lab.progress import Show
from steelyard.results.disk import writing
from steelyard.results.store import RESERVE
from steelyard.spec.models import Study, Trial

POLL_S = 2.0
PROGRAM = "steelyard.lab.bench_program"
LOADS = "loads"
TAIL_BYTES = 4096


def packed(value: Any) -> bytes:
    """A value as a line."""
    return base64.b64encode(pickle.dumps(value)) + b"\n"


def unpacked(line: bytes) -> Any:
    """What `packed` made; both ends are our own, of one version."""
    return pickle.loads(base64.b64decode(line))  # noqa: S301 - our own bytes


class RemoteBench:
    """A program on another machine that runs trials; see `Bench`.

    Args:
        host: the machine.
        study: says how trials follow each other.
        show: receives what is said there, each line with the machine's name.

    Raises:
        SteelyardError: the machine is a bench already, or cannot be one.
        HostLostError: it is lost.
    """

    def __init__(self, host: RemoteHost, study: Study, show: Show) -> None:
        self.name, self._host, self._show = host.name, host, show
        self._ended = False
        self._number, _, self._there = host.ask("begin_program", PROGRAM)
        self._lines = self._read()
        self._send("begin", study)
        self._answer("ready")

    @property
    def lost(self) -> bool:
        """Whether the machine is lost, or its program has ended."""
        return self._ended or self._host.lost_ns is not None

    def run(self, trial: Trial, folder: Path, rate: Mapping[str, Any], since_ns: int, *, keep: bool) -> Ran:
        """See `Bench`; what takes time before the trial begins there is not its own.

        Raises:
            HostLostError: the machine is lost, and with it what it measured.
        """
        del since_ns  # of our clock
        self._send("run", trial, dict(rate), keep)
        ran, loads = self._answer("ran")
        with writing(folder):
            (folder / RESERVE).unlink(missing_ok=True)
            self._host.fetch(self._there / "trials" / f"{trial.number:03d}", folder)
        for name in loads:
            self._fetch_load(name, folder.parent.parent)
        return ran  # type: ignore[no-any-return]

    def _fetch_load(self, name: str, run: Path) -> None:
        """Fetch the folder of a load of data, under a name that no other has."""
        loads = run / LOADS
        names = (name, *(f"{name}-{n}" for n in range(2, 1000)))
        free = next(n for n in names if not (loads / n).exists() and not (loads / f"{n}.partial").exists())
        partial = loads / f"{free}.partial"
        with writing(run):
            partial.mkdir(parents=True)
            self._host.fetch(self._there / LOADS / name, partial)
            partial.rename(loads / free)

    def stop(self) -> None:
        """What Ctrl-C means there; nothing when it is lost."""
        with suppress(HostLostError):
            self._send("stop")

    def release(self) -> None:
        """See `Bench`; raises HostLostError."""
        self._send("release")
        self._answer("released")

    def close(self) -> None:
        """End the program, and with it what it still has."""
        with suppress(HostLostError):
            self._host.ask("close_input", self._number)
            with suppress(SteelyardError):
                self._answer("released")

    def _send(self, *words: Any) -> None:
        try:
            self._host.ask("write", self._number, packed(words))
        except (OSError, ValueError):
            raise self._gone() from None

    def _answer(self, wanted: str) -> Any:
        """What comes of what was sent; what is meant for people is shown meanwhile.

        Raises:
            SteelyardError: it came to that there. HostLostError: nothing will come.
        """
        for line in self._lines:
            kind, said = unpacked(line)
            if kind == wanted:
                return said
            if kind == "error":
                raise self._named(said)
            self._show.say(f"{self.name}: {said}")
        raise self._gone()

    def _named(self, error: SteelyardError) -> SteelyardError:
        """An error of that machine."""
        error.message = f"{self.name}: {error.message}"
        error.args = (error.message,)
        return error

    def _gone(self) -> HostLostError:
        """What is said when the program has ended, with its last words."""
        self._ended, words = True, ""
        with suppress(SteelyardError, OSError):
            said: bytes = self._host.as_host().get(self._there / STDERR, -TAIL_BYTES)
            words = (said.decode(errors="replace").strip().splitlines() or [""])[-1]
        return HostLostError(f"the bench {self.name} has ended" + (f": {words}" if words else ""))

    def _read(self) -> Iterator[bytes]:
        """What the program writes, until it has ended."""
        number, status = 0, None
        while status is None:
            first, lines, status = self._host.ask("lines", self._number, number, POLL_S)
            yield from unread(number, first, lines)
            number = first + len(lines)
