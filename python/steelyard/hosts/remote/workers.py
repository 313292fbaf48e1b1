"""Workers on other machines, and the scheduler in this process: up, asked for their hosts, down."""

from __future__ import annotations

import asyncio
import logging
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dask

from steelyard.errors import InfrastructureError, Interrupted, SteelyardError
from steelyard.hosts.remote.addresses import SSH_PORT, Address
from steelyard.hosts.remote.launch import QUIET, WORKER, Order, command, up_line
from steelyard.hosts.remote.ssh import Access, told

dask.config.set(QUIET)  # before `distributed` is imported

from distributed import Client, Scheduler, Security, SpecCluster  # noqa: E402
from distributed.deploy.spec import ProcessInterface  # noqa: E402

from steelyard.hosts.remote.actor import HostActor  # noqa: E402
from steelyard.hosts.remote.host import RemoteHost, last_line  # noqa: E402

UP_LIMIT_S = 60.0


class WorkerProcess(ProcessInterface):  # type: ignore[misc]  # Dask has no types
    """One worker, started over ssh by Dask's cluster.

    Args:
        scheduler: where the scheduler listens.
        address: the machine.
        access: how it is entered.
        order: makes what the worker is told of the scheduler's address.
        log: what the worker prints; a file here.
        failed: receives what went wrong.
    """

    def __init__(  # noqa: PLR0917 - Dask calls it by name
        self, scheduler: str, address: Address, access: Access, order: Callable[[str], Order], log: Path,
        failed: list[Exception], name: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.name = name
        self._machine, self._access, self._log = address, access, log
        self._order, self._failed = order(scheduler), failed
        self._connection: Any = None
        self._process: Any = None

    async def start(self) -> None:
        """Start it, and wait until it has found the scheduler."""
        try:
            await self._begin()
        except Exception as error:
            self._failed.append(error)
            raise
        self._ending = asyncio.ensure_future(self._follow())
        await super().start()

    async def _begin(self) -> None:
        self._connection = await self._access.connect(self._machine)
        with told(self._machine):
            self._process = await self._connection.create_process(
                command(self._access.python, WORKER), stderr=str(self._log)
            )
            self._process.stdin.write(self._order.line())
            line = await up_line(self._process.stdout, UP_LIMIT_S)
        if not line:
            said = last_line(self._log) or "no reason was said"
            raise InfrastructureError(
                f"{self._machine}: its worker has not come up: {said}",
                hint=f"it must reach this machine at {self._order.scheduler}",
            )
        self.address = line.split()[1]

    async def _follow(self) -> None:
        """Tell Dask when it has ended."""
        await self._process.wait()
        await super().close()

    async def close(self) -> None:
        """End it: it ends with its input."""
        if self._connection is not None:
            if self._process is not None:
                self._process.stdin.write_eof()
            self._connection.close()
        await super().close()


class Workers:
    """A worker on each machine, for as long as the `with` lasts.

    Args:
        machines: which.
        access: how they are entered.
        here: this machine's address on the way to each, where it is known.

    Raises:
        InfrastructureError: one cannot be had.
    """

    def __init__(self, machines: Sequence[Address], access: Access, here: Mapping[Address, str]) -> None:
        with ExitStack() as stack:
            logs = stack.enter_context(tempfile.TemporaryDirectory(prefix="steelyard-workers-"))
            self._logs = [Path(logs) / f"{place}.txt" for place in range(len(machines))]
            cluster = _cluster(machines, access, own_address(machines, here), self._logs)
            stack.callback(cluster.close)
            self._client = Client(cluster, direct_to_workers=True)
            stack.callback(self._client.close)
            with _reached():
                self.hosts = self._hosts(machines)
            self._closing = stack.pop_all()

    def _hosts(self, machines: Sequence[Address]) -> list[RemoteHost]:
        self._client.wait_for_workers(len(machines), UP_LIMIT_S)
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        where = {worker["name"]: address for address, worker in workers.items()}
        self._made = [  # an actor lives as long as its future is held
            self._client.submit(HostActor, actor=True, workers=[where[str(machine)]], pure=False)
            for machine in machines
        ]
        return [
            RemoteHost(str(machine), where[str(machine)].rpartition("//")[2].rpartition(":")[0].strip("[]"),
                       made.result(timeout=UP_LIMIT_S), self._client, log)
            for machine, made, log in zip(machines, self._made, self._logs, strict=True)
        ]  # fmt: skip

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()


@contextmanager
def _reached() -> Iterator[None]:
    """What Dask says of workers that are up and do not answer, as an InfrastructureError."""
    try:
        yield
    except SteelyardError:
        raise
    except (Exception, asyncio.CancelledError) as error:
        raise InfrastructureError(
            f"the machines' workers do not answer: {str(error) or type(error).__name__}",
            hint="this machine must reach them, too, on ports that their kernels choose (docs/fleet.md)",
        ) from error


def _cluster(machines: Sequence[Address], access: Access, here: str, logs: Sequence[Path]) -> Any:
    """The scheduler, here, and a worker on each machine; raises InfrastructureError."""
    security, failed = Security.temporary(), list[Exception]()
    specs = {
        str(address): {
            "cls": WorkerProcess,
            "options": {
                "address": address,
                "access": access,
                "order": orders(str(address), security),
                "log": log,
                "failed": failed,
            },
        }
        for address, log in zip(machines, logs, strict=True)
    }
    scheduler = {"host": here, "port": 0, "dashboard": False}
    options = {**scheduler, "dashboard_address": "127.0.0.1:0", "security": security}
    try:
        return SpecCluster(
            workers=specs, scheduler={"cls": Scheduler, "options": options}, security=security,
            name="steelyard", silence_logs=logging.ERROR,
        )  # fmt: skip
    except Interrupted:
        raise
    except Exception as error:
        raise (failed[0] if failed else error) from None


def own_address(machines: Sequence[Address], here: Mapping[Address, str]) -> str:
    """This machine's address on the way to all machines.

    Args:
        machines: as the user names them, maybe by an alias that only ssh's configuration knows.
        here: the address that ssh's connection to each had, where it is known.

    Raises:
        InfrastructureError: there is not one.
    """
    found = sorted({here.get(machine) or _address_towards(machine) for machine in machines})
    if len(found) > 1:
        raise InfrastructureError(
            f"this machine is {' and '.join(found)} to the machines of --ssh; one address must do for all"
        )
    return found[0]


def _address_towards(machine: Address) -> str:
    """This machine's address on the way to another; nothing is sent."""
    try:
        ways = socket.getaddrinfo(machine.host, SSH_PORT, type=socket.SOCK_DGRAM)
        family, kind, number, _, target = ways[0]
        with socket.socket(family, kind, number) as probe:
            probe.connect(target)
            found: str = probe.getsockname()[0]
    except OSError as error:
        raise InfrastructureError(f"{machine} cannot be found: {error}") from error
    return found


def orders(name: str, security: Any) -> Callable[[str], Order]:
    """What a worker is told, once the scheduler's address is known; keys are in it, on no command line."""
    words = {key: getattr(security, key) for key in security.__slots__ if key.startswith("tls_")}
    tls = {key: word for key, word in words.items() if isinstance(word, str)} | {"require_encryption": True}

    def order(scheduler: str) -> Order:
        return Order(scheduler, name, tls)

    return order
