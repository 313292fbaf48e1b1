"""YCSB's HBase databases and their properties as given clusters of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from steelyard.errors import InputError
from steelyard.spec.properties import Properties
from steelyard.spec.ycsb_binding import Binding
from steelyard.systems.hbase.site_file import read_hbase_site

ZOOKEEPER_PORT = "2181"
WRITE_BUFFER = 12_582_912


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


def _remarks(_: Properties, class_path: Sequence[Path]) -> Iterator[str]:
    if class_path and not read_hbase_site(class_path):
        yield "-cp: there is no hbase-site.xml; a ZooKeeper on this host is asked for the cluster"


BINDINGS = (
    Binding(
        names=("hbase2", "hbase1", "hbase14"),
        help="-p columnfamily=F; -cp FOLDER with hbase-site.xml (hbase1, hbase14: the same)",
        system=_hbase,
        properties=(
            "columnfamily", "clientbuffering", "writebuffersize", "durability", "principal", "keytab",
            "hbase.usepagefilter", "hbase.usescanvaluefiltering", "hbase.scanfilteroperator",
            "hbase.scanfiltervalue", "hbase.zookeeper.quorum", "hbase.zookeeper.property.clientPort",
            "zookeeper.znode.parent", "hbase.client.bootstrap.servers",
        ),
        ignored={"hbase.usepagefilter": "a scan's length is sent with it"},
        remarks=_remarks,
    ),
)  # fmt: skip
