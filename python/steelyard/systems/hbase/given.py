"""A running HBase cluster, given by addresses: nothing is started or stopped; servers tell how they are."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from steelyard.errors import InfrastructureError
from steelyard.hosts.place import Place, place_of
from steelyard.hosts.say import Say
from steelyard.spec.hbase import HBaseHostsSystem
from steelyard.systems import given_rest
from steelyard.systems.base import Settled
from steelyard.systems.changes import Listed
from steelyard.systems.hbase import admin, members, wire, zookeeper
from steelyard.systems.hbase.facts import access_plan
from steelyard.systems.hbase.layout import CLIENT_PORT, PORTS, REGIONSERVER
from steelyard.systems.hbase.members import Member, Node
from steelyard.systems.null import NullTestbed
from steelyard.watch.target import WatchTarget

CONNECT_S = 5.0


class HBaseHostsTestbed(NullTestbed):
    """Somebody else's cluster.

    Args:
        system: its addresses.
    """

    capabilities = frozenset({"watch"})

    def __init__(self, system: HBaseHostsSystem) -> None:
        super().__init__(system)
        self.registry = [place_of(host, system.port) for host in system.hosts]
        self.zookeeper = [place_of(host, PORTS[CLIENT_PORT]) for host in system.zookeeper]
        self._nodes: list[Node] = []
        self._targets: list[WatchTarget] = []
        self._warnings: list[str] = []

    def up(self, say: Say) -> None:
        """See that one of the addresses answers; else InfrastructureError, with the reason of each."""
        why = []
        for place in (*self.registry, *self.zookeeper):
            try:
                say(f"{place} answers{self._told(place)}")
            except OSError as error:
                why.append(f"{place}: {error}")
            else:
                self._look_round(say)
                return
        raise InfrastructureError(
            f"none of the hosts answers ({'; '.join(why)})",
            hint="check address and port: of masters 16000, of region servers 16020, of ZooKeeper 2181",
        )

    def _told(self, place: Place) -> str:
        if place in self.zookeeper:
            place.connect(CONNECT_S).close()
            return ""
        answer = wire.ask(place, wire.META, "GetClusterId", timeout_s=CONNECT_S)
        return f", cluster {wire.string(answer, 1)}"

    def driver(self) -> dict[str, Any]:
        """The HBase driver on these addresses."""
        return {
            "kind": "hbase",
            "registry": [str(place) for place in self.registry],
            "zookeeper": [str(place) for place in self.zookeeper],
            "zookeeper_parent": self.system.zookeeper_parent,
            **access_plan(self.system.access, len(self._region_servers())),
            "user": self.system.user,
        }

    def _look_round(self, say: Say) -> None:
        """Find out who belongs to it; that this cannot be had keeps nobody from measuring."""
        self._nodes, self._targets, self._warnings = [], [], []
        try:
            self._nodes = members.nodes(self._members())
            self._watch(self._nodes)
        except OSError as error:
            self._warnings = [f"its servers are not known, and not watched: {error}"]
        for warning in self._warnings:
            say(warning)

    def _watch(self, nodes: Sequence[Node]) -> None:
        """Have these nodes among the targets, as far as their servers' pages can be found."""
        watched = {target.name for target in self._targets}
        targets = []
        for node in (node for node in nodes if node.name not in watched) if self.system.watch else ():
            unwatched = f"{node.name} is not watched: "
            self._warnings = [told for told in self._warnings if not told.startswith(unwatched)]
            try:
                targets.append(members.target(node))
            except OSError as error:
                self._warnings.append(f"{unwatched}{error}")
        self._targets = [*self._targets, *targets]

    def roll(self) -> Sequence[Listed]:
        """The region servers that belong to it now; see `changes.CountsMembers`. `registered`: the master
        counts it; `assigned`: it serves a region. Masters are none of them: which of them is the active one
        may change at any time."""
        self._nodes = members.nodes(self._members())
        self._watch(self._nodes)
        return [
            Listed(
                str(server.place),
                node.name,
                ("registered", "assigned") if server.regions else ("registered",),
                facts,
            )
            for node, facts in zip(self._nodes, members.facts(self._nodes), strict=True)
            for server in node.members
            if server.role == REGIONSERVER
        ]

    def end_roll(self) -> None:
        """Nothing is kept open; who has left is watched no more."""
        there = {node.name for node in self._nodes}
        self._targets = [target for target in self._targets if target.name in there]

    def _members(self) -> list[Member]:
        """All its servers, by the first address that leads to the active master; raises OSError."""
        why: list[str] = []
        for place in (*self.registry, *self.zookeeper):
            try:
                return members.members(self._master(place), self._info_ports, CONNECT_S)
            except OSError as error:
                why.append(f"{place}: {error}")
        raise OSError("; ".join(why))

    def _master(self, place: Place) -> Place:
        if place in self.zookeeper:
            return zookeeper.active_master(place, self.system.zookeeper_parent, CONNECT_S)
        return members.active_master(place, CONNECT_S)

    @property
    def _info_ports(self) -> tuple[int | None, int | None]:
        return self.system.master_info_port, self.system.region_server_info_port

    def warnings(self) -> list[str]:
        """What is not known of it."""
        return list(self._warnings)

    def targets(self) -> Sequence[WatchTarget]:
        """Its servers' machines, each asked for what its servers tell at /jmx."""
        return list(self._targets)

    def settle(self, limit_s: float, say: Say) -> Settled:
        """Wait, at most `limit_s`, until no region server has work pending, or a probe's latency is level."""
        return given_rest.settle(self._pending, self._latency_s, limit_s, say)

    def _pending(self) -> int:
        if not self._nodes:
            self._nodes = members.nodes(self._members())
        servers = self._region_servers()
        if not servers:
            raise OSError("its master tells of no region server")
        return sum(admin.pending_at(web) for web in [members.web_of(server) for server in servers])

    def _region_servers(self) -> list[Member]:
        return [member for node in self._nodes for member in node.members if member.role == REGIONSERVER]

    def _latency_s(self) -> float:
        began = time.monotonic()
        wire.ask(self._entrance(), wire.META, "GetClusterId", timeout_s=CONNECT_S)
        return time.monotonic() - began

    def _entrance(self) -> Place:
        if self.registry:
            return self.registry[0]
        return self._master(self.zookeeper[0])

    def facts(self) -> dict[str, Any]:
        """The addresses, and who belongs to it; the rest of it is not ours to know."""
        return {
            "kind": "hbase-hosts",
            "hosts": [str(place) for place in (*self.registry, *self.zookeeper)],
            "nodes": members.facts(self._nodes),
            "deviations": [],
            "durability": "unknown: set on servers that Steelyard did not configure",
            "warnings": self.warnings(),
        }
