"""How a node of an HBase cluster is now."""

from __future__ import annotations

from steelyard.hosts.host import Host
from steelyard.hosts.records import Record
from steelyard.systems.hbase import admin, facts, jmx, serving
from steelyard.systems.hbase.layout import MASTER, REGIONSERVER, HBaseSpec
from steelyard.systems.status import Heap, NodeStatus, Recorded, node_status


def status(host: Host, record: Record, node: Recorded) -> NodeStatus:
    """Its roles, and its regions or, of a master, the region servers it counts."""
    spec = facts.spec_of(node)
    main = next((role for role in (REGIONSERVER, MASTER) if role in spec.parts), spec.parts[0])
    return node_status(
        host,
        record,
        node,
        address=str(spec.place(main)),
        place=" ".join(spec.roles),
        answer=lambda: all(serving.serves(spec, part) for part in spec.parts),
        sees=lambda: _sees(spec),
        heap=lambda: _heap(spec, main) if main in (REGIONSERVER, MASTER) else None,
    )


def _sees(spec: HBaseSpec) -> str:
    if REGIONSERVER in spec.parts:
        return f"{len(admin.regions(spec))} regions"
    if MASTER in spec.parts:
        active = serving.active_master([spec]) is not None
        return f"{len(serving.registered(spec))} region servers" if active else "stands by"
    return ""


def _heap(spec: HBaseSpec, role: str) -> Heap:
    usage = jmx.bean(spec.web(role), jmx.MEMORY, 2.0).get("HeapMemoryUsage") or {}
    return (int(usage["used"]), int(usage["max"])) if usage else None
