"""Clusters that stay, by the records of this machine or of those that `--ssh` names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from steelyard.errors import InputError
from steelyard.folders import state_folder
from steelyard.hosts.host import Host
from steelyard.hosts.local import LocalHost
from steelyard.hosts.records import Record, load
from steelyard.hosts.server_hosts import ServerHosts

OTHERS = "server-hosts"
"""Below the state folder: what clients here need of clusters on other machines."""


@dataclass(frozen=True)
class Part:
    """What of a cluster is on one machine.

    Attributes:
        machine: its name; empty for this one.
        host: it.
        record: the cluster there.
    """

    machine: str
    host: Host
    record: Record


class Readable(Protocol):
    """What files can be read of."""

    def get(self, path: Path, start: int = 0) -> bytes:
        """See `Host.get`."""
        ...


class Files:
    """Files of several machines; no two have one path, since a node's folder is in it.

    Args:
        where: path -> the machine that has it.
    """

    def __init__(self, where: Mapping[Path, Host]) -> None:
        self._where = where

    def get(self, path: Path, start: int = 0) -> bytes:
        """See `Host.get`."""
        return self._where[path].get(path, start)


@contextmanager
def cluster_host(ssh: str | None, key: Path | None, python: str | None) -> Iterator[LocalHost]:
    """Where clusters are that stay: this machine, or those of `--ssh`, for as long as the `with` lasts.

    Raises:
        InputError: flags that go with `--ssh` without it.
        InfrastructureError: a machine cannot be had, or has another version.
    """
    if (ssh, key, python) == (None,) * 3:
        yield LocalHost()
        return
    from steelyard.cli.load_hosts import end_leftovers, machines_of, workers
    from steelyard.cli.server_hosts import server_hosts

    with workers(machines_of(ssh, None), key, python) as found:
        end_leftovers(found.hosts)
        yield server_hosts(found.hosts)


def parts(host: LocalHost) -> list[Part]:
    """What is recorded: here, or on each of several machines."""
    if not isinstance(host, ServerHosts):
        return [Part("", host, record) for record in host.records()]
    return [
        Part(machine.name, machine.host, record)
        for machine in host.machines
        for record in machine.host.records()
    ]


def parts_of(name: str, host: LocalHost) -> list[Part]:
    """Of one cluster, with all its nodes in every record.

    Raises:
        InputError: there is none of that name.
    """
    if not isinstance(host, ServerHosts):
        return [Part("", host, load(name))]
    found = [part for part in parts(host) if part.record.name == name]
    if not found:
        where = ", ".join(machine.name for machine in host.machines)
        raise InputError(f"there is no cluster named {name!r} on {where}", hint="steelyard cluster list")
    return found


def nodes_of(found: Sequence[Part]) -> Iterator[tuple[Part, dict[str, Any]]]:
    """Each node of a cluster with the part that it is in, whose record tells all nodes."""
    nodes = [node for part in found for node in part.record.nodes]
    for part in found:
        whole = replace(part, record=replace(part.record, nodes=nodes))
        for node in part.record.nodes:
            yield whole, node


def end(name: str, host: LocalHost) -> None:
    """End a cluster, wherever it is; raises InputError: there is none of that name, or it has an owner."""
    if not isinstance(host, ServerHosts):
        host.end_cluster(name)
        return
    for part in parts_of(name, host):
        part.host.end_cluster(name)
    host.remove(clients_folder() / name)


def clients_folder() -> Path:
    """What clients on this machine need of clusters on others is kept in folders below it, by their names."""
    return state_folder() / OTHERS
