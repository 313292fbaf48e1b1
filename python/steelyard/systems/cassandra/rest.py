"""Whether a server is at rest: no compaction or flush running or waiting."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from steelyard.errors import InfrastructureError
from steelyard.hosts.host import Host
from steelyard.hosts.say import Say
from steelyard.systems import settling
from steelyard.systems.base import Settled
from steelyard.systems.cassandra.cql_probe import ask
from steelyard.systems.cassandra.node import LocalNode
from steelyard.watch.agent import ask as ask_agent

AGENT_PENDING = ("server_compactions_pending", "server_flushes_pending")
POOLS = "SELECT name, active_tasks, pending_tasks FROM system_views.thread_pools"
BACKGROUND = (
    b"CompactionExecutor",
    b"MemtableFlushWriter",
    b"MemtablePostFlush",
    b"PerDiskMemtableFlushWriter_0",
)


def settle(
    host: Host, nodes: Sequence[LocalNode], agent_port: int | None, limit_s: float, say: Say
) -> Settled:
    """Wait until all running nodes are at rest, at most `limit_s` seconds."""
    return settling.settle(
        lambda: sum(_pending(host, node, agent_port) for node in nodes if node.alive), limit_s, say
    )


def _pending(host: Host, node: LocalNode, agent_port: int | None) -> int:
    """Pending and running background work, by the best source that answers."""
    sources: list[Callable[[], int]] = [lambda: _by_pools(node), lambda: _by_files(host, node)]
    if agent_port:
        sources.insert(0, lambda: _by_agent(node, agent_port) + _by_files(host, node))
    for source in sources:
        try:
            return source()
        except (OSError, InfrastructureError):
            continue
    return 0


def _by_agent(node: LocalNode, port: int) -> int:
    answer = ask_agent((node.spec.address, port), "metrics", namespace=node.spec.namespace)
    metrics = answer.get("metrics", {})
    if not any(name in metrics for name in AGENT_PENDING):
        raise InfrastructureError("the agent does not tell what is pending")
    return sum(int(metrics.get(name) or 0) for name in AGENT_PENDING)


def _by_pools(node: LocalNode) -> int:
    rows = ask(node.place, POOLS)
    return sum(
        int.from_bytes(active or b"") + int.from_bytes(pending or b"")
        for name, active, pending in rows
        if name in BACKGROUND
    )


def _by_files(host: Host, node: LocalNode) -> int:
    """Flushes and compactions under way: in every version each keeps a transaction log beside its files."""
    return len(host.list(node.spec.folder / "data", "*/*/*_txn_*.log"))
