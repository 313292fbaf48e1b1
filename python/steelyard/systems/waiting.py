"""Waiting, with a limit: until a condition holds and its servers live, and until a system is at rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from steelyard.errors import InfrastructureError, SteelyardError
from steelyard.hosts.say import Say
from steelyard.systems.base import Settled
from steelyard.systems.server import Server

POLL_S = 0.1
REST_POLL_S = 0.5
QUIET_READINGS = 3
"""One quiet moment may lie between two compactions; so many in a row count."""
WORK = "compactions and flushes"
SAY_S = 10.0
"""A wait for rest that goes on says so as often."""


def died(server: Server) -> SteelyardError:
    """What to say of a server that died while starting."""
    return InfrastructureError(f"{server.name} died while starting: {server.why_dead()}")


def wait_until(
    ready: Callable[[], bool],
    servers: Sequence[Server],
    limit_s: float,
    what: str,
    died: Callable[[Server], SteelyardError] = died,
) -> None:
    """Wait until `ready`.

    Args:
        ready: the condition.
        servers: those that must live for it to come true.
        limit_s: the longest wait, in seconds.
        what: what is not so after that, e.g. "node1 does not answer CQL".
        died: makes the error for a server that has died.

    Raises:
        InfrastructureError: the limit is over; SteelyardError: a server has died.
    """
    until = time.monotonic() + limit_s
    while not ready():
        for server in servers:
            if not server.alive:
                raise died(server)
        if time.monotonic() > until:
            said = f": {servers[0].why_dead()}" if servers else ""
            raise InfrastructureError(f"{what} after {limit_s:.0f} s{said}")
        time.sleep(POLL_S)


def wait_rest(
    pending: Callable[[], int],
    limit_s: float,
    say: Say,
    how: str = "",
    what: str = WORK,
) -> Settled:
    """Wait, at most `limit_s` seconds, until nothing is pending, several times in a row.

    Args:
        pending: counts what runs or waits.
        limit_s: the longest wait, in seconds.
        say: is told how it goes on, and how it ended.
        how: by what it is known, for the result.
        what: is counted.
    """
    start = said = time.monotonic()
    quiet, count = 0, 0
    while quiet < QUIET_READINGS and time.monotonic() - start < limit_s:
        count = pending()
        quiet = 0 if count else quiet + 1
        if count and time.monotonic() - said >= SAY_S:
            said = time.monotonic()
            say(f"not at rest yet: {count} {what} pending")
        time.sleep(REST_POLL_S)
    rest, seconds = quiet >= QUIET_READINGS, time.monotonic() - start
    detail = "" if rest else f"{count} {what} pending"
    say(f"at rest after {seconds:.1f} s" if rest else f"not at rest: {detail}")
    return Settled(rest, seconds, detail, how)
