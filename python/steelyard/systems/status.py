"""How a recorded cluster is: what each node says of itself, and what the machine says of its processes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from steelyard.errors import InfrastructureError
from steelyard.hosts.process import Identity
from steelyard.hosts.records import Record

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


def node_status(
    record: Record,
    node: Recorded,
    *,
    address: str,
    place: str,
    answer: Callable[[], bool],
    sees: Callable[[], str],
    heap: Callable[[], Heap],
) -> NodeStatus:
    """What is the same for all kinds.

    Args:
        record: the cluster's.
        node: as its record has it.
        address: where it answers, as host:port.
        place: where it stands, or its roles.
        answer: asks whether it serves.
        sees: asks what it sees of the cluster.
        heap: asks for heap in use, and at most.
    """
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
