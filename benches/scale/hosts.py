"""Many hosts on one machine: workers as ssh starts them, without ssh; the scheduler is in this process."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Scheduler, Security, SpecCluster

from steelyard.hosts.remote.actor import HostActor
from steelyard.hosts.remote.host import RemoteHost, last_line
from steelyard.hosts.remote.launch import OPTIONS, QUIET, UP, WORKER
from steelyard.hosts.remote.workers import orders

AT_ONCE = 4
"""So many begin at a time: each takes a second of CPU until it is up."""
PATIENT: dict[str, Any] = {
    **QUIET,
    "distributed.comm.timeouts.connect": "120s",
    "distributed.comm.timeouts.tcp": "120s",
    "distributed.scheduler.worker-ttl": None,
}
"""A worker that waits for its share of two cores is not lost."""
UP_LIMIT_S = 240.0


@contextmanager
def hosts_here(count: int) -> Iterator[tuple[list[RemoteHost], list[int]]]:
    """(hosts, process ids of their workers), for as long as the `with` lasts."""
    dask.config.set(PATIENT)
    logging.getLogger("distributed").setLevel(logging.ERROR)
    security = Security.temporary()
    with tempfile.TemporaryDirectory() as cache, ExitStack() as stack:  # removed when all have ended
        scheduler = {"host": "127.0.0.1", "port": 0, "dashboard": False, "security": security}
        cluster = SpecCluster(
            workers={}, scheduler={"cls": Scheduler, "options": scheduler}, security=security, name="scale"
        )
        stack.callback(cluster.close)
        client = Client(cluster, direct_to_workers=True)
        stack.callback(client.close)
        begun: list[subprocess.Popen[bytes]] = []
        stack.callback(_end, begun)
        for first in range(0, count, AT_ONCE):
            names = [f"host-{k}" for k in range(first, min(count, first + AT_ONCE))]
            begun += [_begin(name, cluster.scheduler_address, security, Path(cache)) for name in names]
            for name, process in zip(names, begun[first:], strict=True):
                _until_up(process, Path(cache, f"{name}.log"))
        client.wait_for_workers(count, UP_LIMIT_S)
        yield _hosts(client), [process.pid for process in begun]


def _begin(name: str, scheduler: str, security: Any, cache: Path) -> subprocess.Popen[bytes]:
    order = replace(
        orders(name, security)(scheduler), config=PATIENT, options={**OPTIONS, "death_timeout": UP_LIMIT_S}
    )
    with (cache / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            env={**os.environ, "STEELYARD_CACHE": str(cache)},
        )  # fmt: skip
    assert process.stdin is not None  # noqa: S101 - it was opened as a pipe
    process.stdin.write(order.line().encode())
    process.stdin.flush()
    return process


def _until_up(process: subprocess.Popen[bytes], log: Path) -> None:
    assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
    if not any(line.decode().startswith(UP) for line in process.stdout):
        raise SystemExit(f"a worker has not come up, status {process.wait()}: {last_line(log)}")


def _hosts(client: Any) -> list[RemoteHost]:
    listed = client.scheduler_info(n_workers=-1)["workers"]
    where = sorted((str(one["name"]), address) for address, one in listed.items())
    made = [client.submit(HostActor, actor=True, workers=[address], pure=False) for _, address in where]
    client.made = made  # an actor lives as long as its future is held
    return [
        RemoteHost(name, "127.0.0.1", future.result(UP_LIMIT_S), client)
        for (name, _), future in zip(where, made, strict=True)
    ]


def _end(begun: Sequence[subprocess.Popen[bytes]]) -> None:
    """End workers as the laboratory's own end does: with their input."""
    for process in begun:
        process.communicate()
