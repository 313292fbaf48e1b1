"""Running the `steelyard` command as a user does, and looking at what it leaves behind."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import psutil

from steelyard.results.read import Run, TrialResult, open_run

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "steelyard.data" / "scripts" / "steelyard"
LIMIT_S = 280
"""Of each wait for a command; two are shorter than a test may take, so that what it said is shown."""
END_WITHIN_S = 60.0
"""What is killed, and an engine whose standard input has ended, is gone by then."""


class Command:
    """A running command.

    Args:
        words: what follows `steelyard`; `--out` is added to `bench` and `run`.
        out: the run's folder.
    """

    def __init__(self, words: str, out: Path) -> None:
        self.out = out
        self.lines: list[str] = []
        self._heard = threading.Condition()
        self.process = subprocess.Popen(
            [sys.executable, str(SCRIPT), *shlex.split(words), "--no-report", "--out", str(out)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
        )
        self.family = {self.process.pid}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._heard:
                self.lines.append(line.rstrip())
                self._heard.notify_all()
        with self._heard:
            self._heard.notify_all()

    def until(self, wanted: Callable[[str], bool]) -> str:
        """Wait for a line of progress."""

        def found() -> str | None:
            return next((line for line in self.lines if wanted(line)), None)

        with self._heard:
            heard = self._heard.wait_for(lambda: found() or not self._reader.is_alive(), LIMIT_S)
        line = found()
        assert heard, "\n".join(["nothing of the kind was said:", *self.lines])
        assert line, "\n".join(self.lines)
        self.family |= {p.pid for p in psutil.Process(self.process.pid).children(recursive=True)}
        return line

    def processes(self, word: str) -> list[psutil.Process]:
        """Its children whose command line holds a word."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        return [child for child in children if word in " ".join(child.cmdline())]

    def end(self, limit_s: float = LIMIT_S) -> int:
        """Wait for its end; returns the exit code."""
        try:
            code = self.process.wait(limit_s)
        except subprocess.TimeoutExpired as error:
            raise AssertionError("\n".join(["it does not end:", *self.lines])) from error
        self._reader.join()
        return code

    @property
    def stderr(self) -> str:
        """Everything it said on stderr."""
        return "\n".join(self.lines)

    @cached_property
    def stdout(self) -> str:
        """Everything it printed, when it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.read()

    def result(self) -> Run:
        """What it left."""
        return open_run(self.out)

    def trial(self) -> TrialResult:
        """Its only trial."""
        [trial] = self.result().trials
        return trial


def summary(trial: TrialResult, phase: str) -> dict[str, Any]:
    """A phase's summary, which must be there."""
    found = trial.summary(phase)
    assert found is not None
    return found


def offered(summary: Mapping[str, Any]) -> int:
    """Operations that were due: not all are sent where a busy machine stops the engine near the end."""
    return int(summary["operations"] + summary["censored"]["unsent"])


def ours(folder: Path) -> list[str]:
    """Command lines of processes that name the folder or what is in it: not of this one, nor of those that
    have started it.

    Args:
        folder: a command's own, since clusters of the tests' session, or of the test itself, live beside it.
    """
    named = re.compile(re.escape(str(folder)) + r"(?![\w.-])")
    before = {os.getpid(), *(process.pid for process in psutil.Process().parents())}
    lines = {
        process.pid: " ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])
    }
    return [line for pid, line in lines.items() if pid not in before and named.search(line)]


def left_running(folder: Path) -> list[str]:
    """Those of a command that has ended which do not end, either; waits for those that do."""
    until = time.monotonic() + END_WITHIN_S
    while (left := ours(folder)) and time.monotonic() < until:
        time.sleep(0.1)
    return left
