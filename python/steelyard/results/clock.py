"""Pairs of clocks, which align our times with logs and other hosts."""

from __future__ import annotations

import time
from datetime import UTC, datetime

LONGEST_START_S = 60.0
"""Python and what it imports take less: what is older was another program before, a script that ended with
`exec`."""


def clock_pair() -> dict[str, int]:
    """CLOCK_MONOTONIC and CLOCK_REALTIME of one moment, in ns."""
    before = time.monotonic_ns()
    realtime = time.time_ns()
    return {"monotonic_ns": (before + time.monotonic_ns()) // 2, "realtime_ns": realtime}


def now_text() -> str:
    """The time of day, RFC 3339, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def process_start_ns() -> int:
    """When this process was started, on CLOCK_MONOTONIC, to the kernel's tick (10 ms); now, where that is so
    long ago that another program was started then."""
    import os
    from pathlib import Path

    # after the command's name, which may hold blanks: field 22 of proc(5), counted from the state, 3
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[22 - 3])
    age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.monotonic_ns() - (round(age_s * 1e9) if age_s < LONGEST_START_S else 0)
