"""A bench's own program, `python -m steelyard.lab.bench_program FOLDER`: does what the laboratory asks.

It reads one line for each thing to do and writes lines of what it says and what came of it. At the end of its
input, or when its worker ends, it ends with everything it has started.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import queue
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

from steelyard.engine.path import find_engine
from steelyard.errors import InfrastructureError, SteelyardError
from steelyard.folders import state_folder
from steelyard.hosts.local import LocalHost
from steelyard.hosts.machine import this_machine
from steelyard.lab.bench import LocalBench, Ran
from steelyard.lab.progress import Live
from steelyard.lab.remote_bench import LOADS, packed, unpacked
from steelyard.lab.signals import Interrupts
from steelyard.results.store import RESERVE, RESERVE_BYTES
from steelyard.spec.models import Study, Trial


def lock_name() -> str:
    """The lock's file, one for each machine: homes, and state folders in them, may be shared by several."""
    here = this_machine()
    return f"bench-{here.boot_id}-{here.pid_namespace}.lock"


class Told:
    """Sends what is said to people; phases under way stay here, since several benches share one screen."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out, self._lock = out, threading.Lock()

    def send(self, kind: str, value: Any = None) -> None:
        """Send a word of our own."""
        with self._lock:
            self._out.write(packed((kind, value)))
            self._out.flush()

    def say(self, line: str) -> None:
        """See `Show`."""
        self.send("say", line)

    def end(self, line: str) -> None:
        """See `Show`."""
        self.say(line)

    def trial(self, number: int, total: int, label: str, done: int, left_s: float) -> None:
        """See `Show`."""

    def begin(self, phase: str) -> None:
        """See `Show`."""
        self.say(phase)

    def update(self, live: Live) -> None:
        """See `Show`."""

    def close(self) -> None:
        """See `Show`."""

    def finish(self) -> None:
        """See `Show`."""


class Program:
    """Does what it is told, one thing after the other.

    Args:
        root: receives the folders of trials and loads.
        told: receives what comes of it.
        interrupts: the signals, installed.
    """

    def __init__(self, root: Path, told: Told, interrupts: Interrupts) -> None:
        self.root, self.told, self.interrupts = root, told, interrupts
        self._bench: LocalBench | None = None
        self._loads: set[str] = set()

    def do(self, kind: str, *given: Any) -> None:
        """Do one thing, and tell what came of it."""
        try:
            self.told.send(*getattr(self, f"_do_{kind}")(*given))
        except SteelyardError as error:
            self.told.send("error", sendable(error))

    def _do_begin(self, study: Study) -> tuple[str, Any]:
        self._bench = LocalBench(self.root, study, LocalHost(), find_engine(), self.told, self.interrupts)
        return "ready", None

    def _do_run(self, trial: Trial, rate: dict[str, Any], keep: bool) -> tuple[str, Any]:
        assert self._bench is not None  # noqa: S101 - `begin` comes first
        shutil.rmtree(self.root / "trials", ignore_errors=True)  # the laboratory has it
        folder = self.root / "trials" / f"{trial.number:03d}"
        folder.mkdir(parents=True)
        (folder / RESERVE).write_bytes(bytes(RESERVE_BYTES))
        ran = self._bench.run(trial, folder, rate, time.monotonic_ns(), keep=keep)
        error = sendable(ran.error) if ran.error else None
        return "ran", (Ran(ran.status, ran.reason, error, ran.written), self._new_loads())

    def _do_release(self) -> tuple[str, Any]:
        if self._bench:
            self._bench.release()
        return "released", None

    def _new_loads(self) -> list[str]:
        """Folders of loads that were made since the last trial."""
        found = {path.name for path in (self.root / LOADS).glob("*") if not path.suffix} - self._loads
        self._loads |= found
        return sorted(found)


def sendable(error: SteelyardError) -> SteelyardError:
    """An error as it is, or as one that can be sent."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    except Exception:
        return InfrastructureError(error.message, hint=error.hint)
    return error


def only_one() -> int:
    """An open file that says that this machine is a bench, so that no two testbeds share its cores.

    Raises:
        InfrastructureError: it is one already.
    """
    path = state_folder() / lock_name()
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise InfrastructureError(
            "this machine is a bench of another study, or stands in --ssh under two names",
            hint="two testbeds on one machine would measure each other: wait for it, or leave it out",
        ) from None
    return descriptor


def _listen(todo: queue.SimpleQueue[tuple[Any, ...] | None]) -> None:
    """Take what comes; a stop is a signal to ourselves, and so is the end of the input."""
    for line in sys.stdin.buffer:
        words = unpacked(line)
        if words == ("stop",):
            os.kill(os.getpid(), signal.SIGINT)
        else:
            todo.put(words)
    os.kill(os.getpid(), signal.SIGINT)
    todo.put(None)


def main(root: Path) -> None:
    """Be a bench until the input ends."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what others print is no answer
    told, todo = Told(out), queue.SimpleQueue[tuple[Any, ...] | None]()
    try:
        lock = only_one()
    except SteelyardError as error:
        told.send("error", error)
        return
    with Interrupts() as interrupts:
        threading.Thread(target=_listen, args=(todo,), daemon=True).start()
        program = Program(root, told, interrupts)
        while words := todo.get():
            program.do(*words)
        program.do("release")
    os.close(lock)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
