"""One local server's life: start, stop, kill, freeze, thaw, and why it died."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from steelyard.errors import InfrastructureError
from steelyard.testbed import process
from steelyard.testbed.cassandra.config import NodeSpec
from steelyard.testbed.cassandra.launch import Launch
from steelyard.testbed.cgroup import Group
from steelyard.testbed.cql_probe import Place
from steelyard.testbed.process import Identity

STOP_GRACE_S = 20.0
LINE_MAX = 300


class LocalNode:
    """A node of this host.

    Args:
        spec: where it is.
        launch: how its server is started.
        group: its control group.
        port: where it answers CQL.
        recorded: called with each new process before its first instruction; writes it down.
        die_with_us: its server ends with this process.
    """

    def __init__(
        self,
        spec: NodeSpec,
        launch: Launch,
        group: Group,
        *,
        port: int,
        recorded: Callable[[str, Identity], None],
        die_with_us: bool,
    ) -> None:
        self.spec, self.launch, self.group = spec, launch, group
        self.place = Place(spec.address, port, spec.namespace)
        self.identity: Identity | None = None
        self.expected_up = False
        self._recorded, self._die_with_us = recorded, die_with_us
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def alive(self) -> bool:
        """Whether its server runs; a frozen one does."""
        return self.identity is not None and self.identity.alive()

    def pids(self) -> list[int]:
        """Its processes now."""
        return [self.identity.pid] if self.identity and self.alive else []

    def start(self) -> None:
        """Start the server; returns at once. Raises InfrastructureError when it already runs."""
        if self.alive:
            raise InfrastructureError(f"{self.spec.name} already runs")
        # Native libraries are unpacked at each start and stay behind after a kill.
        shutil.rmtree(self.spec.folder / "tmp", ignore_errors=True)
        (self.spec.folder / "tmp").mkdir()
        command = self.launch.command(self.spec)
        (self.spec.folder / "conf" / "command.txt").write_text("\n".join(command) + "\n")
        self.identity, self._child = process.start(
            command,
            log=self.spec.folder / "logs" / "stdout.log",
            cwd=self.spec.folder,
            before=self._before,
            die_with_us=self._die_with_us,
            prefix=["ip", "netns", "exec", self.spec.namespace] if self.spec.namespace else [],
        )
        self.expected_up = True

    def _before(self, found: Identity) -> None:
        self._recorded(self.spec.name, found)
        self.group.add(found.pid)

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """Stop the server: SIGTERM, and after `grace_s` seconds SIGKILL."""
        self.expected_up = False
        if self.identity:
            process.end([self.identity], grace_s=grace_s)
        self.reap()

    def kill(self) -> None:
        """kill -9; returns when the server is gone."""
        self.expected_up = False
        self._send(signal.SIGKILL)
        if self.identity:
            process.wait_gone([self.identity], 10.0)
        self.reap()

    def freeze(self) -> None:
        """Stop it in its tracks (SIGSTOP): it holds its connections and answers nothing."""
        self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen server go on."""
        self._send(signal.SIGCONT)

    def _send(self, number: signal.Signals) -> None:
        if self.identity is None or not self.identity.send(number):
            raise InfrastructureError(f"{self.spec.name} does not run")

    def reap(self) -> int | None:
        """The exit status of a server we started, if it has ended; negative is the signal."""
        return self._child.poll() if self._child else None

    def why_dead(self) -> str:
        """How the server ended: exit status, out of memory or crash, and its last line."""
        status = self.reap()
        parts = [_exit_words(status)] if status is not None else []
        crash = self.spec.folder / "logs" / "hs_err.log"
        if crash.exists():
            parts.append(_first_words(crash))
        if status is None or status >= 0:  # killed from outside it had no last word on the matter
            parts.append(last_line(self.spec.folder / "logs"))
        return "; ".join(part for part in parts if part)


def _exit_words(status: int) -> str:
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def _first_words(crash: Path) -> str:
    lines = [line.strip("# ") for line in crash.read_text(errors="replace").splitlines()[:12]]
    return next(
        (line for line in lines if "fatal error" in line or "Error" in line or "SIG" in line), "JVM crashed"
    )


def last_line(logs: Path) -> str:
    """The last error a server told of, else the last line of its log, else of what it printed."""
    log, printed = _tail(logs / "system.log"), _tail(logs / "stdout.log")
    errors = [line for line in (*printed, *log) if line.startswith(("ERROR", "Error", "Exception", "FATAL"))]
    lines = errors[-1:] or log[-1:] or printed[-1:]
    return lines[0][:LINE_MAX] if lines else ""


def _tail(path: Path) -> list[str]:
    if not path.exists():
        return []
    with path.open("rb") as log:
        log.seek(max(0, log.seek(0, 2) - 65536))
        return [line for line in log.read().decode(errors="replace").splitlines() if line.strip()]
