"""One server process's life: start, stop, kill, freeze, thaw, and why it died."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from steelyard.errors import InfrastructureError
from steelyard.hosts.cgroup import Group
from steelyard.hosts.host import Command, Host, HostLostError
from steelyard.hosts.process import Identity

FREEZE_LIMIT_S = 10.0
STOP_GRACE_S = 20.0
LINE_MAX = 300
TAIL_BYTES = 65536
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
        host: the machine it is on, by name; empty where all nodes are on one.
        timer_slack_us: of its threads; None = the kernel's.
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
    host: str = ""
    timer_slack_us: int | None = None


class Server:
    """A server, on a host.

    Args:
        spec: what it is and how it is started.
        host: where it runs.
        cluster: the cluster as which the host records it.
        group: its node's control group.
    """

    def __init__(self, spec: ServerSpec, host: Host, cluster: str, group: Group) -> None:
        self.spec, self.host = spec, host
        self.identity: Identity | None = None
        self.expected_up = False
        self._cluster, self._group = cluster, group

    @property
    def name(self) -> str:
        """Who it is in messages and records."""
        return self.spec.name

    @property
    def node(self) -> str:
        """Its node's name."""
        return self.spec.name.partition("/")[0]

    @property
    def alive(self) -> bool:
        """Whether it runs; a frozen one does. One whose machine is lost does not: it ends with the worker."""
        try:
            return self.identity is not None and self.host.look(self.identity) is not None
        except HostLostError:
            return False

    def start(self) -> None:
        """Start it; returns at once. Raises InfrastructureError when it already runs."""
        if self.alive:
            raise InfrastructureError(f"{self.name} already runs")
        folder = self.spec.folder
        # Native libraries are unpacked at each start and stay behind after a kill.
        self.host.remove(folder / self.spec.scratch)
        self.host.make_folder(folder / self.spec.scratch)
        words = [*self.spec.command()]
        self.host.put(folder / "conf" / self.spec.words, "\n".join(words) + "\n")
        self.identity = self.host.start(
            Command(
                self._cluster,
                self.name,
                words,
                folder,
                folder / "logs" / self.spec.printed,
                self._group,
                self.spec.namespace,
                timer_slack_us=self.spec.timer_slack_us,
            )
        )
        self.expected_up = True

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """Stop it: SIGTERM, and after `grace_s` seconds SIGKILL."""
        self.expected_up = False
        with suppress(HostLostError):  # then it has ended
            for number, limit_s in ((signal.SIGCONT, 0.0), (signal.SIGTERM, grace_s), (signal.SIGKILL, 10.0)):
                if self.identity and self.host.signal(self.identity, number) and limit_s:
                    self.host.wait([self.identity], limit_s)

    def send(self, number: signal.Signals) -> None:
        """Send it a signal; raises InfrastructureError when it does not run."""
        if self.identity is None or not self.host.signal(self.identity, number):
            raise InfrastructureError(f"{self.name} does not run")

    def freeze(self) -> None:
        """Stop all its threads; returns when they stand, after which it answers nothing.

        Raises:
            InfrastructureError: it does not run, or did not stop within FREEZE_LIMIT_S.
        """
        self.send(signal.SIGSTOP)
        until = time.monotonic() + FREEZE_LIMIT_S
        while not self._frozen():
            if time.monotonic() > until or not self.alive:
                raise InfrastructureError(f"{self.name} could not be frozen")
            time.sleep(0.005)

    def _frozen(self) -> bool:
        seen = self.host.look(self.identity) if self.identity else None
        return seen is not None and seen.frozen

    def why_dead(self) -> str:
        """How it ended: exit status, out of memory or crash, its last word; or that its machine is lost."""
        try:
            return self._why_dead()
        except HostLostError as lost:
            return lost.message

    def _why_dead(self) -> str:
        status = self.host.exit_status(self.identity) if self.identity else None
        parts = [_exit_words(status)] if status is not None else []
        if crash := self._log(self.spec.crash, 0):
            parts.append(_first_words(crash))
        if status is None or status >= 0:  # killed from outside it had no last word on the matter
            parts.append(last_word(self._log(self.spec.log), self._log(self.spec.printed)))
        return "; ".join(part for part in parts if part)

    def _log(self, name: str, start: int = -TAIL_BYTES) -> str:
        """A log, or its end; empty where there is none."""
        with suppress(OSError):
            return self.host.get(self.spec.folder / "logs" / name, start).decode(errors="replace")
        return ""


def _exit_words(status: int) -> str:
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def _first_words(crash: str) -> str:
    lines = [line.strip("# ") for line in crash.splitlines()[:12]]
    return next(
        (line for line in lines if "fatal error" in line or "Error" in line or "SIG" in line), "JVM crashed"
    )


def last_word(log: str, printed: str) -> str:
    """Why a server gave up, else the last error it told of, else the last line of its log or output.

    Of the exception whose trace stands below, the innermost cause belongs to it.
    """
    logged, said = _lines(log), _lines(printed)
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


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]
