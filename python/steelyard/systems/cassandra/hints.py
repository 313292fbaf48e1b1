"""Writes that nodes keep for others that did not take them (hints), while they wait to be handed over."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from uuid import UUID

from steelyard.errors import InfrastructureError
from steelyard.systems.cassandra.cql_probe import CqlRefusedError, ask
from steelyard.systems.cassandra.login import CqlPlace
from steelyard.systems.cassandra.node import LocalNode

MEMORY_S = 11.0
"""A hint is in memory alone for up to 10 s (`hints_flush_period`); its file goes when all are handed over."""
WHO = "SELECT host_id FROM system.local"
TABLE = "SELECT status, files FROM system_views.pending_hints"
KEPT, HANDED_OVER = "server_hints_total", "server_hints_replayed_total"


def told_by(place: CqlPlace) -> int:
    """Files of hints that a node keeps for nodes that are up; before 4.1 it has no table of them: none.

    Raises:
        OSError: it does not answer.
    """
    try:
        found = ask(place, TABLE)
    except CqlRefusedError:
        return 0
    return sum(int.from_bytes(files or b"") for status, files in found if status == b"UP")


class Hints:
    """Counts what waits for nodes that run; hints for one that is down wait for as long as it is."""

    def __init__(self, nodes: Sequence[LocalNode], agent_port: int | None) -> None:
        self._nodes, self._port = nodes, agent_port
        self._in_memory_until = time.monotonic() + MEMORY_S

    def waiting(self) -> int:
        """Files of hints for nodes that run; one where hints may be in memory still.

        Raises:
            OSError, InfrastructureError: a node does not answer.
        """
        running = [node for node in self._nodes if node.alive]
        files = [
            entry.path for node in running for entry in node.host.list(node.spec.folder / "hints", "*.hints")
        ]
        if files:
            ours = tuple(_id(node) for node in running)
            return sum(name.startswith(ours) for name in files)
        return int(time.monotonic() < self._in_memory_until and self._kept(running))

    def _kept(self, nodes: Sequence[LocalNode]) -> bool:
        """Whether nodes kept more than they handed over, by their agents; not so where there are none."""
        return bool(self._port) and sum(_more(self._metrics(node)) for node in nodes) > 0

    def _metrics(self, node: LocalNode) -> Mapping[str, float]:
        agent = (node.spec.agent_address, self._port or 0)
        answer = node.host.ask_agent(agent, "metrics", namespace=node.spec.namespace)
        found: Mapping[str, float] = answer.get("metrics", {})
        return found


def _more(metrics: Mapping[str, float]) -> float:
    return (metrics.get(KEPT) or 0) - (metrics.get(HANDED_OVER) or 0)


def _id(node: LocalNode) -> str:
    host_id = ask(node.place, WHO)[0][0]
    if not host_id:
        raise InfrastructureError(f"{node.name} does not tell its host id")
    return str(UUID(bytes=host_id))
