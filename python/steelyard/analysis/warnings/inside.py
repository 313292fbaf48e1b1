"""What the servers told of themselves: writes held back, regions on the move, missing replicas."""

from __future__ import annotations

from steelyard.analysis.inside import HELD_BACK, LACKING, MOVING
from steelyard.analysis.warnings.base import Check, Context, Warned, percent

NOTICEABLE = 0.01
"""As with CPU limits: one percent of the time is 10 ms a second, more than most percentiles one reports."""


def _told(context: Context, measure: str) -> dict[str, float]:
    """Node -> figure above zero; empty where nobody told it."""
    found = (one.by_source for one in context.inside if one.measure == measure)
    return {name: value for name, value in next(found, {}).items() if value > 0}


def held_back(context: Context) -> Warned | None:
    """Servers made writers wait because memory filled faster than it was flushed."""
    held = {n: v for n, v in _told(context, HELD_BACK).items() if v > NOTICEABLE}
    if not held:
        return None
    words = ", ".join(f"{name} {percent(share)}" for name, share in sorted(held.items()))
    return Warned(
        "held_back",
        f"Servers held writes back until a flush had made room: {words} of the time. Latencies contain these "
        "waits, and the throughput is that of flushing; give the servers more heap, or offer less.",
    )


def moving(context: Context) -> Warned | None:
    """Regions changed their server while the load ran."""
    most = max(_told(context, MOVING).values(), default=0)
    if not most:
        return None
    return Warned(
        "regions_moved",
        f"Regions changed their server or were opened anew during the run (up to {most:.0f} at a time): they "
        "did not answer meanwhile. Unless that was wanted, keep the balancer off and split before the run.",
        "note",
    )


def under_replicated(context: Context) -> Warned | None:
    """HDFS kept fewer copies of some blocks than asked for."""
    most = max(_told(context, LACKING).values(), default=0)
    if not most:
        return None
    return Warned(
        "under_replicated",
        f"HDFS had up to {most:.0f} blocks with fewer copies than asked for during the run: writes may have "
        "been acknowledged by fewer servers than the replication says. Look how many DataNodes were alive.",
    )


CHECKS: tuple[Check, ...] = (held_back, moving, under_replicated)
