"""Whether servers are at rest: no compaction or flush runs or waits, and none keeps writes for another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from steelyard.errors import InfrastructureError
from steelyard.hosts.say import Say
from steelyard.systems.base import OWN_FIGURES, Settled
from steelyard.systems.cassandra.cql_probe import Probe
from steelyard.systems.cassandra.hints import Hints
from steelyard.systems.cassandra.login import CqlPlace
from steelyard.systems.cassandra.node import LocalNode
from steelyard.systems.waiting import wait_rest

WORK = "compactions, flushes and hints"
AGENT_PENDING = ("server_compactions_pending", "server_flushes_pending")
POOLS = "SELECT name, active_tasks, pending_tasks FROM system_views.thread_pools"
TASKS = "SELECT task_id FROM system_views.sstable_tasks"
BACKGROUND = (
    b"CompactionExecutor",
    b"MemtableFlushWriter",
    b"MemtablePostFlush",
    b"PerDiskMemtableFlushWriter_0",
    b"HintsDispatcher",
)


def settle(
    nodes: Sequence[LocalNode], hints: Hints, agent_port: int | None, limit_s: float, say: Say
) -> Settled:
    """Wait until all running nodes are at rest, at most `limit_s` seconds."""

    def count() -> int:
        running = [node for node in nodes if node.alive]
        return sum(_pending(node, agent_port) for node in running) or _waiting(hints, running, agent_port)

    hints.watch()
    settled = wait_rest(count, limit_s, say, OWN_FIGURES, WORK)
    if settled.quiet:
        hints.rested()
    return settled


def _waiting(hints: Hints, nodes: Sequence[LocalNode], agent_port: int | None) -> int:
    try:
        return hints.waiting(nodes, agent_port)
    except (OSError, InfrastructureError):
        return 1


def _pending(node: LocalNode, agent_port: int | None) -> int:
    """Background work of one node, by the best source that answers; one that is silent is not at rest."""
    sources: list[Callable[[], int]] = [lambda: pending_at(node.place), lambda: _by_files(node)]
    if agent_port:
        sources.insert(0, lambda: _by_agent(node, agent_port) + _count_logs(node))
    for source in sources:
        try:
            return source()
        except (OSError, InfrastructureError):
            continue
    return 1


def _by_agent(node: LocalNode, port: int) -> int:
    agent = (node.spec.agent_address, port)
    answer = node.host.ask_agent(agent, "metrics", namespace=node.spec.namespace)
    metrics = answer.get("metrics", {})
    if not any(name in metrics for name in AGENT_PENDING):
        raise InfrastructureError("the agent does not tell what is pending")
    return sum(int(metrics.get(name) or 0) for name in AGENT_PENDING)


def pending_at(place: CqlPlace) -> int:
    """Compactions and flushes that run or wait on a node, by its virtual tables.

    Raises:
        CqlRefusedError: it has no such tables (before 4.0). OSError: it does not answer.
    """
    with Probe(place) as probe:
        probe.start()
        pools, tasks = probe.query(POOLS), probe.query(TASKS)
    waiting = sum(
        int.from_bytes(active or b"") + int.from_bytes(pending or b"")
        for name, active, pending in pools
        if name in BACKGROUND
    )
    return waiting + len(tasks)


def _by_files(node: LocalNode) -> int:
    """By the node's files, where it answers but has no virtual tables. Raises OSError when it does not."""
    with Probe(node.place) as probe:
        probe.options()
    return _count_logs(node)


def _count_logs(node: LocalNode) -> int:
    """Flushes and compactions under way: in every version each keeps a transaction log beside its files."""
    return len(node.host.list(node.spec.folder / "data", "*/*/*_txn_*.log"))
