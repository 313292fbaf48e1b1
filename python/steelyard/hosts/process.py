"""Servers as processes: never unrecorded, known by pid and start time, ended by that identity.

A pid alone says nothing, since the kernel gives it out again. A process is (pid, start time in clock ticks
since boot, boot id); after a reboot, or when another program has the pid, that identity is gone and nothing
is signalled.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import MissingToolError

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
STATE_FIELD, START_FIELD = 0, 19
"""Where state and start time stand in /proc/PID/stat after the command's closing parenthesis."""
WAIT_FOR_GO = 'read -r go && [ "$go" = go ] && exec "$@" </dev/null'
"""The shell becomes the server only when told so; it ends by itself when its parent is gone before that."""


@dataclass(frozen=True)
class Identity:
    """One process, over all time.

    Attributes:
        pid: its number.
        start_ticks: when it started, in clock ticks since boot.
        boot_id: the boot it belongs to.
    """

    pid: int
    start_ticks: int
    boot_id: str

    def alive(self) -> bool:
        """Whether exactly this process still runs, be it by a thread that has not ended yet."""
        found = _stat(self.pid)
        return (
            found is not None
            and not _ended(self.pid, found[STATE_FIELD])
            and int(found[START_FIELD]) == self.start_ticks
            and BOOT_ID.read_text().strip() == self.boot_id
        )

    def send(self, number: signal.Signals) -> bool:
        """Send a signal, unless the process is gone; says whether it was sent."""
        try:
            handle = os.pidfd_open(self.pid)
        except OSError:
            return False
        try:
            # The handle was taken first: what is alive now is what receives the signal, whatever happens to
            # the pid.
            if not self.alive():
                return False
            signal.pidfd_send_signal(handle, number)
        except OSError:
            return False
        finally:
            os.close(handle)
        return True


def identity(pid: int) -> Identity | None:
    """The identity of the process that has this pid now; None if there is none."""
    found = _stat(pid)
    return Identity(pid, int(found[START_FIELD]), BOOT_ID.read_text().strip()) if found else None


def own_identity() -> Identity:
    """This process."""
    me = identity(os.getpid())
    if me is None:
        raise MissingToolError("/proc is not readable", hint="mount /proc; servers are found by it")
    return me


def start(
    command: Sequence[str],
    *,
    log: Path,
    cwd: Path,
    before: Callable[[Identity], None],
    die_with_us: bool,
    prefix: Sequence[str] = (),
) -> tuple[Identity, subprocess.Popen[bytes]]:
    """Start a server in a session of its own, out of reach of the terminal's Ctrl-C.

    Args:
        command: the server's words.
        log: what it prints is appended here.
        cwd: its working directory.
        before: called with its identity before the server's first instruction: record it, put it into its
            group.
        die_with_us: the kernel kills the server when the thread that called this ends, however it ends. Only
            the main thread lives as long as the tool, so that it is left out in any other.
        prefix: words before the command, e.g. `ip netns exec NAME`.
    """
    words = ["/bin/sh", "-c", WAIT_FOR_GO, "steelyard-server", *prefix, *_shielded(command, die_with_us)]
    with log.open("ab") as out:
        child = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            start_new_session=True,
        )
    if child.stdin is None:
        raise AssertionError("stdin was asked for")
    try:
        found = identity(child.pid)
        if found is None:
            raise AssertionError("a child that waits has an entry in /proc")
        before(found)
        child.stdin.write(b"go\n")
        child.stdin.flush()
    except BaseException:
        child.kill()
        raise
    finally:
        with suppress(BrokenPipeError):
            child.stdin.close()
    return found, child


def _shielded(command: Sequence[str], die_with_us: bool) -> list[str]:
    tool = shutil.which("setpriv")
    options: list[str] = []
    if os.geteuid() == 0:
        # With this capability Cassandra locks all it maps into memory; its own user never has it.
        options += ["--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"]
    if die_with_us and threading.current_thread() is threading.main_thread():
        options += ["--pdeathsig", "KILL"]
    return [tool, *options, *command] if tool and options else list(command)


def end(processes: Sequence[Identity], *, grace_s: float) -> list[Identity]:
    """End processes: SIGTERM, after `grace_s` seconds SIGKILL. Returns those that had to be killed."""
    for process in processes:
        process.send(signal.SIGCONT)
        process.send(signal.SIGTERM)
    wait_gone(processes, grace_s)
    stubborn = [process for process in processes if process.send(signal.SIGKILL)]
    wait_gone(stubborn, 10.0)
    return stubborn


def wait_gone(processes: Sequence[Identity], limit_s: float) -> bool:
    """Wait until all are gone, at most `limit_s` seconds; says whether they are."""
    until = time.monotonic() + limit_s
    while any(process.alive() for process in processes):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def _ended(pid: int, state: str) -> bool:
    """A zombie has ended; but while others of its threads end, it still holds its ports."""
    if state not in "ZX":
        return False
    try:
        return len(list(Path(f"/proc/{pid}/task").iterdir())) <= 1
    except OSError:
        return True


def _stat(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (OSError, ValueError):
        return None
    return text.rpartition(")")[2].split()
