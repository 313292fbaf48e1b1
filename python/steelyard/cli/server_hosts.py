"""Which machine does what: `--load-hosts` drive, `--server-hosts` have nodes, `--watch-hosts` are sampled."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from steelyard.cli.load_hosts import (
    Named,
    check_points,
    end_leftovers,
    machines_of,
    one_engine_each,
    workers,
)
from steelyard.errors import InputError
from steelyard.hosts.remote.addresses import Address, addresses, check_distinct
from steelyard.hosts.remote.extra import require_fleet
from steelyard.hosts.remote.host import RemoteHost
from steelyard.hosts.remote.scheduler import Machine, is_loopback
from steelyard.hosts.server_hosts import ServerHost, ServerHosts, WatchedHosts
from steelyard.lab.load_hosts import LoadHosts
from steelyard.spec.kind import declared
from steelyard.spec.models import Study

SIZES = ("nodes", "datacenters")
"""Flags that say how many nodes there are."""


@dataclass(frozen=True)
class Roles:
    """What machines do.

    Attributes:
        load: those that run an engine each; empty = the engine runs here.
        servers: those that have the nodes; empty = the system is not laid over any.
        watched: those of a given cluster, which are only sampled.
    """

    load: tuple[Machine, ...]
    servers: tuple[Machine, ...]
    watched: tuple[Machine, ...] = ()

    def words(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """The words of `bench` for these machines: an engine for each load host, and a node for each server
        host unless they say how many; raises InputError when they ask for other engines."""
        words = one_engine_each(said, self.load) if self.load else dict(said)
        return one_node_each(words, self.servers)


def one_node_each(words: Mapping[str, Any], servers: Sequence[Machine]) -> dict[str, Any]:
    """The words of `bench` or `cluster up` with as many nodes as machines, unless they say how many."""
    if not servers or any(words.get(name) is not None for name in SIZES):
        return dict(words)
    return {**words, SIZES[0]: len(servers)}


def roles_of(ssh: Named, load: int | None, servers: int | None, watched: str | None = None) -> Roles:
    """The first machines are load hosts, the next ones server hosts.

    Args:
        ssh: the machines; those that others run workers on are as many as are asked for.
        load: how many load hosts; None = all that are no server hosts.
        servers: how many server hosts; None = none.
        watched: the machines of a given cluster.

    Raises:
        InputError: there are not as many. MissingToolError: the extra is not installed.
    """
    if watched is not None:
        return _with_watched(ssh, load, servers, watched)
    if ssh is None or servers is None:
        return Roles(machines_of(ssh, load), ())
    machines = machines_of(ssh, None if isinstance(ssh, str) else (load or 0) + servers)
    first = len(machines) - servers if load is None else load
    if servers < 1 or first < 0 or first + servers > len(machines):
        both = f"--load-hosts {load} and " if load is not None else ""
        raise InputError(f"{both}--server-hosts {servers}: --ssh names {len(machines)} machines")
    return Roles(machines[:first], machines[first : first + servers])


def _with_watched(ssh: Named, load: int | None, servers: int | None, watched: str) -> Roles:
    if servers is not None:
        raise InputError(
            "--watch-hosts is for given clusters: machines of --server-hosts are sampled as they are"
        )
    if ssh is not None and not isinstance(ssh, str):
        raise InputError(
            "--watch-hosts goes with load hosts of --ssh, or none: its machines are reached by ssh"
        )
    seen = watched_of(watched)
    if ssh is None and load is None:
        return Roles((), (), seen)
    machines = machines_of(ssh, load)
    named = [machine for machine in machines if isinstance(machine, Address)]
    check_distinct((*named, *seen), "--ssh and --watch-hosts")
    return Roles(machines, (), seen)


def watched_of(text: str) -> tuple[Address, ...]:
    """The machines of `--watch-hosts`; raises InputError, MissingToolError."""
    found = addresses(text, "--watch-hosts")
    require_fleet("--watch-hosts")
    return found


@contextmanager
def using(
    study: Study, roles: Roles, key: Path | None, python: str | None
) -> Iterator[tuple[LoadHosts | None, ServerHosts | WatchedHosts | None]]:
    """Machines for a study, as long as the `with` lasts: where its engines run, and where its systems are.

    Raises:
        InputError: its system cannot be used so, or it wants another number of engines.
        InfrastructureError: a machine cannot be had, or has another version.
    """
    if roles.load:
        check_points(study, roles.load, apart=bool(roles.servers))
    if roles.servers:
        _check_laid(study)
    if roles.watched:
        check_given(study)
    with workers((*roles.load, *roles.servers, *roles.watched), key, python) as found:
        end_leftovers(found.hosts)
        load, others = found.hosts[: len(roles.load)], found.hosts[len(roles.load) :]
        yield LoadHosts(load) if load else None, _others(others, roles)


def _others(hosts: Sequence[RemoteHost], roles: Roles) -> ServerHosts | WatchedHosts | None:
    if roles.watched:
        return watched_hosts(hosts)
    return server_hosts(hosts) if hosts else None


def watched_hosts(hosts: Sequence[RemoteHost]) -> WatchedHosts:
    """Machines with workers that are only sampled."""
    return WatchedHosts([_server_host(host) for host in hosts])


def check_given(study: Study) -> None:
    """See that every system of a study is a given cluster, which has machines; raises InputError."""
    for point in study.cells:
        kind = declared(point.system.kind)
        if not kind.given_by:
            raise InputError(
                f"--watch-hosts samples machines of a given cluster: this {kind.typed or 'system'} is none",
                hint="leave it out: what is here, or on --server-hosts, is sampled anyway",
            )


def server_hosts(hosts: Sequence[RemoteHost]) -> ServerHosts:
    """Machines with workers, as a cluster is laid over them; raises InputError: others do not reach one, or
    its name has no address."""
    found = [(host, resolved(host)) for host in hosts]
    for host, address in found if len(hosts) > 1 else ():
        if is_loopback(address):
            raise InputError(
                f"{host.name} is reached at {host.address}, where other machines do not reach it",
                hint="name it in --ssh by an address on their network",
            )
    return ServerHosts([replace(_server_host(host), address=address) for host, address in found])


def resolved(host: RemoteHost) -> str:
    """The address at which a machine is reached; workers of others may tell a name.

    Raises:
        InputError: nobody here knows the name.
    """
    with suppress(ValueError):
        return str(ip_address(host.address))
    try:
        return str(socket.getaddrinfo(host.address, None, socket.AF_INET, socket.SOCK_STREAM)[0][4][0])
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"{host.name} is reached at {host.address!r}, of which no address is known here: {error}",
            hint="start its worker with an address of its own as contact address",
        ) from None


def _server_host(host: RemoteHost) -> ServerHost:
    return ServerHost(host.name, host.as_host(), host.address, Path(host.ask("clusters_folder")))


def _check_laid(study: Study) -> None:
    """See that there is something to be laid over machines; raises InputError."""
    for point in study.cells:
        kind = declared(point.system.kind)
        if not kind.local:
            raise InputError(
                f"--server-hosts: {kind.typed or point.system.kind} starts no nodes that could be there",
                hint="leave it out, or bench a local cassandra or hbase cluster",
            )
