"""An engine's process on the machine it runs on: its pipes, and the session that it leads."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from steelyard.errors import EngineError


def start(words: Sequence[str], stderr: Path) -> subprocess.Popen[bytes]:
    """Start an engine, its input and output pipes, in a session of its own.

    Args:
        words: the command.
        stderr: the file that receives what it complains of.

    Raises:
        EngineError: it cannot be started.
    """
    try:
        with stderr.open("wb") as file:
            return subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, start_new_session=True
            )
    except OSError as error:
        raise EngineError(f"the engine cannot be started: {error}") from error


def write_line(process: subprocess.Popen[bytes], line: bytes) -> None:
    """Send a line to its input; raises OSError or ValueError when that is closed."""
    if process.stdin is None:
        raise BrokenPipeError
    process.stdin.write(line)
    process.stdin.flush()


def close_input(process: subprocess.Popen[bytes]) -> None:
    """End of file on its input: a stop."""
    with suppress(OSError, ValueError):
        if process.stdin:
            process.stdin.close()


def kill_session(process: subprocess.Popen[bytes]) -> None:
    """End it now, with all of its session; safe when it has ended. Whoever started it waits for it."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
