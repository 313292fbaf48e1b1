"""What the words of a study promise on an HBase cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.results.in_effect import InEffect, part
from steelyard.systems import ledger
from steelyard.systems.ledger import Line

UNLOGGED = ("SKIP_WAL", "ASYNC_WAL")
SEATS = {
    "dedicated": "on nodes of their own",
    "colocated": "on data nodes",
    "one process": "in one process",
}


def _written(side: InEffect) -> str | None:
    if side.access.get("durability") in UNLOGGED:
        return "one region server's memory; the log follows or is left out"
    copies = part(side.system, "replication").get("hdfs")
    return f"one region server, and its log on all {copies} DataNodes of the pipeline" if copies else None


def _buffering(side: InEffect) -> str:
    buffered = part(side.ready, "buffering")
    if not buffered:
        return "none: every put is sent alone"
    return f"{buffered.get('bytes')} bytes: the latency of a put is that of a buffer append"


def _spread(side: InEffect) -> str | None:
    regions = side.table.get("regions")
    return f"{regions} regions before the load, split by the true distribution of keys" if regions else None


def _caches(side: InEffect) -> str:
    share = side.setting("hfile.block.cache.size")
    filled = (
        "reads fill the block cache" if side.ready.get("reads_fill_block_cache") else "not filled by reads"
    )
    return f"{filled}, {share or 'default'} of the heap"


def _compression(side: InEffect) -> Any:
    return side.table.get("compression")


def _heap(side: InEffect) -> str:
    asked = {name: mib for name, mib in part(side.asked, "heaps").items() if mib}
    told = ", ".join(
        f"{name.removesuffix('_mib').replace('_', ' ')} {mib} MiB" for name, mib in asked.items()
    )
    return f"heaps: {told or 'those of the profile'}"


def _roles(side: InEffect) -> str:
    used = f"; they use {side.master_cpu} of CPU an operation" if side.master_cpu else ""
    roles = str(side.system.get("roles"))
    return f"masters (HMaster, NameNode, ZooKeeper) {SEATS.get(roles, roles)}{used}"


LEDGER: Mapping[str, Line] = {
    ledger.WRITTEN: _written,
    ledger.READ: lambda _: (
        "the one region server that holds the row; its answer holds every acknowledged write"
    ),
    ledger.AGAIN: lambda _: "the region is looked up again",
    ledger.BUFFERING: _buffering,
    ledger.TIMESTAMPS: lambda _: "the client's, in milliseconds; within one the server's order decides",
    ledger.SPREAD: _spread,
    ledger.CACHES: _caches,
    ledger.COMPRESSION: _compression,
    ledger.HEAP: _heap,
    ledger.ROLES: _roles,
}
