"""What one process used, from `/proc/PID/stat` and `/proc/PID/io`. Parsers take text and open no file."""

from __future__ import annotations

import os
from dataclasses import dataclass

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """One reading of `/proc/PID/stat`.

    Attributes:
        user_s: CPU seconds in user mode, of all threads.
        system_s: CPU seconds in the kernel.
        started_ticks: clock ticks after boot when it started; with the pid this names a process for good.
        resident_bytes: resident memory (the kernel's own quick figure, exact to some 100 kB).
        state: the kernel's letter, e.g. `S` sleeping, `T` stopped, `Z` dead but not yet waited for.
    """

    user_s: float
    system_s: float
    started_ticks: int
    resident_bytes: int
    state: str


def parse_stat(text: str) -> ProcessStat:
    """Parse `/proc/PID/stat`; the name in parentheses may hold blanks and parentheses of its own.

    Raises:
        ValueError: the text is not of this form.
    """
    fields = text[text.rindex(")") + 2 :].split()
    if len(fields) < 22:
        raise ValueError(f"/proc/PID/stat has {len(fields)} fields after the name, at least 22 were expected")
    return ProcessStat(
        user_s=int(fields[11]) / TICKS_PER_S,
        system_s=int(fields[12]) / TICKS_PER_S,
        started_ticks=int(fields[19]),
        resident_bytes=int(fields[21]) * PAGE_BYTES,
        state=fields[0],
    )


def parse_io(text: str) -> tuple[int, int]:
    """Bytes a process caused to be read from and written to storage, from `/proc/PID/io`.

    A write counts when the page is made dirty, so that what the kernel writes back later is counted too; what
    was dropped before it was written back is taken off.
    """
    values = parse_pairs(text, ": ")
    return values.get("read_bytes", 0), max(
        0, values.get("write_bytes", 0) - values.get("cancelled_write_bytes", 0)
    )


def parse_pairs(text: str, separator: str = " ") -> dict[str, int]:
    """Lines of a word and a whole number; other lines are left out."""
    pairs = {}
    for line in text.splitlines():
        word, _, number = line.partition(separator)
        if number.isdigit():
            pairs[word] = int(number)
    return pairs


def parse_pressure(text: str) -> dict[str, float]:
    """Stalled seconds so far, `some` and `full`, of a pressure file (`/proc/pressure/cpu`, `io.pressure`)."""
    stalled = {}
    for line in text.splitlines():
        words = line.split()
        if words and words[-1].startswith("total="):
            stalled[words[0]] = int(words[-1][6:]) / 1e6
    return stalled
