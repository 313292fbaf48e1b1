"""When a cluster that is somebody else's is at rest: by its own figures if it tells them, else by a probe."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

from steelyard.hosts.say import Say
from steelyard.systems.base import OWN_FIGURES, Settled
from steelyard.systems.waiting import WORK, wait_rest

LATENCY = "the latency of a small probe"
PROBES = 20
"""Of which each reading is the median."""
PROBE_GAP_S = 0.02
READINGS = 5
"""So many in a row must be alike; together they take two seconds, longer than a usual flush."""
ALIKE, ALIKE_S = 0.25, 0.0002
"""Readings are alike when the highest is not further above the lowest: relative, or in seconds."""


def settle(
    pending: Callable[[], int],
    latency_s: Callable[[], float],
    limit_s: float,
    say: Say,
    what: str = WORK,
) -> Settled:
    """Wait, at most `limit_s` seconds, until nothing is pending, or until the latency of a probe is level.

    Args:
        pending: how much runs or waits on all servers; OSError when one is silent.
        latency_s: what a small request took, in seconds; OSError when there was no answer.
        limit_s: the longest wait, in seconds.
        say: is told how it ended.
        what: is counted by `pending`.

    Returns:
        How it ended, and by which of the two it is known; not at rest when neither can be had.
    """
    try:
        pending()
    except OSError as error:
        say(f"the servers do not tell what is pending ({error}): the latency of a small probe is watched")
        return _level(latency_s, limit_s, say, untold=str(error))

    def count() -> int:
        try:
            return pending()
        except OSError:
            return 1  # a server that is silent is not at rest

    return wait_rest(count, limit_s, say, OWN_FIGURES, what)


def _level(latency_s: Callable[[], float], limit_s: float, say: Say, untold: str) -> Settled:
    start = time.monotonic()
    readings: list[float] = []
    while not level(readings) and time.monotonic() - start < limit_s:
        try:
            readings.append(_median(latency_s))
        except OSError as error:
            why = f"the servers do not tell what is pending ({untold}), and a probe has no answer ({error})"
            return Settled(False, time.monotonic() - start, why)
    rest, seconds = level(readings), time.monotonic() - start
    last_ms = 1000 * readings[-1] if readings else 0.0
    say(f"the latency of a small probe is {'level' if rest else 'not level'} after {seconds:.1f} s")
    return Settled(
        rest, seconds, "" if rest else f"the latency of a probe, {last_ms:.1f} ms, varies", LATENCY
    )


def _median(latency_s: Callable[[], float]) -> float:
    found = []
    for _ in range(PROBES):
        found.append(latency_s())
        time.sleep(PROBE_GAP_S)
    return statistics.median(found)


def level(readings: Sequence[float]) -> bool:
    """Whether the newest readings are alike."""
    newest = readings[-READINGS:]
    if len(newest) < READINGS:
        return False
    return max(newest) <= max(min(newest) * (1 + ALIKE), min(newest) + ALIKE_S)
