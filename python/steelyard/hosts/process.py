"""Processes of this machine: never unrecorded, known by pid and start time, ended by that identity.

A pid alone says nothing, since the kernel gives it out again. A process is (pid, start time in clock ticks
since boot, boot id); after a reboot, or when another program has the pid, that identity is gone and nothing
is signalled.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import InfrastructureError, MissingToolError

PROC = Path("/proc")
BOOT_ID = PROC / "sys/kernel/random/boot_id"
STATE_FIELD, SESSION_FIELD, START_FIELD, RESIDENT_FIELD = 0, 3, 19, 21
"""Where these stand in /proc/PID/stat after the command's closing parenthesis."""
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
POLL_S = 0.02
WAIT_FOR_GO = 'read -r go && [ "$go" = go ] && exec "$@" </dev/null'
"""The shell becomes the server only when told so; it ends by itself when its parent is gone before that."""
SLACKEN = "echo {} >/proc/$$/timerslack_ns"
"""Its own, which it may set without being root; kept over execve(2) (PR_SET_TIMERSLACK of prctl(2))."""


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


@dataclass(frozen=True)
class Seen:
    """A process that runs, be it by a thread that has not ended yet.

    Attributes:
        frozen: whether it is stopped (SIGSTOP), every thread of it: each stops when it runs next.
        resident_bytes: its resident memory.
    """

    frozen: bool
    resident_bytes: int


def boot_id() -> str:
    """This boot of this machine."""
    return BOOT_ID.read_text().strip()


def identity(pid: int) -> Identity | None:
    """The identity of the process that has this pid now; None if there is none."""
    found = _stat(pid)
    return Identity(pid, int(found[START_FIELD]), boot_id()) if found else None


def own_identity() -> Identity:
    """This process."""
    me = identity(os.getpid())
    if me is None:
        raise MissingToolError("/proc is not readable", hint="mount /proc; servers are found by it")
    return me


def look(process: Identity) -> Seen | None:
    """How exactly this process is; None when it has ended."""
    found = _stat(process.pid)
    if found is None or _ended(process.pid, found[STATE_FIELD]):
        return None
    if int(found[START_FIELD]) != process.start_ticks or boot_id() != process.boot_id:
        return None
    return Seen(_frozen(process.pid, found[STATE_FIELD]), int(found[RESIDENT_FIELD]) * PAGE_BYTES)


def alive(process: Identity) -> bool:
    """Whether exactly this process still runs."""
    return look(process) is not None


def send(process: Identity, number: signal.Signals) -> bool:
    """Send a signal, unless the process is gone; says whether it was sent."""
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        return False
    try:
        # The handle was taken first: what is alive now is what receives the signal, whatever happens to the
        # pid.
        if not alive(process):
            return False
        signal.pidfd_send_signal(handle, number)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


_starter = ThreadPoolExecutor(1, thread_name_prefix="steelyard-starter")
"""A parent-death signal comes when the thread that forked ends. This one lives as long as the process, so
that a server can be started from any thread."""


def start(
    words: Sequence[str],
    *,
    log: Path,
    cwd: Path,
    before: Callable[[Identity], None],
    die_with_us: bool,
    prefix: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    timer_slack_us: int | None = None,
) -> tuple[Identity, subprocess.Popen[bytes]]:
    """Start a server in a session of its own, out of reach of the terminal's Ctrl-C.

    Args:
        words: the server's command.
        log: what it prints is appended here.
        cwd: its working directory.
        before: called with its identity before the server's first instruction: record it, put it into its
            group.
        die_with_us: the kernel kills the server when this process ends, however it ends.
        prefix: words before the command, e.g. `nsenter --net=...`.
        environment: variables beside our own.
        timer_slack_us: of all its threads, which inherit it; None = the kernel's.
    """
    script = (
        WAIT_FOR_GO if timer_slack_us is None else f"{SLACKEN.format(timer_slack_us * 1000)} && {WAIT_FOR_GO}"
    )
    whole = ["/bin/sh", "-c", script, "steelyard-server", *prefix, *_shielded(words, die_with_us)]
    begun = _starter.submit(_start, whole, log, cwd, before, {**os.environ, **(environment or {})})
    try:
        return begun.result()
    except BaseException:
        wait([begun])  # interrupted: whoever ends what was started must find this one recorded
        raise


def _start(
    words: Sequence[str],
    log: Path,
    cwd: Path,
    before: Callable[[Identity], None],
    environment: Mapping[str, str],
) -> tuple[Identity, subprocess.Popen[bytes]]:
    with log.open("ab") as out:
        child = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=environment,
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
    except BrokenPipeError:
        child.wait()
        raise InfrastructureError(f"{words[-1]} ended before it began: {log} says why") from None
    except BaseException:
        child.kill()
        child.wait()
        raise
    finally:
        with suppress(BrokenPipeError):
            child.stdin.close()
    return found, child


def _shielded(words: Sequence[str], die_with_us: bool) -> list[str]:
    tool = shutil.which("setpriv")
    options: list[str] = []
    if os.geteuid() == 0:
        # With this capability Cassandra locks all it maps into memory; its own user never has it.
        options += ["--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"]
    if die_with_us:
        options += ["--pdeathsig", "KILL"]
    return [tool, *options, *words] if tool and options else list(words)


def kill_all(find: Callable[[], Iterable[Identity]], limit_s: float = 10.0) -> None:
    """Kill what `find` finds until it finds nothing, at most `limit_s` seconds: a fork may slip by once."""
    until = time.monotonic() + limit_s
    while (found := [process for process in find() if alive(process)]) and time.monotonic() < until:
        for process in found:
            send(process, signal.SIGKILL)
        time.sleep(POLL_S)


def wait_gone(processes: Sequence[Identity], limit_s: float) -> bool:
    """Wait until all are gone, at most `limit_s` seconds; says whether they are."""
    until = time.monotonic() + limit_s
    while any(alive(process) for process in processes):
        if time.monotonic() > until:
            return False
        time.sleep(POLL_S)
    return True


def in_sessions(leaders: Iterable[Identity]) -> list[Identity]:
    """What lives in the sessions that these processes began, whether they themselves have ended or not.

    The kernel gives a number out again only when no session has it; where another process has it now, the
    session is that one's.
    """
    ours = {p.pid: p for p in leaders if p.boot_id == boot_id()}
    for pid, leader in list(ours.items()):
        if (now := identity(pid)) and now != leader:
            del ours[pid]
    found = []
    for pid in _pids() if ours else ():
        fields = _stat(pid)
        if not fields:
            continue
        leader_ = ours.get(int(fields[SESSION_FIELD]))
        if leader_ and int(fields[START_FIELD]) >= leader_.start_ticks:
            found.append(Identity(pid, int(fields[START_FIELD]), leader_.boot_id))
    return found


def _pids() -> list[int]:
    return [int(name) for name in os.listdir(PROC) if name.isdigit()]  # noqa: PTH208 - names are all that is wanted


def _ended(pid: int, state: str) -> bool:
    """A zombie has ended; but while others of its threads end, it still holds its ports."""
    if state not in "ZX":
        return False
    try:
        return len(list((PROC / str(pid) / "task").iterdir())) <= 1
    except OSError:
        return True


def _frozen(pid: int, state: str) -> bool:
    if state not in "Tt":
        return False
    try:
        threads = [_fields(path / "stat") for path in (PROC / str(pid) / "task").iterdir()]
    except OSError:
        return True
    return all(fields is None or fields[STATE_FIELD] in "Tt" for fields in threads)


def _stat(pid: int) -> list[str] | None:
    return _fields(PROC / str(pid) / "stat")


def _fields(stat: Path) -> list[str] | None:
    try:
        text = stat.read_text()
    except (OSError, ValueError):
        return None
    return text.rpartition(")")[2].split()
