"""One server process's life: start, stop, kill, freeze, thaw, and why it died."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from steelyard.errors import InfrastructureError
from steelyard.hosts import process
from steelyard.hosts.process import Identity

STOP_GRACE_S = 20.0
LINE_MAX = 300
ERROR = re.compile(r"(ERROR|Error|Exception|FATAL)")
CAUSE = re.compile(r"(Caused by: )?([\w$]+\.)+[\w$]*(Exception|Error)\b.*")
TRACE = re.compile(r"\s|Caused by: |([\w$]+\.)+[\w$]*(Exception|Error)\b")
ABORT = "ABORTING"
"""In the line with which a server of HBase says why it gives up; what follows is only the consequence."""


@dataclass(frozen=True)
class ServerSpec:
    """One server on paper.

    Attributes:
        name: who it is in messages and records: its node's name, or "node1/datanode" where it has several.
        folder: its node's folder, with `conf/` and `logs/`.
        command: makes the words that start it.
        log: its log's file name in `logs/`.
        printed: what it prints goes there.
        crash: where the JVM tells of a crash.
        words: its command's file name in `conf/`.
        scratch: its own folder for what it unpacks, emptied at each start.
        namespace: its network namespace, if it has one.
    """

    name: str
    folder: Path
    command: Callable[[], Sequence[str]]
    log: str = "system.log"
    printed: str = "stdout.log"
    crash: str = "hs_err.log"
    words: str = "command.txt"
    scratch: str = "tmp"
    namespace: str | None = None


class Server:
    """A server of this host.

    Args:
        spec: what it is and how it is started.
        before: called with each new process before its first instruction: writes it down, groups it.
        die_with_us: it ends with this process.
    """

    def __init__(
        self, spec: ServerSpec, before: Callable[[str, Identity], None], *, die_with_us: bool
    ) -> None:
        self.spec = spec
        self.identity: Identity | None = None
        self.expected_up = False
        self._before, self._die_with_us = before, die_with_us
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        """Who it is in messages and records."""
        return self.spec.name

    @property
    def alive(self) -> bool:
        """Whether it runs; a frozen one does."""
        return self.identity is not None and self.identity.alive()

    def start(self) -> None:
        """Start it; returns at once. Raises InfrastructureError when it already runs."""
        if self.alive:
            raise InfrastructureError(f"{self.name} already runs")
        folder = self.spec.folder
        # Native libraries are unpacked at each start and stay behind after a kill.
        shutil.rmtree(folder / self.spec.scratch, ignore_errors=True)
        (folder / self.spec.scratch).mkdir(parents=True)
        command = [*self.spec.command()]
        (folder / "conf" / self.spec.words).write_text("\n".join(command) + "\n")
        self.identity, self._child = process.start(
            command,
            log=folder / "logs" / self.spec.printed,
            cwd=folder,
            before=lambda found: self._before(self.name, found),
            die_with_us=self._die_with_us,
            prefix=["ip", "netns", "exec", self.spec.namespace] if self.spec.namespace else [],
        )
        self.expected_up = True

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """Stop it: SIGTERM, and after `grace_s` seconds SIGKILL."""
        self.expected_up = False
        if self.identity:
            process.end([self.identity], grace_s=grace_s)
        self.reap()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal; raises InfrastructureError when it does not run."""
        if self.identity is None or not self.identity.send(number):
            raise InfrastructureError(f"{self.name} does not run")

    def reap(self) -> int | None:
        """The exit status of a process we started, if it has ended; negative is the signal."""
        return self._child.poll() if self._child else None

    def why_dead(self) -> str:
        """How it ended: exit status, out of memory or crash, and its last word."""
        status, logs = self.reap(), self.spec.folder / "logs"
        parts = [_exit_words(status)] if status is not None else []
        if (logs / self.spec.crash).exists():
            parts.append(_first_words(logs / self.spec.crash))
        if status is None or status >= 0:  # killed from outside it had no last word on the matter
            parts.append(last_word(logs / self.spec.log, logs / self.spec.printed))
        return "; ".join(part for part in parts if part)


def _exit_words(status: int) -> str:
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def _first_words(crash: Path) -> str:
    lines = [line.strip("# ") for line in crash.read_text(errors="replace").splitlines()[:12]]
    return next(
        (line for line in lines if "fatal error" in line or "Error" in line or "SIG" in line), "JVM crashed"
    )


def last_word(log: Path, printed: Path) -> str:
    """Why a server gave up, else the last error it told of, else the last line of its log or output.

    Of the exception whose trace stands below, the innermost cause belongs to it.
    """
    logged, said = _tail(log), _tail(printed)
    lines = [*said, *logged]
    errors = [at for at, line in enumerate(lines) if ERROR.match(line)]
    aborts = [at for at in errors if ABORT in lines[at]]
    if not errors:
        return next((some[-1][:LINE_MAX] for some in (logged, said) if some), "")
    at = aborts[0] if aborts else errors[-1]
    causes = [line for line in takewhile(TRACE.match, lines[at + 1 :]) if CAUSE.match(line)]
    if not causes:
        return lines[at][:LINE_MAX]
    return f"{lines[at][:LINE_MAX]} ({causes[-1].removeprefix('Caused by: ')[:LINE_MAX]})"


def _tail(path: Path) -> list[str]:
    if not path.exists():
        return []
    with path.open("rb") as log:
        log.seek(max(0, log.seek(0, 2) - 65536))
        return [line for line in log.read().decode(errors="replace").splitlines() if line.strip()]
