"""Which of the workers that others run become hosts, what these are called, and which are refused."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from steelyard.errors import InfrastructureError
from steelyard.hosts.remote.hello import Hello, read_hello, unlike
from steelyard.hosts.remote.scheduler import ClusterClass, Source, is_loopback


@dataclass(frozen=True)
class Worker:
    """A worker of a scheduler.

    Attributes:
        address: where it listens, as Dask says it.
        name: what Dask calls it.
        machine: (boot, namespace of processes): one machine, or one container, whatever its addresses.
    """

    address: str
    name: str
    machine: tuple[str, str] = ("", "")

    @property
    def ip(self) -> str:
        """Where other machines reach it."""
        return urlsplit(self.address).hostname or ""


def one_each(workers: Iterable[Worker]) -> list[Worker]:
    """Of the workers of each machine one, machines in order of their addresses.

    Args:
        workers: with the machines they are on.
    """
    first: dict[tuple[str, str], Worker] = {}
    for worker in sorted(workers, key=_order):
        first.setdefault(worker.machine, worker)
    return list(first.values())


def _order(worker: Worker) -> tuple[int, int, str, str]:
    try:
        address = ip_address(worker.ip)
        return address.version, int(address), worker.name, worker.address
    except ValueError:
        return 0, 0, worker.name, worker.address


def names_of(source: Source, workers: Sequence[Worker]) -> list[str]:
    """What hosts are called: by address where it tells them apart, so that a run goes on with the same ones;
    those of a cluster that is made anew each time by their places."""
    if isinstance(source, ClusterClass):
        return [f"{source}/{place}" for place in range(1, len(workers) + 1)]
    ips = [worker.ip for worker in workers]
    return [
        f"{source.address}/{worker.ip if ips.count(worker.ip) == 1 else worker.name.rpartition('/')[2]}"
        for worker in workers
    ]


def check_worker(worker: Worker, python: str, ours: Hello, done: subprocess.CompletedProcess[str]) -> None:
    """Refuse a worker whose installation is not ours.

    Args:
        worker: it.
        python: its interpreter.
        ours: what we have.
        done: what `hello` printed there.

    Raises:
        InfrastructureError: with what installs ours.
    """
    theirs = read_hello(done.stdout)
    said = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
    difference = unlike(ours, theirs) if theirs else f"has no Steelyard at {python}: {said}"
    if difference:
        needed = f"'steelyard[fleet]=={ours.version}' distributed=={ours.distributed}"
        raise InfrastructureError(
            f"the worker {worker.name} {difference}",
            hint=f"where it runs, or in its image: {python} -m pip install {needed}; then start it anew",
        )


def notes_of(workers: Sequence[Worker]) -> list[str]:
    """What hinders a measurement, or should be known."""
    found = []
    boots: dict[str, list[str]] = {}
    for one in workers:
        boots.setdefault(one.machine[0], []).append(one.name)
    shared = [names for names in boots.values() if len(names) > 1]
    found += [f"{', '.join(names)} are containers of one machine, and share its cores" for names in shared]
    if any(one.address.startswith("tcp") and not is_loopback(one.ip) for one in workers):
        found.append(
            "the workers are talked to without TLS: whoever is on their network can read and change it"
        )
    return found
