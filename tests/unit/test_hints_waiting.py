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
from steelyard.systems.cassandra.hints import BORN_S, MEMORY_S, Hints, told_by
from steelyard.systems.cassandra.login import CqlPlace

FIRST, SECOND = UUID(int=1), UUID(int=2)


class Node:
    """A node with files of hints, whose agent tells of them."""

    def __init__(self, number: int, *files: str, **metrics: int) -> None:
        self.name, self.alive = f"node{number}", True
        self.place = CqlPlace(f"127.10.251.{number}", 9)
        self.spec = SimpleNamespace(folder=Path("node"), agent_address=self.place.address, namespace=None)
        self.host = self
        self.files, self.metrics = list(files), metrics

    def list(self, _folder: Path, _pattern: str) -> list[Entry]:
        return [Entry(name, 1) for name in self.files]

    def ask_agent(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {"metrics": {f"server_{name}": value for name, value in self.metrics.items()}}


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The time, and what each node's host id is."""
    clock = SimpleNamespace(s=100.0)
    monkeypatch.setattr(hints, "time", SimpleNamespace(monotonic=lambda: clock.s))
    ids = {"127.10.251.1": FIRST, "127.10.251.2": SECOND}
    monkeypatch.setattr(hints, "ask", lambda place, _: [[ids[place.address].bytes]])
    monkeypatch.setattr(waiting, "REST_POLL_S", 0.0)
    monkeypatch.setattr(rest, "_pending", lambda *_: 0)
    return clock


def counted(*nodes: Any, of: Hints | None = None, port: int | None = 1) -> int:
    one = of or Hints()
    one.watch()
    return one.waiting(nodes, port)


def test_files_for_nodes_that_run_are_counted() -> None:
    first, second = Node(1, f"{SECOND}-17-2.hints", f"{SECOND}-18-2.hints"), Node(2, f"{FIRST}-17-2.hints")
    assert counted(first, second) == 3
    assert counted(first) == 0
    assert counted(Node(1, f"{FIRST}-17-2.corrupt.hints")) == 0


@pytest.mark.parametrize(
    ("metrics", "after_s"),
    [
        ({"hints_total": 5, "hints_replayed_total": 9}, MEMORY_S),
        ({"dropped_total": 7}, BORN_S),
        ({"hints_in_progress": 1}, None),
        ({"mutation_stage_pending": 1}, None),
    ],
)
def test_a_hint_that_has_no_file_yet_is_waited_for(
    now: SimpleNamespace, metrics: dict[str, int], after_s: float | None
) -> None:
    node: Any = Node(1, **metrics)
    other = f"{SECOND}-17-2.hints"
    node.files = [other]  # for a node that is down
    one = Hints()
    one.watch()
    assert one.waiting([node], 1) == 1
    assert one.waiting([node], None) == 0
    now.s += after_s or MEMORY_S
    assert one.waiting([node], 1) == (after_s is None)


def test_hints_before_an_earlier_rest_are_not_waited_for(now: SimpleNamespace) -> None:
    one, node = Hints(), Node(1, hints_total=5, dropped_total=5)
    assert counted(node, of=one) == 1
    now.s += MEMORY_S
    assert one.waiting([node], 1) == 0  # type: ignore[list-item]
    one.rested()
    assert counted(node, of=one) == 0
    node.metrics["hints_total"] = 0  # started anew
    assert counted(node, of=one) == 0
    node.metrics["hints_total"] = 2
    assert counted(node, of=one) == 1


def test_a_cluster_rests_when_they_are_handed_over() -> None:
    node: Any = Node(1, f"{FIRST}-17-2.hints")
    settled = rest.settle([node], Hints(), 1, 0.05, lambda _: None)
    assert (settled.quiet, settled.detail) == (False, "1 compactions, flushes and hints pending")
    node.files = []
    assert rest.settle([node], Hints(), 1, 0.05, lambda _: None).quiet


def test_a_node_that_does_not_tell_its_id_is_not_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise OSError("refused")

    monkeypatch.setattr(hints, "ask", refused)
    node: Any = Node(1, f"{FIRST}-17-2.hints")
    assert not rest.settle([node], Hints(), 1, 0.05, lambda _: None).quiet


def test_a_given_node_tells_them_by_its_table(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[b"UP", (2).to_bytes(4)], [b"DOWN", (7).to_bytes(4)]]
    monkeypatch.setattr(hints, "ask", lambda *_: rows)
    place = CqlPlace("127.10.251.1", 9)
    assert told_by(place) == 2

    fault = CqlRefusedError("unconfigured table pending_hints")

    def refused(*_: Any) -> None:
        raise fault

    monkeypatch.setattr(hints, "ask", refused)
    fault.code = 0x2200
    assert told_by(place) == 0
    fault.code = 0x1001  # overloaded
    with pytest.raises(CqlRefusedError):
        told_by(place)
