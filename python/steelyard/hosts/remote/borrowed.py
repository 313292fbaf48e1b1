"""Workers that others run, as hosts: one of each machine, looked at as over ssh before anything is started.

Nothing of theirs is ended: when the `with` ends, so do our actors, and our processes beside the workers.
"""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import dask

from steelyard.errors import InfrastructureError, InputError, SteelyardError
from steelyard.hosts.process import BOOT_ID
from steelyard.hosts.remote.actors import TAKEN_S, Actors
from steelyard.hosts.remote.asking import LOOK_S, answers, ask_each, placed
from steelyard.hosts.remote.candidates import Worker, check_worker, names_of, notes_of, one_each
from steelyard.hosts.remote.closing import close_in_time
from steelyard.hosts.remote.hello import own_hello
from steelyard.hosts.remote.launch import HELLO, QUIET
from steelyard.hosts.remote.scheduler import TLS_CONFIG, Scheduler, Source

dask.config.set(QUIET)  # before `distributed` is imported

from distributed import Client, Security, as_completed  # noqa: E402

from steelyard.hosts.remote.host import RemoteHost  # noqa: E402
from steelyard.hosts.remote.relay import Relay  # noqa: E402

CONNECT_S = 15.0
CLUSTER_UP_S = 600.0
"""A batch system or Kubernetes starts workers when it has room."""
HELLO_S = 60.0
DIRECT_S = 3.0
NAMESPACE = "/proc/self/ns/pid"


class BorrowedWorkers:
    """An actor on a worker of each of so many machines, for as long as the `with` lasts.

    Args:
        source: the scheduler, or the class of a cluster, which is made and closed.
        count: how many machines; None = all that a running scheduler has.

    Raises:
        InputError: a flag or setting is at fault.
        InfrastructureError: so many cannot be had, or one has another version.
    """

    def __init__(self, source: Source, count: int | None) -> None:
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what it has to say comes as errors
        self.hosts: list[RemoteHost] = []
        self.notes: list[str] = []
        """What to say of these machines."""
        with ExitStack() as stack, _reached(source):
            self._client = _client(source, count, stack)
            workers = self._chosen(source, count)
            _check_alike(self._client, workers)
            self._client.direct_to_workers = self._client.sync(_answer, self._client, workers)
            self._begin(source, workers, stack)
            self._closing = stack.pop_all()

    def _chosen(self, source: Source, count: int | None) -> list[Worker]:
        """The workers that are used; raises InfrastructureError: there are too few machines."""
        listed = self._client.scheduler_info(n_workers=-1)["workers"]
        found = [Worker(address, str(one["name"])) for address, one in listed.items()]
        namespaces = ask_each(self._client, found, os.readlink, NAMESPACE)
        boots = ask_each(self._client, found, Path.read_text, BOOT_ID)
        reached, unlooked = placed(found, boots, namespaces)
        machines = one_each(reached)
        if not machines or len(machines) < (count or 0):
            has = (
                f"{source} has {len(reached)} worker{'s' * (len(reached) != 1)} "
                f"on {len(machines)} machine{'s' * (len(machines) != 1)}, and {count or 1} are needed"
            )
            raise InfrastructureError(
                "; ".join([has, *unlooked]),
                hint="start a worker on each further machine, or ask for fewer hosts",
            )
        self.notes += unlooked
        chosen = machines[:count]
        self.notes += notes_of(chosen)
        return chosen

    def _begin(self, source: Source, workers: Sequence[Worker], stack: ExitStack) -> None:
        """Have an actor on each worker; those that are begun are ended whatever happens."""
        actors = Actors(self._client)
        stack.callback(actors.end)
        made = [
            self._client.submit(Relay, actor=True, workers=[one.address], pure=False, priority=100)
            for one in workers
        ]
        completed = as_completed(made, loop=self._client.loop, timeout=TAKEN_S)
        taken = actors.take([one.name for one in workers], made, completed)
        self.hosts = [
            RemoteHost(name, worker.ip, actor, self._client)
            for name, worker, actor in zip(names_of(source, workers), workers, taken, strict=True)
        ]

    def __enter__(self) -> BorrowedWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()


@contextmanager
def _reached(source: Source) -> Iterator[None]:
    """What Dask says of a scheduler or workers that do not answer, as an InfrastructureError."""
    try:
        yield
    except SteelyardError:
        raise
    except (Exception, asyncio.CancelledError) as error:
        said = str(error) or type(error).__name__
        raise InfrastructureError(
            f"{source} cannot be used: {said}",
            hint="does the scheduler run, and are these the TLS files that it knows? (docs/fleet.md)",
        ) from error


def _client(source: Source, count: int | None, stack: ExitStack) -> Any:
    """A client of a running scheduler, or of a cluster that is made, with as many workers as are needed."""
    if isinstance(source, Scheduler):
        security = _security(source)
        client = Client(source.address, security=security, direct_to_workers=False, timeout=CONNECT_S)
        stack.callback(_disconnect, client)
        return client
    cluster = source.make()
    stack.callback(close_in_time, str(source), cluster.close)
    cluster.scale(count)
    client = Client(cluster, direct_to_workers=False)
    stack.callback(_disconnect, client)
    try:
        client.wait_for_workers(count, CLUSTER_UP_S)
    except TimeoutError:
        raise InfrastructureError(
            f"{source} has not had {count} workers after {CLUSTER_UP_S:g} s",
            hint="its own log says why; the workers must find the scheduler, and have this Steelyard",
        ) from None
    return client


def _disconnect(client: Any) -> None:
    """Close a client, which takes a minute at most; a scheduler that is gone is no fault of the run."""
    with suppress(Exception, asyncio.CancelledError):
        client.close()


def _security(scheduler: Scheduler) -> Any:
    """Dask's words for the TLS files; raises InputError: nobody says which."""
    if not scheduler.address.startswith("tls"):
        return Security(require_encryption=False)
    tls = scheduler.tls
    if tls.said:
        files = {"tls_ca_file": tls.ca, "tls_client_cert": tls.cert, "tls_client_key": tls.key}
        return Security(
            require_encryption=True, **{name: str(path and path.expanduser()) for name, path in files.items()}
        )
    if not dask.config.get(TLS_CONFIG, None):
        raise InputError(
            f"--scheduler {scheduler.address}: with which certificates is not said",
            hint="--scheduler-ca, -cert and -key, or distributed.comm.tls in Dask's own configuration",
        )
    return Security(require_encryption=True)


def _check_alike(client: Any, workers: Sequence[Worker]) -> None:
    """See that each worker's own Python has our version and engine; raises InfrastructureError."""
    ours = own_hello()
    pythons = answers(workers, ask_each(client, workers, getattr, sys, "executable"))
    for python in sorted(set(pythons.values())):
        those = [one for one in workers if pythons[one.address] == python]
        words: dict[str, Any] = {"capture_output": True, "text": True, "timeout": HELLO_S}
        asked = ask_each(
            client, those, subprocess.run, [python, "-m", HELLO], limit_s=HELLO_S + LOOK_S, **words
        )
        done = answers(those, asked)
        for worker in those:
            check_worker(worker, python, ours, done[worker.address])


async def _answer(client: Any, workers: Sequence[Worker]) -> bool:
    """Whether all can be reached from here; else what is asked of them goes through the scheduler."""
    asked = (asyncio.wait_for(client.rpc(one.address).identity(), DIRECT_S) for one in workers)
    found = await asyncio.gather(*asked, return_exceptions=True)
    return not any(isinstance(one, BaseException) for one in found)
