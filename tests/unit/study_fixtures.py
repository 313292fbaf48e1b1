"""A small study on the fake engine, and what its run folder says afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from engine_fixtures import FakeEngine, Heard

from steelyard.hosts.say import Say
from steelyard.lab.study import Outcome, conduct
from steelyard.results.disturbance import Disturbance
from steelyard.spec.models import Study
from steelyard.spec.read import read_study
from steelyard.systems.null import NullTestbed
from steelyard.watch.target import WatchTarget

TEXT = """
repetitions = 2
workload = "c"
[systems.one]
kind = "null"
[systems.two]
kind = "null"
[load]
duration_s = 0.01
[factors]
clients = [1]
"""


class Bed(NullTestbed):
    """Notes what is done to every testbed; `up` of the n-th can be told to raise."""

    calls: list[str]
    faults: dict[int, Exception]

    def up(self, _say: Say) -> None:
        self.calls.append("up")
        if error := self.faults.pop(self.calls.count("up"), None):
            raise error

    def down(self, _say: Say) -> None:
        self.calls.append("down")

    def driver(self) -> dict[str, Any]:
        return {"kind": "null", "fresh": False}

    def targets(self) -> Sequence[WatchTarget]:
        return []


@pytest.fixture
def bed(monkeypatch: pytest.MonkeyPatch, fake_engine: FakeEngine) -> type[Bed]:
    fake_engine.mode("")
    Bed.calls, Bed.faults = [], {}
    for module in ("study", "bench"):
        monkeypatch.setattr(f"steelyard.lab.{module}.create", lambda *_, **__: Bed())
    return Bed


def study(folder: Path, *overrides: str) -> Study:
    path = folder / "s.toml"
    path.write_text(TEXT)
    return read_study(path, overrides)


def go(folder: Path, asked: Study, **words: Any) -> Outcome:
    return conduct(asked, Heard(), 1, folder / "run", **words)


def said(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "run" / "run.json").read_text())  # type: ignore[no-any-return]


def statuses(folder: Path) -> list[str]:
    return [row["status"] for row in said(folder)["trials"]]


def attempts(folder: Path) -> dict[int, list[dict[str, Any]]]:
    return {row["number"]: row["attempts"] for row in said(folder)["trials"] if row["attempts"]}


def disturbed(*numbers: str, passing: bool = True) -> Callable[[Path], Disturbance | None]:
    """A judge that finds these trials disturbed, each time it looks."""
    return lambda folder: Disturbance("steal: 5 %", passing) if folder.name in numbers else None
