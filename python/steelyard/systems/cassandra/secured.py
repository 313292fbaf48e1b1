"""What `secure` adds to a cluster: certificates of its own, TLS between nodes and to clients, and one user.

Upstream's default user is there when a new cluster starts; with it the own one is made, which then shuts the
default one out. A restored cluster has its users in its data, and their password beside them.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts.host import Host
from steelyard.spec.system import CassandraSystem
from steelyard.systems.cassandra import replication
from steelyard.systems.cassandra.certificates import STORE_PASSWORD, Authority
from steelyard.systems.cassandra.config import CassandraSpec
from steelyard.systems.cassandra.cql_probe import Probe
from steelyard.systems.cassandra.login import DEFAULT_USER, Login
from steelyard.systems.cassandra.node import LocalNode
from steelyard.systems.cassandra.versions import Line
from steelyard.systems.waiting import wait_until

USER = "steelyard"
PASSWORD = Path("login", "password")
"""Below the first node's folder: it belongs to the data that hold its hash, and is kept with them."""
KEYSTORE, TRUSTSTORE = Path("tls", "keystore.p12"), Path("tls", "truststore.p12")
STATEMENT_LIMIT_S = 30.0
"""A change of the schema waits until all nodes agree."""
OURS = (
    "authenticator", "auth_read_consistency_level", "client_encryption_options", "server_encryption_options"
)  # fmt: skip


class Security:
    """The certificates and the password of a secure cluster.

    Args:
        system: what it is.
        name: the cluster's.
        folder: the cluster's; `tls/` of it is for clients.
        clients: the machine of clients, where that has no node; None = the first node's.
    """

    def __init__(self, system: CassandraSystem, name: str, folder: Path, clients: Host | None = None) -> None:
        self.system, self.folder, self._clients = system, folder / "tls", clients
        self._authority = Authority(name)
        self._password_file = (self.folder if clients else folder / "node1") / PASSWORD

    def write(self, host: Host, spec: CassandraSpec) -> None:
        """A node's stores; with the first node, what clients need."""
        keystore, truststore = self._authority.stores(spec.name, spec.address)
        host.put_secret(spec.folder / KEYSTORE, keystore)
        host.put_secret(spec.folder / TRUSTSTORE, truststore)
        if spec.number > 1:
            return
        certificate, key = self._authority.client("client")
        here = self._clients or host
        here.put(self.folder / "ca.pem", self._authority.pem)
        here.put(self.folder / "client.pem", certificate)
        here.put_secret(self.folder / "client-key.pem", key)
        kept = self._password_file
        if not here.list(kept.parent, kept.name):  # it is there in a restored folder
            here.put_secret(kept, secrets.token_urlsafe(24).encode() + b"\n")

    def login(self) -> Login:
        """How clients get in."""
        mutual = self.system.mutual_tls
        return Login(
            USER,
            self._password_file,
            self.folder / "ca.pem",
            self.folder / "client.pem" if mutual else None,
            self.folder / "client-key.pem" if mutual else None,
        )

    def first_login(self) -> Login:
        """How one gets into a cluster that is new."""
        return replace(self.login(), user=DEFAULT_USER, password_file=None)

    def take_over(self, nodes: Sequence[LocalNode], limit_s: float) -> None:
        """Make the own user on a new cluster, on every node, and shut the default one out.

        Raises:
            InfrastructureError: a node does not let it in after `limit_s` seconds, or died.
        """
        login = self.login()
        _ask(
            nodes[0],
            f"ALTER KEYSPACE system_auth WITH replication = {self._everywhere()}",
            f"CREATE ROLE {USER} WITH PASSWORD = '{login.password()}' AND SUPERUSER = true AND LOGIN = true",
        )
        for node in nodes:
            node.place = replace(node.place, login=login)
        servers = [server for node in nodes for server in node.servers]
        wait_until(lambda: all(map(_lets_in, nodes)), servers, limit_s, f"not every node lets {USER} in")
        _ask(
            nodes[0],
            f"ALTER ROLE {DEFAULT_USER} WITH PASSWORD = '{secrets.token_urlsafe(24)}' "
            "AND SUPERUSER = false AND LOGIN = false",
        )

    def _everywhere(self) -> dict[str, str]:
        """The replication map that gives each node a replica."""
        nodes = replication.sizes(self.system)
        if not self.system.datacenters:
            return {"class": "SimpleStrategy", "replication_factor": str(self.system.size)}
        return {"class": "NetworkTopologyStrategy", **{name: str(count) for name, count in nodes.items()}}


def _ask(node: LocalNode, *statements: str) -> None:
    try:
        with Probe(node.place, STATEMENT_LIMIT_S) as probe:
            probe.start()
            for statement in statements:
                probe.query(statement)
    except OSError as error:
        raise InfrastructureError(f"{node.name} could not change its users: {error}") from error


def _lets_in(node: LocalNode) -> bool:
    try:
        with Probe(node.place) as probe:
            probe.start()
    except OSError:
        return False
    return True


def settings(system: CassandraSystem, line: Line) -> dict[str, Any]:
    """What all nodes of a secure cluster share. Each holds all users, and needs no other to let one in."""
    if not system.secure:
        return {}
    readable = {} if line.old_names else {"auth_read_consistency_level": "LOCAL_ONE"}
    return {"authenticator": "PasswordAuthenticator"} | readable


def node_settings(system: CassandraSystem, spec: CassandraSpec) -> dict[str, Any]:
    """One node's TLS: to clients, and to other nodes, which must be of this cluster."""
    stores = {
        "keystore": str(spec.folder / KEYSTORE),
        "keystore_password": STORE_PASSWORD,
        "truststore": str(spec.folder / TRUSTSTORE),
        "truststore_password": STORE_PASSWORD,
        "store_type": "PKCS12",
    }
    return {
        "client_encryption_options": {
            "enabled": True, "optional": False, "require_client_auth": system.mutual_tls, **stores
        },
        "server_encryption_options": {
            "internode_encryption": "all", "require_client_auth": True, **stores
        },
    }  # fmt: skip


def check(system: CassandraSystem) -> None:
    """Refuse settings under which nobody of ours would get in; raises InputError."""
    given = [name for name in OURS if name in system.settings]
    if system.secure and given:
        raise InputError(f"settings.{given[0]}: secure = true sets it", hint="leave one of the two out")
    if system.secure:
        return
    asks = system.settings.get("authenticator")
    name = str(asks.get("class_name") if isinstance(asks, Mapping) else asks or "")
    if name and not name.endswith("AllowAllAuthenticator"):
        raise InputError(
            f"settings.authenticator = {name}: no user of a new cluster is known",
            hint="--secure (secure = true) makes one, and certificates for TLS",
        )
    client = system.settings.get("client_encryption_options")
    if isinstance(client, Mapping) and str(client.get("enabled", False)).lower() == "true":
        raise InputError(
            "settings.client_encryption_options: the certificates of these nodes are not known here",
            hint="--secure (secure = true) makes them, and passwords",
        )
