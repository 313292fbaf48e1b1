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
from steelyard.lab.load_hosts import LoadHosts, check_far
from steelyard.spec.models import Study

if TYPE_CHECKING:
    from steelyard.hosts.remote.host import RemoteHost
    from steelyard.hosts.remote.workers import Workers


def machines_of(ssh: str | None, count: int | None) -> tuple[Address, ...]:
    """The machines that run an engine each; raises InputError, MissingToolError."""
    if ssh is None:
        raise InputError(
            "--load-hosts, --server-hosts, --key and --python go with --ssh, which names the machines"
        )
    machines = chosen(addresses(ssh), count)
    require_fleet("--ssh")
    return machines


def one_engine_each(words: Mapping[str, Any], machines: Sequence[Address]) -> dict[str, Any]:
    """The words of `bench` with as many engines as machines; raises InputError when they say otherwise."""
    if words.get("engines") not in (None, len(machines)):
        raise InputError(
            f"--engines {words['engines']}: each of the {len(machines)} load hosts runs one engine"
        )
    return {**words, "engines": len(machines)}


@contextmanager
def loading(
    study: Study, machines: tuple[Address, ...], key: Path | None, python: str | None
) -> Iterator[LoadHosts]:
    """Load hosts for a study, for as long as the `with` lasts.

    Raises:
        InputError: they cannot reach its system, or it wants another number of engines.
        InfrastructureError: one cannot be had, or has another version.
    """
    check_points(study, machines)
    with workers(machines, key, python) as found:
        end_leftovers(found.hosts)
        yield LoadHosts(found.hosts)


def check_points(study: Study, machines: Sequence[Address], *, apart: bool = False) -> None:
    """See that load hosts reach the system of every point, and that each has an engine for each of them.

    Args:
        study: whose points.
        machines: the load hosts.
        apart: local clusters are laid over other machines.

    Raises:
        InputError: they do not, or it has not.
    """
    for point in study.cells:
        check_far(point, apart=apart)
        if point.load.engines != len(machines):
            raise InputError(
                f"load.engines is {point.load.engines}, and each of the {len(machines)} load hosts runs one",
                hint=f"--set load.engines={len(machines)}, or --load-hosts {point.load.engines}",
            )


def end_leftovers(hosts: Sequence[RemoteHost]) -> None:
    """End what earlier commands have left on machines, and say so."""
    for host in hosts:
        for text in host.end_leftovers():
            print(f"{host.name}: {text}", file=sys.stderr)


def workers(machines: tuple[Address, ...], key: Path | None, python: str | None) -> Workers:
    """A worker on each machine; raises InfrastructureError when one has another version, or cannot be had."""
    from steelyard.hosts.remote.hello import own_hello
    from steelyard.hosts.remote.ssh import Access, check_all
    from steelyard.hosts.remote.workers import Workers

    access = Access(key, python or sys.executable)
    return Workers(machines, access, check_all(machines, access, own_hello()))
