"""When the next sample is due."""

from __future__ import annotations


def next_due(due_ns: int, period_ns: int, now_ns: int) -> int:
    """The first time after now on `due_ns`'s schedule: a late tick skips some, it never shifts the others."""
    return due_ns + period_ns * max(1, -((due_ns - now_ns) // period_ns))
