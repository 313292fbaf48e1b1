"""How a recorded cluster is: what each node says of itself, and what the machine says of its processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.errors import InfrastructureError
from steelyard.hosts.host import Host
from steelyard.hosts.process import Seen
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
    host: Host,
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
        host: where it runs.
        record: the cluster's.
        node: as its record has it.
        address: where it answers, as host:port.
        place: where it stands, or its roles.
        answer: asks whether it serves.
        sees: asks what it sees of the cluster.
        heap: asks for heap in use, and at most.
    """
    processes = record.processes_of(node["name"]).values()
    seen = {process.pid: found for process in processes if (found := host.look(process))}
    state = _state(list(seen.values()), len(processes), answer)
    return NodeStatus(
        name=node["name"],
        address=address,
        place=place,
        pids=list(seen),
        state=state,
        sees=(_told(sees) or "") if state == "up" else "",
        load_bytes=sum(entry.size for entry in host.list(Path(node["folder"]) / "data")),
        memory_bytes=sum(found.resident_bytes for found in seen.values()),
        heap_bytes=_told(heap) if state == "up" else None,
    )


def _state(seen: Sequence[Seen], recorded: int, answer: Callable[[], bool]) -> str:
    if not seen:
        return "dead"
    if any(found.frozen for found in seen):
        return "frozen"
    if len(seen) < recorded:
        return "in part"
    return "up" if answer() else "no answer"


def _told(what: Callable[[], Any]) -> Any:
    """What a server tells; None when it does not answer."""
    try:
        return what()
    except (OSError, InfrastructureError):
        return None
