"""Commands of the user's own: run as words without a shell, ended with everything they started.

Whoever waits for one must be on the thread that started it: the kernel ends it with that thread.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from steelyard.errors import InfrastructureError, InputError

LOOK_EVERY_S = 0.1
GRACE_S = 2.0
GUARD = """trap 'kill -KILL 0' USR1
trap : TERM
restored='env --default-signal=INT,QUIT'
$restored true 2>/dev/null && set -- $restored sh -c 'exec "$@"' sh "$@"
"$@" &
while :; do
  wait $!
  status=$?
  kill -0 $! 2>/dev/null || exit $status
done"""
"""A shell between us and a command, first of their process group. When we die the kernel sends it USR1, and
it ends the whole group: the kernel's signal goes to a child alone, and not to what the child has started. Not
HUP: under nohup that is ignored, and what a shell finds ignored it cannot trap. A command that is asked to
end is waited for, as it would be without a shell. A shell lets what it starts in the background ignore INT
and QUIT: `env` (coreutils from 8.31 on) undoes that, apart from the command, whose name may hold a `=`."""


class Cancelled(Exception):  # noqa: N818 - it is no error
    """The run is over, and nobody waits for it any more."""


def check_programs(actions: Iterable[Any]) -> None:
    """See that the programs which actions are to run, or are asked whether they are done, can be run here.

    Raises:
        InputError: one cannot.
    """
    for action in actions:
        done = getattr(action.done, "command", ())
        for what, words in (("command", getattr(action, "command", ())), ("done", done)):
            if words and shutil.which(words[0]) is None:
                raise InputError(
                    f"action {action.id}: {what}: there is no program {words[0]!r} to be run here",
                    hint=_where(words[0]),
                )


def _where(program: str) -> str:
    """How a program is found, of one that is not."""
    if "/" not in program:
        return "install it, or say where it is: it is in no folder of PATH"
    path = Path(program).absolute()
    if path.is_file():
        return f"{path} may not be executed: chmod +x"
    return f"it is looked for from the folder in which steelyard runs, and there is no {path}"


def run_command(words: Sequence[str], log: Path, cancelled: threading.Event) -> int:
    """Run a command to its end; what it prints is appended to `log`. Returns its exit status.

    Raises:
        InfrastructureError: there is no such program.
        Cancelled: it was ended, since nobody waits for it any more.
    """
    log.parent.mkdir(exist_ok=True)
    with log.open("ab") as out:
        out.write(f"$ {' '.join(words)}\n".encode())
        out.flush()
        try:
            process = subprocess.Popen(
                _shielded(words), stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )
        except OSError as error:
            raise InfrastructureError(f"{words[0]} cannot be run: {error.strerror or error}") from error
        while (status := _status(process)) is None:
            if cancelled.is_set():
                _end(process)
                raise Cancelled
        return status


def until_it_succeeds(words: Sequence[str], every_s: float, log: Path, cancelled: threading.Event) -> None:
    """Run a command again and again until it ends with status 0.

    Raises:
        InfrastructureError, Cancelled: as `run_command`.
    """
    while run_command(words, log, cancelled) != 0:
        if cancelled.wait(every_s):
            raise Cancelled


def last_line(log: Path) -> str:
    """The last line that a command has printed; empty if there is none."""
    with suppress(OSError):
        lines = log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines and not lines[-1].startswith("$ ") else ""
    return ""


def _shielded(words: Sequence[str]) -> list[str]:
    """Words that die with us, and all they have started with them, however we end; those that cannot be run
    stay as they are, to say so."""
    tool, shell = shutil.which("setpriv"), shutil.which("sh")
    if not (tool and shell and shutil.which(words[0])):
        return [*words]
    return [tool, "--pdeathsig", "USR1", "--", shell, "-c", GUARD, "guard", *words]


def _status(process: subprocess.Popen[bytes]) -> int | None:
    with suppress(subprocess.TimeoutExpired):
        return process.wait(LOOK_EVERY_S)
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask it and all of its session to end, and see to it, also where it has ended and others have not."""
    _signal_all(process, signal.SIGTERM)
    until = time.monotonic() + GRACE_S
    while not _ended(process) and time.monotonic() < until:
        time.sleep(LOOK_EVERY_S)
    _signal_all(process, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)


def _signal_all(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has; it is not reaped, so that its id stays its group's."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
