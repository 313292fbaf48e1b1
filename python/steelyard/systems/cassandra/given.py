"""A running CQL cluster, given by its addresses: nothing is started, stopped or watched."""

from __future__ import annotations

from typing import Any

from steelyard.errors import InfrastructureError
from steelyard.hosts.place import place_of
from steelyard.hosts.say import Say
from steelyard.spec.system import HostsSystem
from steelyard.systems.cassandra.cql_probe import Probe
from steelyard.systems.cassandra.facts import access_plan
from steelyard.systems.cassandra.replication import replication_map
from steelyard.systems.null import NullTestbed

CONNECT_S = 5.0


class HostsTestbed(NullTestbed):
    """Somebody else's cluster.

    Args:
        system: its addresses, and how to get in.
    """

    def __init__(self, system: HostsSystem) -> None:
        super().__init__(system)

    def up(self, say: Say) -> None:
        """See that one of the addresses answers; else InfrastructureError, with the reason of each."""
        if self.system.tls_ca is not None:
            say("TLS: whether the hosts answer is left to the engine")
            return
        why = []
        for host in self.system.hosts:
            try:
                with Probe(place_of(host, self.system.port), CONNECT_S) as probe:
                    probe.options()
            except OSError as error:
                why.append(f"{host}: {error}")
            else:
                say(f"{host} answers")
                return
        raise InfrastructureError(
            f"none of the hosts answers CQL ({'; '.join(why)})", hint="check address and port"
        )

    def driver(self) -> dict[str, Any]:
        """The CQL driver on these addresses."""
        given = self.system.model_dump(
            mode="json", exclude={"kind", "hosts", "port", "access"}, exclude_none=True
        )
        access = self.system.access
        return {
            "kind": "cql",
            "hosts": list(self.system.hosts),
            "port": self.system.port,
            **given,
            **access_plan(access),
            "replication": replication_map(access, list(access.replication.datacenters)),
        }

    def facts(self) -> dict[str, Any]:
        """The addresses; the rest of it is not ours to know."""
        return {
            "kind": "hosts",
            "hosts": list(self.system.hosts),
            "port": self.system.port,
            "tls": self.system.tls_ca is not None,
            "deviations": [],
            "durability": "unknown: set on servers that Steelyard did not configure",
        }
