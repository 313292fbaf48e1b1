"""Who belongs to a cluster, and where each server's pages are (`/jmx`), as the active master tells."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from steelyard.hosts.place import Place
from steelyard.systems.hbase import wire
from steelyard.systems.hbase.beans import ROLES
from steelyard.systems.hbase.layout import MASTER, PORTS, REGIONSERVER
from steelyard.watch.beans import Role
from steelyard.watch.target import WatchTarget

LIVE_SERVERS, ACTIVE, BACKUPS, INFO_PORT = 2, 4, 5, 9
"""Of what a cluster's status can tell (enum Option of ClusterStatus.proto)."""
WEB_ABOVE = PORTS["hbase.master.info.port"] - PORTS["hbase.master.port"]
"""Upstream's ports for pages lie so far above those for requests."""


@dataclass(frozen=True)
class Member:
    """One server.

    Attributes:
        role: `regionserver` or `master`.
        place: where it answers requests.
        web: where its pages are; None = it has none.
        regions: how many it serves.
    """

    role: str
    place: Place
    web: Place | None
    regions: int = 0


def active_master(registry: Place, timeout_s: float) -> Place:
    """Where the active master is, as any master (or, from 2.6 on, region server) tells. Raises OSError."""
    told = wire.message(wire.ask(registry, wire.META, "GetActiveMaster", timeout_s=timeout_s), 1)
    return _place(told)


def members(master: Place, info_ports: tuple[int | None, int | None], timeout_s: float) -> list[Member]:
    """The live region servers, the active master, and those that stand by.

    Args:
        master: the active one.
        info_ports: of masters and of region servers; None = as they tell, or else upstream's distance.
        timeout_s: the longest wait.

    Raises:
        OSError: the master does not tell.
    """
    asked = b"".join(wire.field(1, option) for option in (LIVE_SERVERS, ACTIVE, BACKUPS, INFO_PORT))
    answer = wire.ask(master, wire.MASTER, "GetClusterStatus", asked, timeout_s)
    try:
        return _members(wire.message(answer, 1), master, *info_ports)
    except (IndexError, ValueError) as error:
        raise OSError(f"{master} tells of its cluster what cannot be read") from error


def _members(
    status: wire.Fields, master: Place, master_info: int | None, server_info: int | None
) -> list[Member]:
    found = []
    for one in _messages(status, 2):
        place, load = _place(wire.message(one, 1)), wire.message(one, 2)
        server = _member(REGIONSERVER, place, server_info or wire.number_of(load, 9))
        found.append(replace(server, regions=len(load.get(5, []))))
    found.append(_member(MASTER, master, master_info or wire.number_of(status, 10)))
    return found + [_member(MASTER, _place(one), master_info or 0) for one in _messages(status, 8)]


def _member(role: str, place: Place, info_port: int) -> Member:
    """A port that is none, as -1 where pages are switched off (4294967295 as it is sent), means no pages."""
    port = info_port or place.port + WEB_ABOVE
    return Member(role, place, Place(place.address, port) if 0 < port < 65536 else None)


def _messages(fields: wire.Fields, number: int) -> list[wire.Fields]:
    return [wire.parse(one) for one in fields.get(number, []) if isinstance(one, bytes)]


def _place(server: wire.Fields) -> Place:
    return Place(wire.string(server, 1), wire.number_of(server, 2))


@dataclass(frozen=True)
class Node:
    """Servers that are watched as one: those of a machine, unless it has several of one role.

    Attributes:
        name: the machine's, as HBase knows it; with the port where several of a role are on it.
        members: the servers.
    """

    name: str
    members: tuple[Member, ...]


def nodes(found: Sequence[Member]) -> list[Node]:
    """The nodes that these servers make, those with region servers first."""
    by_host: dict[str, list[Member]] = {}
    for member in found:
        by_host.setdefault(member.place.address, []).append(member)
    made = []
    for host, there in by_host.items():
        if len({member.role for member in there}) == len(there):
            made.append(Node(host, tuple(there)))
        else:
            made += [Node(str(member.place), (member,)) for member in there]
    return made


def target(node: Node) -> WatchTarget:
    """What is asked of a node; names are looked up here, once.

    Raises:
        OSError: one is not known, or a server has no pages.
    """
    jmx = tuple(_found(ROLES[member.role], web_of(member)) for member in node.members)
    return WatchTarget(node.name, jmx=jmx, outside=True)


def web_of(member: Member) -> Place:
    """Where its pages are; raises OSError when it has none."""
    if member.web is None:
        raise OSError(f"the {member.role} {member.place} has no pages")
    return member.web


def _found(role: Role, web: Place) -> tuple[Role, str, int]:
    found = socket.getaddrinfo(web.address, web.port, type=socket.SOCK_STREAM)
    return role, str(found[0][4][0]), web.port


def facts(all_nodes: Iterable[Node]) -> list[dict[str, object]]:
    """The manifest's words of them."""
    return [
        {
            "name": node.name,
            "address": node.members[0].place.address,
            "roles": [member.role for member in node.members],
            "ports": {member.role: member.place.port for member in node.members},
            "info_ports": {member.role: member.web.port for member in node.members if member.web},
        }
        for node in all_nodes
    ]
