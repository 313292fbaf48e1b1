"""The fake engine as a pytest fixture, and what a trial needs around it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from steelyard.engine.path import PLAN_FORMAT, source_hash
from steelyard.lab.progress import Live
from steelyard.version import checkout

SCRIPT = Path(__file__).with_name("fake_engine.py")


class FakeEngine:
    """How the fake is to behave from its next start on."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self._monkeypatch = monkeypatch
        self.handshake()

    def mode(self, mode: str) -> None:
        self._monkeypatch.setenv("FAKE_ENGINE", mode)

    def handshake(self, **changes: Any) -> None:
        root = checkout()
        said = {
            "version": "fake",
            "plan_format": PLAN_FORMAT,
            "source_hash": source_hash(root) if root else "",
        }
        self._monkeypatch.setenv("FAKE_HANDSHAKE", json.dumps(said | changes))


@pytest.fixture
def fake_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    path = tmp_path / "fake-engine"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} {SCRIPT} "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("STEELYARD_ENGINE", str(path))
    monkeypatch.delenv("FAKE_ENGINE", raising=False)
    return FakeEngine(path, monkeypatch)


class Heard:
    """A progress display that remembers."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.lives: list[Live] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    def trial(self, number: int, total: int, label: str, done: int, left_s: float) -> None:  # noqa: ARG002
        self.lines.append(f"trial {number} of {total}: {label}")

    def begin(self, phase: str) -> None:
        self.lines.append(phase)

    def update(self, live: Live) -> None:
        self.lives.append(live)

    def end(self, line: str) -> None:
        self.lines.append(line)

    def close(self) -> None: ...

    def finish(self) -> None: ...
