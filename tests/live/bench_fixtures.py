"""The command as a fixture. A test file that wants it says `pytest_plugins = ["bench_fixtures"]`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bench_command import Command, left_running


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Callable[[str], Command]]:
    """Start `steelyard WORDS --no-report --out FOLDER`; afterwards nothing of it may run."""
    started: list[Command] = []

    def start(words: str) -> Command:
        started.append(Command(words, tmp_path / f"run{len(started) or ''}"))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.terminate()
            one.end()
    left = [line for one in started for line in left_running(one.out)]
    assert left == []
