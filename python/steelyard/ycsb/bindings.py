"""YCSB's database names and their properties as systems of ours: given clusters, and the null driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from steelyard.errors import InputError, nearest
from steelyard.spec.properties import Properties
from steelyard.ycsb.hbase_site import read_hbase_site

QUORUM = "QUORUM"
ZOOKEEPER_PORT = "2181"
WRITE_BUFFER = 12_582_912


def system_of(database: str, p: Properties, class_path: Sequence[Path], private: Path) -> dict[str, Any]:
    """The `system` of a study.

    Args:
        database: YCSB's name of the binding.
        p: all properties.
        class_path: where hbase-site.xml may be.
        private: a folder that only this user can read; receives the password's file.

    Raises:
        InputError: an unknown database, a property that is missing or cannot be honoured.
    """
    if database not in BINDINGS:
        raise InputError(
            f"no database '{database}'{nearest(database, BINDINGS)}; known: {', '.join(BINDINGS)}"
        )
    return BINDINGS[database](p, class_path, private)


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


def _hbase(p: Properties, class_path: Sequence[Path], _: Path) -> dict[str, Any]:
    for name in ("principal", "keytab"):
        if p.has(name):
            raise InputError(f"{p.origin(name)}: {name}: Kerberos is not spoken, SIMPLE authentication is")
    if p.switch("hbase.usescanvaluefiltering", False):
        raise InputError(f"{p.origin('hbase.usescanvaluefiltering')}: scans have no value filters")
    if not p.has("columnfamily"):
        raise InputError("property columnfamily is missing", hint="e.g. -p columnfamily=family")
    buffered = p.switch("clientbuffering", False)
    size = p.get("writebuffersize", WRITE_BUFFER, "system.access.client_buffering_bytes", int)
    access = {
        "table": p.get("table", "usertable", "system.access.table"),
        "family": p.get("columnfamily", "", "system.access.family"),
        "durability": p.get("durability", "USE_DEFAULT", "system.access.durability"),
        "client_buffering_bytes": size if buffered else 0,
    }
    return {"kind": "hbase-hosts", **_registry(p, class_path), "access": access}


def _registry(p: Properties, class_path: Sequence[Path]) -> dict[str, Any]:
    """Who is asked for the cluster: properties beat hbase-site.xml, whose default is a local ZooKeeper."""
    site = read_hbase_site(class_path)

    def setting(name: str, default: str) -> str:
        return str(p.get(name, site.get(name, default)))

    if servers := setting("hbase.client.bootstrap.servers", ""):
        return {"hosts": _list(servers)}
    port = setting("hbase.zookeeper.property.clientPort", ZOOKEEPER_PORT)
    quorum = _list(setting("hbase.zookeeper.quorum", "127.0.0.1"))
    return {
        "zookeeper": [host if ":" in host else f"{host}:{port}" for host in quorum],
        "zookeeper_parent": setting("zookeeper.znode.parent", "/hbase"),
    }


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _basic(_: Properties, _class_path: Sequence[Path], _private: Path) -> dict[str, Any]:
    return {"kind": "null"}


BINDINGS: dict[str, Callable[[Properties, Sequence[Path], Path], dict[str, Any]]] = {
    "cassandra-cql": _cassandra,
    "cassandra2-cql": _cassandra,
    "scylla": _scylla,
    "hbase2": _hbase,
    "hbase1": _hbase,
    "hbase14": _hbase,
    "basic": _basic,
}
"""YCSB's database name -> what makes its system."""
