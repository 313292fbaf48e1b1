"""Writes that nodes keep for others that did not take them (hints), until these have been handed them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from steelyard.errors import InfrastructureError
from steelyard.systems.cassandra.cql_probe import CqlRefusedError, ask
from steelyard.systems.cassandra.login import CqlPlace
from steelyard.systems.cassandra.node import LocalNode

BORN_S = 4.0
"""A write that a node dropped is a hint of another after 2 s (`write_request_timeout`), by a timer of 1 s."""
MEMORY_S = 15.0
"""Then it is in memory alone for up to 10 s (`hints_flush_period`); its file goes when all went over."""
WHO = "SELECT host_id FROM system.local"
TABLE = "SELECT status, files FROM system_views.pending_hints"
INVALID = 0x2200
BROKEN = ".corrupt.hints"
"""Ends the name of a file that a server found damaged: it never hands that over."""


def told_by(place: CqlPlace) -> int:
    """Files of hints that a node has queued for nodes that are up; before 4.1 it has no table of them: none.

    Raises:
        OSError: it does not answer.
    """
    try:
        found = ask(place, TABLE)
    except CqlRefusedError as error:
        if error.code == INVALID:
            return 0
        raise
    return sum(int.from_bytes(files or b"") for status, files in found if status == b"UP")


@dataclass(frozen=True)
class Told:
    """What a node's agent tells.

    Attributes:
        kept: hints since it was started.
        dropped: messages since then, writes among them.
        under_way: writes that wait for it, and hints that are being made.
    """

    kept: int = 0
    dropped: int = 0
    under_way: int = 0


NOTHING = Told()


class Hints:
    """Of one cluster, from rest to rest: what was kept before an earlier rest has been handed over."""

    def __init__(self) -> None:
        self._rested: dict[str, Told] = {}
        self._last: dict[str, Told] = {}
        self._ids: dict[str, str] = {}
        self._since = 0.0

    def watch(self) -> None:
        """The wait for a rest begins."""
        self._since, self._ids = time.monotonic(), {}

    def rested(self) -> None:
        """The cluster is at rest."""
        self._rested |= self._last

    def waiting(self, nodes: Sequence[LocalNode], agent_port: int | None) -> int:
        """Files of hints for nodes that run, else what may become one.

        Args:
            nodes: those that run: for one that is down hints wait for as long as it is.
            agent_port: where agents listen; None where there are none.

        Raises:
            OSError, InfrastructureError: a node does not answer.
        """
        files = [file for node in nodes for file in _files(node)]
        ours = tuple(self._id(node) for node in nodes) if files else ()
        if count := sum(file.startswith(ours) for file in files):
            return count
        self._last = {node.name: _told(node, agent_port) for node in nodes} if agent_port else {}
        return sum(told.under_way or self._young(name, told) for name, told in self._last.items())

    def _young(self, name: str, told: Told) -> bool:
        """Whether a hint may be in memory, or may be born yet. Counters start anew with a server."""
        before, age_s = self._rested.get(name, NOTHING), time.monotonic() - self._since
        kept, dropped = told.kept not in (0, before.kept), told.dropped not in (0, before.dropped)
        return (kept and age_s < MEMORY_S) or (dropped and age_s < BORN_S)

    def _id(self, node: LocalNode) -> str:
        if node.name not in self._ids:
            host_id = ask(node.place, WHO)[0][0]
            if not host_id:
                raise InfrastructureError(f"{node.name} does not tell its host id")
            self._ids[node.name] = str(UUID(bytes=host_id))
        return self._ids[node.name]


def _files(node: LocalNode) -> list[str]:
    found = [entry.path for entry in node.host.list(node.spec.folder / "hints", "*.hints")]
    return [path for path in found if not path.endswith(BROKEN)]


def _told(node: LocalNode, port: int) -> Told:
    agent = (node.spec.agent_address, port)
    answer = node.host.ask_agent(agent, "metrics", namespace=node.spec.namespace)
    metrics: Mapping[str, float] = answer.get("metrics", {})

    def of(*names: str) -> int:
        return sum(int(metrics.get(name) or 0) for name in names)

    return Told(
        of("server_hints_total"),
        of("server_dropped_total"),
        of("server_hints_in_progress", "server_mutation_stage_pending"),
    )
