"""A running HBase cluster, given by its addresses: nothing is started, stopped or watched."""

from __future__ import annotations

import time
from typing import Any

from steelyard.errors import InfrastructureError
from steelyard.hosts.place import Place, place_of
from steelyard.hosts.say import Say
from steelyard.spec.hbase import HBaseHostsSystem
from steelyard.systems import given_rest
from steelyard.systems.base import Settled
from steelyard.systems.hbase import admin, jmx, wire
from steelyard.systems.hbase.facts import access_plan
from steelyard.systems.hbase.layout import CLIENT_PORT, PORTS
from steelyard.systems.null import NullTestbed

CONNECT_S = 5.0
WEB_ABOVE = PORTS["hbase.master.info.port"] - PORTS["hbase.master.port"]


class HBaseHostsTestbed(NullTestbed):
    """Somebody else's cluster.

    Args:
        system: its addresses.
    """

    def __init__(self, system: HBaseHostsSystem) -> None:
        super().__init__(system)
        self.registry = [place_of(host, system.port) for host in system.hosts]
        self.zookeeper = [place_of(host, PORTS[CLIENT_PORT]) for host in system.zookeeper]

    def up(self, say: Say) -> None:
        """See that one of the addresses answers; else InfrastructureError, with the reason of each."""
        why = []
        for place in (*self.registry, *self.zookeeper):
            try:
                say(f"{place} answers{self._told(place)}")
            except OSError as error:
                why.append(f"{place}: {error}")
            else:
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
            **access_plan(self.system.access, 1),
            "user": self.system.user,
        }

    def settle(self, limit_s: float, say: Say) -> Settled:
        """Wait, at most `limit_s`, until no region server has work pending, or a probe's latency is level."""
        return given_rest.settle(self._pending, self._latency_s, limit_s, say)

    def _pending(self) -> int:
        return sum(map(admin.pending_at, webs(self._entrance())))

    def _latency_s(self) -> float:
        began = time.monotonic()
        wire.ask(self._entrance(), wire.META, "GetClusterId", timeout_s=CONNECT_S)
        return time.monotonic() - began

    def _entrance(self) -> Place:
        if self.registry:
            return self.registry[0]
        raise OSError("ZooKeeper alone is given, which does not answer for HBase")

    def facts(self) -> dict[str, Any]:
        """The addresses; the rest of it is not ours to know."""
        return {
            "kind": "hbase-hosts",
            "hosts": [str(place) for place in (*self.registry, *self.zookeeper)],
            "deviations": [],
            "durability": "unknown: set on servers that Steelyard did not configure",
        }


def webs(registry: Place) -> list[Place]:
    """The /jmx of each region server that is alive, as the active master tells; raises OSError.

    They are looked for where upstream's settings put them: as far above a server's port as the shipped ones.
    """
    told = wire.message(wire.ask(registry, wire.META, "GetActiveMaster", timeout_s=CONNECT_S), 1)
    master = Place(wire.string(told, 1), wire.number_of(told, 2) + WEB_ABOVE)
    alive = jmx.bean(master, jmx.MASTER, CONNECT_S).get("tag.liveRegionServers", "")
    servers = [name.split(",") for name in str(alive).split(";") if name]
    if not servers:
        raise OSError(f"{master} tells of no region server")
    return [Place(host, int(port) + WEB_ABOVE) for host, port, *_ in servers]
