"""When a system is at rest: nothing pending, several times in a row; one that is silent is not at rest."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.systems import waiting
from steelyard.systems.cassandra import rest
from steelyard.systems.cassandra.hints import Hints
from steelyard.systems.cassandra.login import CqlPlace


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "REST_POLL_S", 0.0)


def test_so_many_quiet_readings_in_a_row_count() -> None:
    told: list[str] = []
    left = [2, 0, 0, 1, 0, 0, 0, 9]
    settled = waiting.wait_rest(lambda: left.pop(0), 10.0, told.append, "counted")
    assert (settled.quiet, settled.how, left) == (True, "counted", [9])
    assert told[0].startswith("at rest after ")


def test_what_is_pending_at_the_limit_is_said() -> None:
    settled = waiting.wait_rest(lambda: 3, 0.01, lambda _: None)
    assert (settled.quiet, settled.detail) == (False, "3 compactions and flushes pending")


def test_a_long_wait_says_what_it_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "SAY_S", 0.0)
    told: list[str] = []
    left = [2, 1, 0, 0, 0]
    waiting.wait_rest(lambda: left.pop(0), 10.0, told.append, what="hints")
    assert told[:2] == ["not at rest yet: 2 hints pending", "not at rest yet: 1 hints pending"]
    assert told[2].startswith("at rest after ")
    assert len(told) == 3


def test_a_node_that_is_silent_is_not_at_rest(tmp_path: Path) -> None:
    nobody: Any = SimpleNamespace(
        alive=True, place=CqlPlace("127.10.251.1", 9), spec=SimpleNamespace(folder=tmp_path)
    )
    assert not rest.settle([nobody], Hints(), None, 0.05, lambda _: None).quiet
