"""How a recorded cluster is: what each node says of itself, and what the machine says of its processes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from steelyard.errors import InfrastructureError
from steelyard.hosts.place import Place
from steelyard.hosts.process import Identity
from steelyard.hosts.records import Record
from steelyard.systems.cassandra.cql_probe import answers
from steelyard.systems.cassandra.ring import normal_members
from steelyard.systems.hbase import admin, facts, jmx, serving
from steelyard.systems.hbase.layout import MASTER, REGIONSERVER, HBaseSpec
from steelyard.watch.agent import ask

COLUMNS = {"cassandra": ("place", "normal"), "hbase": ("roles", "sees")}
"""Kind of system -> what the columns are called that differ."""
Recorded = Mapping[str, Any]
Heap = tuple[int, int] | None


@dataclass(frozen=True)
class NodeStatus:
    """One node now.

    Attributes:
        name: its name.
        address: where it answers, as host:port.
        place: datacenter and rack, or its roles.
        pids: its processes that run.
        state: "up", "frozen", "no answer", "in part" (some of its servers are dead) or "dead".
        sees: what it sees of the cluster: members, regions, region servers; empty where it does not answer.
        load_bytes: what its data folder holds.
        memory_bytes: resident memory of its processes.
        heap_bytes: heap in use and at most, of the server that clients ask, if it tells.
    """

    name: str
    address: str
    place: str
    pids: Sequence[int]
    state: str
    sees: str
    load_bytes: int
    memory_bytes: int
    heap_bytes: Heap


def statuses(record: Record) -> list[NodeStatus]:
    """Each node of a cluster."""
    look = {"cassandra": _cassandra, "hbase": _hbase}[record.kind]
    return [look(record, node) for node in record.nodes]


def _cassandra(record: Record, node: Recorded) -> NodeStatus:
    place = Place(node["address"], node["port"], node["namespace"])
    return _status(
        record,
        node,
        address=str(place),
        place=f"{node['datacenter']}/{node['rack']}",
        answer=lambda: answers(place),
        sees=lambda: f"{normal_members(place)}/{len(record.nodes)}",
        heap=lambda: _agent_heap(node),
    )


def _hbase(record: Record, node: Recorded) -> NodeStatus:
    spec = facts.spec_of(node)
    main = next((role for role in (REGIONSERVER, MASTER) if role in spec.parts), spec.parts[0])
    return _status(
        record,
        node,
        address=str(spec.place(main)),
        place=" ".join(spec.roles),
        answer=lambda: all(serving.serves(spec, part) for part in spec.parts),
        sees=lambda: _regions(spec),
        heap=lambda: _jmx_heap(spec, main) if main in (REGIONSERVER, MASTER) else None,
    )


def _regions(spec: HBaseSpec) -> str:
    if REGIONSERVER in spec.parts:
        return f"{len(admin.regions(spec))} regions"
    if MASTER in spec.parts:
        active = serving.active_master([spec]) is not None
        return f"{len(serving.registered(spec))} region servers" if active else "stands by"
    return ""


def _status(
    record: Record,
    node: Recorded,
    *,
    address: str,
    place: str,
    answer: Callable[[], bool],
    sees: Callable[[], str],
    heap: Callable[[], Heap],
) -> NodeStatus:
    processes = record.processes_of(node["name"]).values()
    pids = [process.pid for process in processes if process.alive()]
    state = _state(pids, processes, answer)
    return NodeStatus(
        name=node["name"],
        address=address,
        place=place,
        pids=pids,
        state=state,
        sees=(_told(sees) or "") if state == "up" else "",
        load_bytes=_size(Path(node["folder"]) / "data"),
        memory_bytes=sum(map(_memory, pids)),
        heap_bytes=_told(heap) if state == "up" else None,
    )


def _state(pids: Sequence[int], processes: Collection[Identity], answer: Callable[[], bool]) -> str:
    if not pids:
        return "dead"
    with suppress(psutil.Error):
        if any(psutil.Process(pid).status() == psutil.STATUS_STOPPED for pid in pids):
            return "frozen"
    if len(pids) < len(processes):
        return "in part"
    return "up" if answer() else "no answer"


def _told(what: Callable[[], Any]) -> Any:
    """What a server tells; None when it does not answer."""
    try:
        return what()
    except (OSError, InfrastructureError):
        return None


def _memory(pid: int) -> int:
    with suppress(psutil.Error):
        return int(psutil.Process(pid).memory_info().rss)
    return 0


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # a compaction may just have removed it
            total += path.stat().st_size if path.is_file() else 0
    return total


def _agent_heap(node: Recorded) -> Heap:
    if not node["agent_port"]:
        return None
    answer = ask((node["address"], node["agent_port"]), "metrics", 2.0, node["namespace"])
    metrics = answer.get("metrics", {})
    used, most = metrics.get("server_heap_used_bytes"), metrics.get("server_heap_max_bytes")
    return (int(used), int(most)) if used and most else None


def _jmx_heap(spec: HBaseSpec, role: str) -> Heap:
    usage = jmx.bean(spec.web(role), jmx.MEMORY, 2.0).get("HeapMemoryUsage") or {}
    return (int(usage["used"]), int(usage["max"])) if usage else None
