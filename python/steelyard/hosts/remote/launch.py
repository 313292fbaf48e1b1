"""How a worker is started on another machine, and what it is told: on its standard input, for it has keys."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import AsyncIterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

QUIET: dict[str, Any] = {
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
    "distributed.comm.timeouts.connect": "6s",
    "distributed.comm.timeouts.tcp": "12s",  # below 11 s every connection fails: "Timeout too low"
    "distributed.deploy.lost-worker-timeout": "2s",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.http.routes": [],
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.worker-ttl": "15s",
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,
    "distributed.worker.use-file-locking": False,
    **{f"distributed.worker.memory.{level}": False for level in ("target", "spill", "pause", "terminate")},
}
"""Dask's settings, on both sides, before it is imported: an idle worker takes 0.3 % of a core, not 3.3 %."""
OPTIONS: dict[str, Any] = {
    "nthreads": 1,
    "dashboard": False,
    "dashboard_address": "127.0.0.1:0",
    "memory_limit": 0,
    "death_timeout": 20,
}
"""Of every worker."""
HELLO, WORKER = "steelyard.hosts.remote.hello", "steelyard.hosts.remote.worker"
UP = "UP "
"""So begins the line with which a worker says where it is."""


@dataclass(frozen=True)
class Order:
    """What a worker needs to know.

    Attributes:
        scheduler: where the laboratory's scheduler listens.
        name: the worker's name.
        tls: Dask's names of keys and certificates -> PEM.
        config: Dask's settings.
        options: of the worker.
    """

    scheduler: str
    name: str
    tls: dict[str, Any]
    config: dict[str, Any] = field(default_factory=lambda: QUIET)
    options: dict[str, Any] = field(default_factory=lambda: OPTIONS)

    def line(self) -> str:
        """As one line of JSON."""
        return json.dumps(asdict(self)) + "\n"

    @staticmethod
    def read(line: str | bytes) -> Order:
        """What `line` made; raises ValueError, TypeError."""
        return Order(**json.loads(line))


def command(python: str, module: str) -> str:
    """The command for a machine's shell: `exec`, so that the module's parent is ssh's session."""
    return f"exec {shlex.quote(python)} -m {module}"


async def up_line(lines: AsyncIterable[str], limit_s: float) -> str:
    """The line that says where a worker is; empty when none comes. A login shell may print others before."""
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            async for line in lines:
                if line.startswith(UP):
                    return line
    return ""
