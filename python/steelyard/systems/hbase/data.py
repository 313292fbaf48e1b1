"""A node's data at rest: which files they are, which of them never change, and what HDFS says of tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from getpass import getuser
from pathlib import PurePosixPath
from typing import Any

from steelyard.hosts.host import Host
from steelyard.hosts.snapshots import Rules
from steelyard.systems.hbase import admin, jmx
from steelyard.systems.hbase.layout import DATANODE, NAMENODE, REGIONSERVER, HBaseSpec, having

FSCK = "/fsck?ugi={user}&path={path}&files=1"
OPEN_BLOCKS = "&blocks=1&openforwrite=1"
"""Of open files, too, and with their blocks."""
FSCK_LIMIT_S = 60.0
HEALTHY = "is HEALTHY"
TABLES, LOGS = "/hbase/data", "/hbase/WALs"
FILE = re.compile(r"^(?P<path>/\S+) (?P<size>\d+) bytes,", re.MULTILINE)
STORE_FILE = re.compile(
    r"/hbase/data/(?P<space>[^/]+)/(?P<table>[^/]+)/[0-9a-f]{32}/[^./][^/]*/[0-9a-f]{32}\S*"
)
"""namespace/table/region/family/file."""
SYSTEM = "hbase"
IDENTITY = ("datanodeUuid", "storageID", "clusterID")


def written_once(path: PurePosixPath) -> bool:
    """Whether a file of a node is a finalized block of HDFS or its checksums."""
    return path.parts[0] == "data" and "finalized" in path.parts and path.name.startswith("blk_")


def is_lock(path: PurePosixPath) -> bool:
    """Whether a file of a node says who has the folder in use."""
    return path.name == "in_use.lock"


RULES = Rules(("data", "namenode", "zookeeper"), written_once, is_lock)


def holding(host_of: Callable[[HBaseSpec], Host], specs: Sequence[HBaseSpec]) -> dict[str, Any]:
    """Who the nodes are, which regions they serve, and which store files users' tables have.

    Returns:
        NODE: {`address`, `regions` (of users' tables, by full name), and of its DataNode's VERSION files the
        `identity`}; `tables` {namespace/table: {`files`, `bytes`}}.

    Raises:
        OSError: a server does not answer, or HDFS lacks a block.
    """
    served = {spec.name: _regions(spec) for spec in specs}
    nodes = {spec.name: _node(host_of(spec), spec, served[spec.name]) for spec in specs}
    used = {path for spec in specs for one in served[spec.name] for path in admin.store_files(spec, one)}
    names = {PurePosixPath(path).name for path in used}
    return {**nodes, "tables": store_files(fsck(specs, TABLES), names)}


def _regions(spec: HBaseSpec) -> list[admin.Region]:
    return admin.regions(spec) if REGIONSERVER in spec.parts else []


def _node(host: Host, spec: HBaseSpec, served: Sequence[admin.Region]) -> dict[str, Any]:
    found: dict[str, Any] = {"address": spec.address}
    if REGIONSERVER in spec.parts:
        found["regions"] = sorted(one.name.decode("latin-1") for one in served)
    if DATANODE in spec.parts:
        found["identity"] = identity(host.get(spec.folder / "data" / "current" / "VERSION").decode())
    return found


def identity(version: str) -> dict[str, str]:
    """Who a DataNode is, by the text of its VERSION file."""
    lines = (line.partition("=") for line in version.splitlines())
    said = {name: value for name, _, value in lines}
    return {name: said[name] for name in IDENTITY if name in said}


def fsck(specs: Sequence[HBaseSpec], path: str) -> dict[str, int]:
    """Files below a path of HDFS -> bytes, after their blocks were found whole; raises OSError."""
    told = fsck_says(specs, path)
    if HEALTHY not in told:
        last = told.strip().rpartition("\n")[2]
        raise OSError(f"HDFS does not find {path} healthy: {last}")
    return {found["path"]: int(found["size"]) for found in FILE.finditer(told)}


def fsck_says(specs: Sequence[HBaseSpec], path: str, more: str = "") -> str:
    """What HDFS prints of the files below a path; raises OSError without an answer."""
    (names,) = having(specs, NAMENODE)
    asked = FSCK.format(user=getuser(), path=path) + more
    return jmx.page(names.web(NAMENODE), asked, FSCK_LIMIT_S).decode(errors="replace")


def store_files(listed: Mapping[str, int], used: Set[str]) -> dict[str, dict[str, int]]:
    """Users' tables -> number and bytes of their store files, without what else regions keep.

    Args:
        listed: path -> bytes of all files.
        used: the names of those that stores read. A compaction's old files lie beside them for minutes, and
            go when the region is closed.
    """
    found: dict[str, dict[str, int]] = {}
    for path, size in listed.items():
        match = STORE_FILE.fullmatch(path)
        if match and match["space"] != SYSTEM and PurePosixPath(path).name in used:
            table = found.setdefault(f"{match['space']}/{match['table']}", {"files": 0, "bytes": 0})
            table["files"] += 1
            table["bytes"] += size
    return found
