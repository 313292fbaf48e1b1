"""What a changing set of processes used together, in counters that never fall when one of them ends."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from steelyard.watch.cgroup import Values
from steelyard.watch.files import OpenFiles
from steelyard.watch.proc import parse_io, parse_stat


@dataclass(frozen=True, slots=True)
class Used:
    """Totals of one process (of one start, should its number be used again), or of several that ended."""

    user_s: float = 0.0
    system_s: float = 0.0
    read_bytes: int = 0
    write_bytes: int = 0
    resident_bytes: int = 0
    started_ticks: int = 0


class Processes:
    """Adds up processes; what the ended ones had used stays in the sums.

    Args:
        files: where `/proc` is read through.
        disk: whether disk bytes are wanted.
    """

    def __init__(self, files: OpenFiles, *, disk: bool = True) -> None:
        self._files = files
        self._disk = disk
        self._last: dict[int, Used] = {}
        self._ended = Used()

    def sample(self, pids: Collection[int], *, disown: Collection[int] = ()) -> Values:
        """Read each process; empty until the first has been seen.

        Args:
            pids: the processes now.
            disown: numbers that turned out to belong to somebody else; what they used is taken out again, the
                one way in which a counter falls.
        """
        for pid in [p for p in self._last if p not in pids]:
            self._end(pid, disowned=pid in disown)
        for pid in pids:
            try:
                used = self._read(pid)
            except (OSError, ValueError):  # it has just ended
                self._end(pid)
                continue
            if pid in self._last and self._last[pid].started_ticks != used.started_ticks:
                self._end(pid)
            self._last[pid] = used
        return self._sums() if self._last or self._ended != Used() else {}

    def alive(self) -> list[int]:
        """The processes that could be read at the last sample."""
        return list(self._last)

    def _read(self, pid: int) -> Used:
        stat = parse_stat(self._files.read(f"/proc/{pid}/stat"))
        read_bytes = write_bytes = 0
        if self._disk:
            try:
                read_bytes, write_bytes = parse_io(self._files.read(f"/proc/{pid}/io"))
            except OSError:  # ended but not waited for, or somebody else's
                last = self._last.get(pid, Used())
                read_bytes, write_bytes = last.read_bytes, last.write_bytes
        return Used(
            stat.user_s, stat.system_s, read_bytes, write_bytes, stat.resident_bytes, stat.started_ticks
        )

    def _end(self, pid: int, *, disowned: bool = False) -> None:
        self._files.close_under(f"/proc/{pid}/")
        used = self._last.pop(pid, None)
        if used is not None and not disowned:
            self._ended = _add((self._ended, used), resident_bytes=0)

    def _sums(self) -> Values:
        resident = sum(used.resident_bytes for used in self._last.values())
        total = _add((self._ended, *self._last.values()), resident_bytes=resident)
        values: Values = {
            "cpu_seconds_total": total.user_s + total.system_s,
            "cpu_user_seconds_total": total.user_s,
            "cpu_system_seconds_total": total.system_s,
            "memory_bytes": resident,
        }
        if self._disk:
            values |= {"disk_read_bytes_total": total.read_bytes, "disk_write_bytes_total": total.write_bytes}
        return values


def _add(parts: Iterable[Used], *, resident_bytes: int) -> Used:
    parts = list(parts)
    return Used(
        sum(part.user_s for part in parts),
        sum(part.system_s for part in parts),
        sum(part.read_bytes for part in parts),
        sum(part.write_bytes for part in parts),
        resident_bytes,
    )


def family(pid: int, without: Collection[int]) -> list[int]:
    """A process and its living descendants, leaving out those in `without` and theirs."""
    found = [pid]
    for member in found:
        found += [child for child in _children(member) if child not in without]
    return found


def _children(pid: int) -> list[int]:
    numbers: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - names are all that is wanted
            with suppress(OSError):
                numbers += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
    return numbers
