"""What everybody else's processes used: those of neither the nodes, nor the engines, nor the lab."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.watch.cgroup import Values
from steelyard.watch.proc import TICKS_PER_S

EVERY_S = 5.0
"""A look at every process of the machine costs some milliseconds: too much for each second."""
KERNEL_THREAD = 0x0020_0000
"""PF_KTHREAD among the flags of `/proc/PID/stat`: such a thread works for everybody, the servers included."""
INIT = 1


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU ticks of one process, its children that it has waited for included."""

    parent: int
    ticks: int


class Others:
    """Adds up the CPU of processes that are nobody's here.

    The machine's own figure less those of servers and client would hold the kernel's work for the servers
    (writing back, loopback) and the error of a counter that some virtual machines cut short; that of each
    process is exact.

    Args:
        now: the time in seconds; a test's own.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._last: dict[int, Spent] | None = None
        self._looked_s = -EVERY_S
        self._ticks = 0
        self._ours: set[int] = set()

    def sample(self, known: Callable[[], Collection[int]]) -> Values:
        """The counter, or nothing when it is not yet time for another look.

        Args:
            known: gives the processes that are somebody's.
        """
        if self._now() - self._looked_s < EVERY_S:
            return {}
        self._looked_s = self._now()
        self._ours |= set(known())  # for good: what a server had spent is not new when it is let go
        every = {pid: spent for pid in _pids() if (spent := _spent(pid)) is not None}
        found = {pid: spent for pid, spent in every.items() if pid not in self._ours}
        if self._last is not None:
            self._ticks += max(0, growth(self._last, found, self._ours))
        self._last = found
        return {"cpu_seconds_total": self._ticks / TICKS_PER_S}


def growth(before: dict[int, Spent], after: dict[int, Spent], ours: Collection[int] = ()) -> int:
    """Ticks spent between two looks.

    A process that ended gave its ticks to the parent that waited for it, and that one, if it ended too, to
    its own, where those of before are taken off again.

    Args:
        before, after: process id -> what it had spent.
        ours: processes not to be counted: one of `before` that is among them has not ended.
    """
    spent = sum(s.ticks - (before[pid].ticks if pid in before else 0) for pid, s in after.items())
    ended = [s for pid, s in before.items() if pid not in after and pid not in ours]
    return spent - sum(s.ticks for s in ended if _heir(s, before, after) not in (None, INIT))


def _heir(ended: Spent, before: Mapping[int, Spent], after: Collection[int]) -> int | None:
    """Who has the ticks of a process that ended: the nearest above it that lives; None where it is ours."""
    parent = ended.parent
    while parent not in after:
        if parent not in before:
            return None
        parent = before[parent].parent
    return parent


def _pids() -> list[int]:
    names = os.listdir("/proc")  # noqa: PTH208 - names are all that is wanted
    return [int(name) for name in names if name.isdigit()]


def _spent(pid: int) -> Spent | None:
    """One process now; None when it has ended or is the kernel's."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        fields = text[text.rindex(")") + 2 :].split()
        parent, flags = int(fields[1]), int(fields[6])
        # what init waited for may have been a server of ours
        times = fields[11:13] if pid == INIT else fields[11:15]
        return None if flags & KERNEL_THREAD else Spent(parent, sum(map(int, times)))
    except (OSError, ValueError, IndexError):
        return None
