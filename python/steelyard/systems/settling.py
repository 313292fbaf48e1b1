"""Waiting until a system is at rest: no background work running or waiting, several times in a row."""

from __future__ import annotations

import time
from collections.abc import Callable

from steelyard.hosts.say import Say
from steelyard.systems.base import Settled

POLL_S = 0.5
QUIET_READINGS = 3
"""One quiet moment may lie between two compactions; so many in a row count."""


def settle(pending: Callable[[], int], limit_s: float, say: Say) -> Settled:
    """Wait, at most `limit_s` seconds, until nothing is pending.

    Args:
        pending: counts compactions and flushes that run or wait.
    """
    start = time.monotonic()
    quiet, count = 0, 0
    while quiet < QUIET_READINGS and time.monotonic() - start < limit_s:
        count = pending()
        quiet = 0 if count else quiet + 1
        time.sleep(POLL_S)
    rest, seconds = quiet >= QUIET_READINGS, time.monotonic() - start
    detail = "" if rest else f"{count} compactions and flushes pending"
    say(f"at rest after {seconds:.1f} s" if rest else f"not at rest: {detail}")
    return Settled(rest, seconds, detail)
