"""YCSB's CQL databases and their properties as given clusters of ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from steelyard.errors import InputError
from steelyard.spec.properties import Properties
from steelyard.spec.ycsb_binding import Binding

QUORUM = "QUORUM"
PROPERTIES = (
    "port", "keyspace", "username", "password", "readconsistencylevel", "writeconsistencylevel",
    "maxconnections", "coreconnections", "connecttimeoutmillis", "readtimeoutmillis", "tracing", "useSSL",
)  # fmt: skip


def _cassandra(p: Properties, _: Sequence[Path], private: Path) -> dict[str, Any]:
    return _cql(p, "cassandra", "", QUORUM, private)


def _scylla(p: Properties, _: Sequence[Path], private: Path) -> dict[str, Any]:
    if p.switch("scylla.lwt", False):
        raise InputError(f"{p.origin('scylla.lwt')}: scylla.lwt: conditional writes are not offered")
    local = p.get("scylla.local_dc", None, "system.access.local_datacenter")
    system = _cql(p, "scylla", "scylla.", "LOCAL_QUORUM" if local else QUORUM, private)
    system["access"]["local_datacenter"] = local
    return system


def _cql(p: Properties, prefix: str, where: str, level: str, private: Path) -> dict[str, Any]:
    """A CQL binding: all but the names of hosts and port, which begin with `where`, is called alike."""
    hosts = f"{where}hosts"
    if not p.has(hosts):
        raise InputError(f"property {hosts} is missing", hint=f"e.g. -p {hosts}=10.0.0.1,10.0.0.2")
    if p.switch(f"{prefix}.useSSL", False) and not p.has("steelyard.system.tls_ca"):
        raise InputError(
            f"{p.origin(f'{prefix}.useSSL')}: {prefix}.useSSL needs the authority that signed the servers",
            hint="-p steelyard.system.tls_ca=ca.pem (tls_cert and tls_key likewise)",
        )
    connections = [
        p.get(f"{prefix}.{name}", 1, "system.access.connections", int)
        for name in ("coreconnections", "maxconnections")
    ]
    access = {
        "keyspace": p.get(f"{prefix}.keyspace", "ycsb", "system.access.keyspace"),
        "read_consistency": p.get(f"{prefix}.readconsistencylevel", level, "system.access.read_consistency"),
        "write_consistency": p.get(
            f"{prefix}.writeconsistencylevel", level, "system.access.write_consistency"
        ),
        "connections": max(connections),
    }
    return {
        "kind": "hosts",
        "hosts": [host.strip() for host in p.get(hosts, "", "system.hosts").split(",")],
        "port": p.get(f"{where}port", 9042, "system.port", int),
        "access": access,
        **_login(p, prefix, private),
    }


def _login(p: Properties, prefix: str, private: Path) -> dict[str, Any]:
    """User and password; the password goes into a file, since no secret stands in a plan."""
    user = p.get(f"{prefix}.username", None, "system.user")
    if user is None:
        return {}
    path = private / "password"
    path.touch(mode=0o600)
    path.write_text(p.get(f"{prefix}.password", "") + "\n", encoding="utf-8")
    return {"user": user, "password_file": str(path)}


def _ignored(prefix: str) -> dict[str, str]:
    return {
        f"{prefix}.tracing": "tracing would change what is measured",
        f"{prefix}.connecttimeoutmillis": "connecting has limits of its own",
    }


BINDINGS = (
    Binding(
        names=("cassandra-cql", "cassandra2-cql"),
        help="-p hosts=A,B; also cassandra.keyspace, cassandra.readconsistencylevel, ... Keyspace and table "
        "are made if missing, with one replica; three: -p steelyard.system.access.replication.factor=3",
        system=_cassandra,
        properties=("hosts", "port", *(f"cassandra.{name}" for name in PROPERTIES)),
        ignored=_ignored("cassandra"),
        attempt_ms="cassandra.readtimeoutmillis",
    ),
    Binding(
        names=("scylla",),
        help="-p scylla.hosts=A,B; the same with scylla. before it",
        system=_scylla,
        properties=(
            "scylla.hosts", "scylla.local_dc", "scylla.lwt", *(f"scylla.{name}" for name in PROPERTIES),
        ),
        ignored=_ignored("scylla"),
        attempt_ms="scylla.readtimeoutmillis",
    ),
)  # fmt: skip
