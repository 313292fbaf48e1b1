"""Hints that wait for nodes that run keep a cluster from rest; those for a node that is down do not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from steelyard.hosts.files import Entry
from steelyard.systems import waiting
from steelyard.systems.cassandra import hints, rest
from steelyard.systems.cassandra.cql_probe import CqlRefusedError
from steelyard.systems.cassandra.hints import Hints, told_by
from steelyard.systems.cassandra.login import CqlPlace

FIRST, SECOND = UUID(int=1), UUID(int=2)


class Node:
    """A node with files of hints, whose agent tells how many it kept and handed over."""

    def __init__(self, number: int, *files: str, kept: int = 0, handed_over: int = 0) -> None:
        self.name, self.alive = f"node{number}", True
        self.place = CqlPlace(f"127.10.251.{number}", 9)
        self.spec = SimpleNamespace(folder=Path("node"), agent_address=self.place.address, namespace=None)
        self.host = self
        self.files = list(files)
        self.metrics = {hints.KEPT: kept, hints.HANDED_OVER: handed_over}

    def list(self, _folder: Path, _pattern: str) -> list[Entry]:
        return [Entry(name, 1) for name in self.files]

    def ask_agent(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {"metrics": self.metrics}


@pytest.fixture(autouse=True)
def _ids(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = {"127.10.251.1": FIRST, "127.10.251.2": SECOND}
    monkeypatch.setattr(hints, "ask", lambda place, _: [[ids[place.address].bytes]])


def counted(*nodes: Any, port: int | None = 1) -> int:
    return Hints(nodes, port).waiting()


def test_files_for_nodes_that_run_are_counted() -> None:
    first, second = Node(1, f"{SECOND}-17-2.hints", f"{SECOND}-18-2.hints"), Node(2, f"{FIRST}-17-2.hints")
    assert counted(first, second) == 3
    second.alive = False
    assert counted(first, second) == 0


def test_a_hint_may_be_in_memory_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    assert counted(Node(1, kept=5, handed_over=3)) == 1
    assert counted(Node(1, kept=5, handed_over=2), Node(2, handed_over=3)) == 0
    assert counted(Node(1, kept=5), port=None) == 0
    monkeypatch.setattr(hints, "MEMORY_S", 0.0)
    assert counted(Node(1, kept=5, handed_over=3)) == 0


def test_a_cluster_rests_when_they_are_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "REST_POLL_S", 0.0)
    monkeypatch.setattr(rest, "_pending", lambda *_: 0)
    node: Any = Node(1, f"{FIRST}-17-2.hints")
    settled = rest.settle([node], 1, 0.05, lambda _: None)
    assert (settled.quiet, settled.detail) == (False, "1 compactions, flushes and files of hints pending")
    node.files = []
    assert rest.settle([node], 1, 0.05, lambda _: None).quiet


def test_a_node_that_does_not_tell_its_id_is_not_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise OSError("refused")

    monkeypatch.setattr(rest, "_pending", lambda *_: 0)
    monkeypatch.setattr(hints, "ask", refused)
    node: Any = Node(1, f"{FIRST}-17-2.hints")
    assert not rest.settle([node], 1, 0.05, lambda _: None).quiet


def test_a_given_node_tells_them_by_its_table(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[b"UP", (2).to_bytes(4)], [b"DOWN", (7).to_bytes(4)]]
    monkeypatch.setattr(hints, "ask", lambda *_: rows)
    place = CqlPlace("127.10.251.1", 9)
    assert told_by(place) == 2

    def before_4_1(*_: Any) -> None:
        raise CqlRefusedError("unconfigured table pending_hints")

    monkeypatch.setattr(hints, "ask", before_4_1)
    assert told_by(place) == 0
