"""Running a client as a process of its own, and the most memory it had."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

LOOK_EVERY_S = 0.2


def run(command: Sequence[str | Path], *, open_input: bool = False) -> tuple[str, float]:
    """What a command prints, and its peak resident memory in MiB.

    The peak is read from /proc while it runs: what the kernel says of an ended child includes its parent's.

    Args:
        command: the words.
        open_input: keep its standard input open until it ends; else it has none.
    """
    given = subprocess.PIPE if open_input else subprocess.DEVNULL
    with subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE, text=True) as process:
        ended, peak = threading.Event(), [0.0]
        watcher = threading.Thread(target=_watch, args=(process.pid, ended, peak))
        watcher.start()
        try:
            assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
            said = process.stdout.read()
        finally:
            ended.set()
            watcher.join()
    if process.returncode:
        raise SystemExit(f"{Path(command[0]).name} ended with {process.returncode}: {said[-2000:]}")
    return said, peak[0]


def _watch(pid: int, ended: threading.Event, peak: list[float]) -> None:
    status = Path(f"/proc/{pid}/status")
    while not ended.wait(LOOK_EVERY_S):
        with suppress(OSError, StopIteration):
            lines = status.read_text().splitlines()
            peak[0] = int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) / 1024
