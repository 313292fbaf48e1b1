"""A running CQL cluster, given by its addresses: nothing is started or stopped; nodes tell how they are."""

from __future__ import annotations

import ssl
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts.place import place_of
from steelyard.hosts.say import Say
from steelyard.spec.system import HostsSystem
from steelyard.systems import given_rest
from steelyard.systems.base import Settled
from steelyard.systems.cassandra import hints
from steelyard.systems.cassandra.cql_probe import LoginRefusedError, Probe, Row, answers, ask
from steelyard.systems.cassandra.facts import access_plan
from steelyard.systems.cassandra.login import CqlPlace, Login, speaks_tls
from steelyard.systems.cassandra.replication import replication_map
from steelyard.systems.cassandra.rest import WORK, pending_at
from steelyard.systems.cassandra.roll import PEERS, Roll, others
from steelyard.systems.cassandra.virtual_tables import VirtualTables
from steelyard.systems.changes import Listed
from steelyard.systems.null import NullTestbed
from steelyard.watch.target import WatchTarget

CONNECT_S = 5.0
PROBE = "SELECT host_id FROM system.local"
VERSION = "SELECT release_version FROM system.local"


class HostsTestbed(NullTestbed):
    """Somebody else's cluster.

    Args:
        system: its addresses, and how to get in.
    """

    capabilities = frozenset({"watch"})

    def __init__(self, system: HostsSystem) -> None:
        super().__init__(system)
        login = Login.of(system.model_dump())
        given = [place_of(host, system.port) for host in system.hosts]
        self.places = [CqlPlace(place.address, place.port, login=login) for place in given]
        self._answering = self.places[0]
        self._nodes: tuple[CqlPlace, ...] = ()
        self._version = ""
        self._warnings: list[str] = []
        self._roll: Roll | None = None
        self._members: tuple[CqlPlace, ...] = ()

    def up(self, say: Say) -> None:
        """See that one of the addresses answers and lets us in.

        Raises:
            InputError: one refuses for how we come: TLS, certificate, user, password.
            InfrastructureError: none answers, with the reason of each.
        """
        why = []
        for place in self.places:
            try:
                with Probe(place, CONNECT_S) as probe:
                    probe.start()
            except OSError as error:
                if (mistake := refused(place, error)) is not None:
                    raise mistake from error
                why.append(f"{place}: {error}")
            else:
                say(f"{place} answers")
                self._answering = place
                self._look_round(say)
                return
        raise InfrastructureError(
            f"none of the hosts answers CQL ({'; '.join(why)})", hint="check address and port"
        )

    def _look_round(self, say: Say) -> None:
        """Find out who belongs to it; that this cannot be had keeps nobody from measuring."""
        self._nodes, self._warnings = tuple(self.places), []
        try:
            self._version = text(ask(self._answering, VERSION))
            self._nodes = tuple(members(self._answering))
        except OSError as error:
            self._warnings = [f"of its nodes only those that are given are known and watched: {error}"]
            say(self._warnings[0])

    def warnings(self) -> list[str]:
        """What is not known of it."""
        return list(self._warnings)

    def targets(self) -> Sequence[WatchTarget]:
        """Its nodes, each asked for its own virtual tables."""
        if not self.system.watch:
            return []
        return [
            WatchTarget(name, inquiries=(VirtualTables(place),), outside=True)
            for name, place in named(self._nodes).items()
        ]

    def roll(self) -> Sequence[Listed]:
        """Who belongs to it now; see `changes.CountsMembers`. `normal`: it is a member of the ring;
        `joined`: it takes clients."""
        if self._roll is None:
            self._roll = Roll([self._answering, *(node for node in self._nodes if node != self._answering)])
        found = self._roll.call()
        self._members = tuple(member.place for member in found)
        self._nodes = (*self._nodes, *(place for place in self._members if place not in self._nodes))
        return [
            Listed(
                member.id,
                member.place.address,
                ("normal", "joined") if member.takes_clients else ("normal",),
                told(member.place.address, member.place),
            )
            for member in found
        ]

    def end_roll(self) -> None:
        """See `changes.CountsMembers`."""
        if self._roll is not None:
            self._roll.close()
        self._roll, self._nodes = None, self._members or self._nodes

    def driver(self) -> dict[str, Any]:
        """The CQL driver on these addresses."""
        access = self.system.access
        return {
            "kind": "cql",
            "hosts": list(self.system.hosts),
            "port": self.system.port,
            **self.places[0].login.plan(),
            **access_plan(access),
            "replication": replication_map(access, list(access.replication.datacenters)),
        }

    def settle(self, limit_s: float, say: Say) -> Settled:
        """Wait, within the limit, until no node has anything pending or keeps hints, or a probe is level."""
        return given_rest.settle(self._pending, self._latency_s, limit_s, say, WORK)

    def _pending(self) -> int:
        return sum(pending_at(place) + hints.told_by(place) for place in members(self._answering))

    def _latency_s(self) -> float:
        began = time.monotonic()
        ask(self._answering, PROBE)
        return time.monotonic() - began

    def facts(self) -> dict[str, Any]:
        """The addresses, and what it says of itself; the rest of it is not ours to know."""
        return {
            "kind": "hosts",
            "version": self._version,
            "nodes": [told(name, place) for name, place in named(self._nodes).items()],
            "hosts": list(self.system.hosts),
            "port": self.system.port,
            "tls": self.system.tls_ca is not None,
            "deviations": [],
            "durability": "unknown: set on servers that Steelyard did not configure",
            "warnings": self.warnings(),
        }


def members(place: CqlPlace) -> list[CqlPlace]:
    """All nodes of the cluster, as one of them knows them: their addresses, at its port. Raises OSError."""
    return [place, *others(ask(place, PEERS), place).values()]


def named(places: Sequence[CqlPlace]) -> dict[str, CqlPlace]:
    """Nodes by their addresses, by which reports know them."""
    return {place.address: place for place in places}


def told(name: str, place: CqlPlace) -> dict[str, Any]:
    """The manifest's words of a node."""
    return {"name": name, "address": place.address, "port": place.port}


def text(rows: Sequence[Row]) -> str:
    """The first cell of an answer, as text; empty without one."""
    return (rows[0][0] or b"").decode(errors="replace") if rows else ""


def refused(place: CqlPlace, error: OSError) -> InputError | None:
    """What to do about a node that is there and refuses how we come; None for any other reason."""
    if isinstance(error, LoginRefusedError):
        return InputError(f"{place}: {error}", hint="--user and --password-file (user, password_file)")
    if isinstance(error, ssl.SSLCertVerificationError):
        return InputError(
            f"{place}: its certificate does not hold: {error.verify_message}",
            hint="--tls-ca names the authority that signed it; it must hold for the address that is given",
        )
    tls = speaks_tls(place, CONNECT_S)
    if place.login.tls_ca is None and tls:
        return InputError(f"{place} speaks TLS", hint="--tls-ca FILE (tls_ca): who signed its certificate")
    if place.login.tls_ca is not None and tls and place.login.tls_cert is None:
        return InputError(
            f"{place} breaks the TLS handshake off ({error})",
            hint="it may ask for a client's certificate: --tls-cert and --tls-key (tls_cert, tls_key)",
        )
    if place.login.tls_ca is not None and answers(replace(place, login=Login()), CONNECT_S):
        return InputError(f"{place} speaks no TLS", hint="leave --tls-ca (tls_ca) out")
    return None
