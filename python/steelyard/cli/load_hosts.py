"""Load from other machines: what `--ssh` and its companions mean, and the workers there."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.errors import InputError
from steelyard.hosts.remote.addresses import Address, addresses, chosen
from steelyard.hosts.remote.extra import require_fleet
from steelyard.hosts.remote.scheduler import Borrowed, Machine, Scheduler, Source
from steelyard.lab.load_hosts import check_far
from steelyard.lab.signals import Interrupts
from steelyard.spec.models import Study

if TYPE_CHECKING:
    from steelyard.hosts.remote.borrowed import BorrowedWorkers
    from steelyard.hosts.remote.host import RemoteHost
    from steelyard.hosts.remote.workers import Workers

Named = str | Source | None
"""Where machines come from: what `--ssh` says, or the workers of others."""


def machines_of(ssh: Named, count: int | None) -> tuple[Machine, ...]:
    """The machines that run an engine each; raises InputError, MissingToolError."""
    if ssh is None:
        raise InputError(
            "--load-hosts, --server-hosts, --key and --python go with --ssh (or --scheduler, --watch-hosts), "
            "which names the machines"
        )
    if not isinstance(ssh, str):
        return _borrowed(ssh, count)
    machines = chosen(addresses(ssh), count)
    require_fleet("--ssh")
    return machines


def _borrowed(source: Source, count: int | None) -> tuple[Machine, ...]:
    """So many of the machines of which workers of others run."""
    flag = "--scheduler" if isinstance(source, Scheduler) else "fleet.cluster"
    if count is None or count < 1:
        raise InputError(
            f"{flag} {source}: how many of its workers are hosts is not said",
            hint="--load-hosts N for engines, or --benches N for whole trials",
        )
    return tuple(Borrowed(source, place) for place in range(count))


def one_engine_each(words: Mapping[str, Any], machines: Sequence[Machine]) -> dict[str, Any]:
    """The words of `bench` with as many engines as machines; raises InputError when they say otherwise."""
    if words.get("engines") not in (None, len(machines)):
        raise InputError(
            f"--engines {words['engines']}: each of the {len(machines)} load hosts runs one engine"
        )
    return {**words, "engines": len(machines)}


def check_points(study: Study, machines: Sequence[Machine], *, apart: bool = False) -> None:
    """See that load hosts reach the system of every point, and that all have an engine at one of them: points
    with fewer have theirs on the first ones.

    Args:
        study: whose points.
        machines: the load hosts.
        apart: local clusters are laid over other machines.

    Raises:
        InputError: they do not, or one has none.
    """
    for point in study.cells:
        check_far(point, apart=apart)
    most = max(point.load.engines for point in study.cells)
    if most != len(machines):
        varied = any("engines" in point.levels for point in study.cells)
        raise InputError(
            f"load.engines is {most}{' at most' if varied else ''}, and each of the {len(machines)} "
            "load hosts runs one",
            hint=f"name {most} of them, or --load-hosts {most} of more"
            if varied
            else f"--set load.engines={len(machines)}, or --load-hosts {most}",
        )


def end_leftovers(hosts: Sequence[RemoteHost]) -> None:
    """End what earlier commands have left on machines, and say so."""
    for host in hosts:
        for text in host.end_leftovers():
            print(f"{host.name}: {text}", file=sys.stderr)


@contextmanager
def workers(
    machines: Sequence[Machine], key: Path | None, python: str | None
) -> Iterator[Workers | BorrowedWorkers]:
    """A worker on each machine; raises InfrastructureError when one has another version, or cannot be had."""
    borrowed = [machine for machine in machines if isinstance(machine, Borrowed)]
    if borrowed:
        _check_borrowed(key, python)
        with borrowing(borrowed[0].source, len(borrowed)) as found:
            yield found
        return
    from steelyard.hosts.remote.hello import own_hello
    from steelyard.hosts.remote.ssh import Access, check_all
    from steelyard.hosts.remote.workers import Workers

    access = Access(key, python or sys.executable)
    named = tuple(machine for machine in machines if isinstance(machine, Address))
    with Workers(named, access, check_all(named, access, own_hello())) as reached:
        yield reached


@contextmanager
def all_of(source: Named, key: Path | None, python: str | None) -> Iterator[Workers | BorrowedWorkers]:
    """Workers on all machines that there are; raises as `workers` does."""
    if source is None or isinstance(source, str):
        with workers(machines_of(source, None), key, python) as found:
            yield found
        return
    _check_borrowed(key, python)
    with borrowing(source, None) as borrowed:
        yield borrowed


def _check_borrowed(key: Path | None, python: str | None) -> None:
    """See that nothing is asked of workers of others that is said of those over ssh; raises InputError."""
    if key or python:
        raise InputError("--key and --python go with --ssh: workers of others run already")


@contextmanager
def borrowing(source: Source, count: int | None) -> Iterator[BorrowedWorkers]:
    """Workers of others, as long as the `with` lasts; a signal, too, ends what was made.

    Args:
        source: whence they come.
        count: how many; None = all that a scheduler has.

    Raises:
        InputError, InfrastructureError: they cannot be had.
    """
    require_fleet("--scheduler" if isinstance(source, Scheduler) else "fleet.cluster")
    from steelyard.hosts.remote.borrowed import BorrowedWorkers

    with Interrupts() as interrupts:
        with interrupts.raising():
            found = BorrowedWorkers(source, count)
        with found:  # signals wait while it ends
            for text in found.notes:
                print(f"warning: {text}", file=sys.stderr)
            with interrupts.raising():
                yield found
