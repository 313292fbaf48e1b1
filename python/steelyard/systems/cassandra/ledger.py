"""What the words of a study promise on a CQL cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.results.in_effect import InEffect, part
from steelyard.systems import ledger
from steelyard.systems.ledger import Line

MAJORITY = ("QUORUM", "LOCAL_QUORUM")
FIXED = {"ANY": 1, "ONE": 1, "LOCAL_ONE": 1, "TWO": 2, "THREE": 3}


def _copies(side: InEffect, level: str = "") -> int | None:
    """Replicas of a row; for a level that asks one datacenter only, those of that datacenter."""
    said = part(side.ready, "replication_in_effect")
    counts = {name: int(v) for name, v in said.items() if name != "class" and str(v).isdigit()}
    if level.upper().startswith("LOCAL_") and len(counts) > 1:
        return counts.get(str(side.ready.get("local_datacenter")))
    return sum(counts.values()) or None


def _needed(side: InEffect, level: str) -> int | None:
    """Replicas that a consistency level waits for."""
    copies, level = _copies(side, level), level.upper()
    if level in FIXED or copies is None:
        return FIXED.get(level)
    return copies // 2 + 1 if level in MAJORITY else copies if level == "ALL" else None


def _of(side: InEffect, level: str) -> str:
    """How many replicas a level waits for, among how many, and where those are if not everywhere."""
    among = _copies(side, level)
    where = f" of {side.ready.get('local_datacenter')}" if among not in (None, _copies(side)) else ""
    return f"{_needed(side, level) or '?'} of {among or '?'} replicas{where}"


def _written(side: InEffect) -> str:
    level = str(side.ready.get("write_consistency"))
    return f"{level}: {_of(side, level)}; the others are sent it too"


def _read(side: InEffect) -> str:
    read, write = str(side.ready.get("read_consistency")), str(side.ready.get("write_consistency"))
    asked, written = _needed(side, read), _needed(side, write)
    among = _copies(side, read)
    if None in (asked, written, among) or among != _copies(side, write):
        return read
    overlap = (asked or 0) + (written or 0) > (among or 0)
    promise = "holds every acknowledged write" if overlap else "may lack an acknowledged write"
    return f"{read}: {_of(side, read)}; with writes at {write} its answer {promise}"


def _spread(side: InEffect) -> str | None:
    tokens = side.setting("num_tokens")
    return f"by hash of the key over {tokens} tokens a node" if tokens else None


def _caches(side: InEffect) -> str | None:
    caching = side.table.get("caching")
    if not caching:
        return None
    told = ", ".join(f"{k} = {v}" for k, v in caching.items()) if isinstance(caching, Mapping) else caching
    return f"table: {told}; file data: the operating system's page cache"


def _compression(side: InEffect) -> Any:
    found = side.table.get("compression")
    if not isinstance(found, Mapping):
        return found
    off = str(found.get("enabled", "true")).lower() == "false" or not found.get("class")
    return "none" if off else str(found.get("class")).rsplit(".", 1)[-1]


def _heap(side: InEffect) -> str:
    heap = side.asked.get("heap_mib")
    return f"heap: {f'{heap} MiB' if heap else 'that of the profile'}"


LEDGER: Mapping[str, Line] = {
    ledger.WRITTEN: _written,
    ledger.READ: _read,
    ledger.AGAIN: lambda _: "another node coordinates",
    ledger.BUFFERING: lambda _: "none: every write is sent alone",
    ledger.TIMESTAMPS: lambda _: "the client's, in microseconds",
    ledger.SPREAD: _spread,
    ledger.CACHES: _caches,
    ledger.COMPRESSION: _compression,
    ledger.HEAP: _heap,
    ledger.ROLES: lambda _: "every node is equal",
}
