"""Waiting for servers: a condition, a limit, and the deaths that make waiting pointless."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from steelyard.errors import InfrastructureError, SteelyardError
from steelyard.systems.server import Server

POLL_S = 0.1


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
