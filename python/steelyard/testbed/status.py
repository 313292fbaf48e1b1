"""How a recorded cluster is: what each node says of itself, and what the machine says of its process."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from steelyard.errors import InfrastructureError
from steelyard.testbed.cassandra.ring import normal_members
from steelyard.testbed.cql_probe import Place, answers
from steelyard.testbed.process import Identity
from steelyard.testbed.state import Record
from steelyard.testbed.watch.agent import ask


@dataclass(frozen=True)
class NodeStatus:
    """One node now.

    Attributes:
        name: its name.
        address: where it answers CQL, as host:port.
        place: datacenter and rack.
        pid: its process, if it runs.
        state: "up", "frozen", "no answer" or "dead".
        normal: how many members it sees, itself included; None where it does not answer.
        load_bytes: what its data folder holds.
        memory_bytes: resident memory of its process.
        heap_bytes: heap in use and at most, if the agent is loaded.
    """

    name: str
    address: str
    place: str
    pid: int | None
    state: str
    normal: int | None
    load_bytes: int
    memory_bytes: int
    heap_bytes: tuple[int, int] | None


def statuses(record: Record) -> list[NodeStatus]:
    """Each node of a cluster."""
    return [_status(node, record.processes.get(node["name"])) for node in record.nodes]


def _status(node: Mapping[str, Any], process: Identity | None) -> NodeStatus:
    pid = process.pid if process and process.alive() else None
    place = Place(node["address"], node["port"], node["namespace"])
    state = _state(pid, place)
    return NodeStatus(
        name=node["name"],
        address=f"{node['address']}:{node['port']}",
        place=f"{node['datacenter']}/{node['rack']}",
        pid=pid,
        state=state,
        normal=_normal(place) if state == "up" else None,
        load_bytes=_size(Path(node["folder"]) / "data"),
        memory_bytes=_memory(pid),
        heap_bytes=_heap(node) if state == "up" else None,
    )


def _state(pid: int | None, place: Place) -> str:
    if pid is None:
        return "dead"
    with suppress(psutil.Error):
        if psutil.Process(pid).status() == psutil.STATUS_STOPPED:
            return "frozen"
    return "up" if answers(place) else "no answer"


def _normal(place: Place) -> int | None:
    try:
        return normal_members(place)
    except OSError:
        return None


def _memory(pid: int | None) -> int:
    with suppress(psutil.Error):
        return int(psutil.Process(pid).memory_info().rss) if pid else 0
    return 0


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # a compaction may just have removed it
            total += path.stat().st_size if path.is_file() else 0
    return total


def _heap(node: Mapping[str, Any]) -> tuple[int, int] | None:
    if not node["agent_port"]:
        return None
    try:
        answer = ask((node["address"], node["agent_port"]), "metrics", 2.0, node["namespace"])
    except InfrastructureError:
        return None
    metrics = answer.get("metrics", {})
    used, most = metrics.get("server_heap_used_bytes"), metrics.get("server_heap_max_bytes")
    return (int(used), int(most)) if used and most else None
