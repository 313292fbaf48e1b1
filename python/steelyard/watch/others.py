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
    """CPU ticks of one process, and of its children that it has waited for."""

    parent: int
    own: int
    children: int = 0


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
        if self._last is not None:
            self._ticks += growth(self._last, every, self._ours)
        self._last = every
        return {"cpu_seconds_total": self._ticks / TICKS_PER_S}


def growth(before: Mapping[int, Spent], after: Mapping[int, Spent], ours: Collection[int] = ()) -> int:
    """Ticks spent between two looks.

    A process that ended gave its ticks to the parent that waited for it, and that one, if it ended too, to
    its own: those of before are taken off again where they arrived, and never more than arrived there.

    Args:
        before, after: every process id -> what it had spent.
        ours: processes that are not counted.
    """
    nothing = Spent(0, 0)
    waited = {pid: spent.children - before.get(pid, nothing).children for pid, spent in after.items()}
    for pid, spent in before.items():
        if pid not in after and (heir := _heir(spent, before, after)) is not None:
            waited[heir] -= spent.own + spent.children
    return sum(
        max(0, spent.own - before.get(pid, nothing).own) + max(0, waited[pid])
        for pid, spent in after.items()
        if pid not in ours
    )


def _heir(ended: Spent, before: Mapping[int, Spent], after: Collection[int]) -> int | None:
    """The nearest above a process that lives, which has its ticks now if nobody between let it go."""
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
        user, system, *children = map(int, fields[11:15])
        # what init waited for may have been a server of ours
        waited = 0 if pid == INIT else sum(children)
        return None if flags & KERNEL_THREAD else Spent(parent, user + system, waited)
    except (OSError, ValueError, IndexError):
        return None
