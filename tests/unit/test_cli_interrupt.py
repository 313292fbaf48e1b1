"""Ctrl-C, SIGTERM and kill -9 of the command, on the fake: what was measured stays, no process does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

import psutil
import pytest
from engine_fixtures import FakeEngine

from steelyard.engine.fleet import Fleet
from steelyard.engine.process import EngineProcess
from steelyard.errors import Interrupted
from steelyard.lab.signals import Interrupts

ROOT = Path(__file__).parents[2]
LIMIT_S = 60


class Bench:
    """A running `steelyard bench null` whose run phase never ends."""

    def __init__(self, out: Path) -> None:
        self.out = out
        script = ROOT / "steelyard.data" / "scripts" / "steelyard"
        words = ["bench", "null", "--duration", "500ms", "--no-report", "--out", str(out)]
        self.process = subprocess.Popen(
            [sys.executable, str(script), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT / "python"), "PYTHONUNBUFFERED": "1"},
        )

    def until(self, wanted: str) -> None:
        """Read progress until a line ends so."""
        stream: IO[str] | None = self.process.stderr
        assert stream is not None
        for line in stream:
            if line.rstrip().endswith(wanted):
                return
        raise AssertionError(f"{wanted!r} was never said")

    def engine(self) -> psutil.Process:
        children = psutil.Process(self.process.pid).children(recursive=True)
        return next(c for c in children if "fake_engine" in " ".join(c.cmdline()))

    def manifest(self) -> dict[str, object]:
        return json.loads((self.out / "trials" / "001" / "manifest.json").read_text())  # type: ignore[no-any-return]


@pytest.fixture
def bench(fake_engine: FakeEngine, tmp_path: Path) -> Iterator[Callable[[str], Bench]]:
    started: list[Bench] = []

    def start(mode: str) -> Bench:
        fake_engine.mode(mode)
        started.append(Bench(tmp_path / "run"))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_stops_in_order(bench: Callable[[str], Bench], number: signal.Signals) -> None:
    one = bench("hang-in-run")
    one.until("  run")
    engine = one.engine()
    one.process.send_signal(number)
    out, err = one.process.communicate(timeout=LIMIT_S)
    assert one.process.returncode == 130
    assert "stopping; what was measured is kept" in err
    assert f"error: interrupted; what was measured is in {one.out}" in err
    assert f"result: {one.out}" in out
    assert one.manifest()["status"] == "interrupted"
    assert [p["reason"] for p in one.manifest()["phases"]] == ["operations", "stop"]  # type: ignore[attr-defined]
    assert not engine.is_running()


def test_the_second_signal_aborts(bench: Callable[[str], Bench]) -> None:
    one = bench("deaf-in-run")
    one.until("  run")
    engine = one.engine()
    one.process.send_signal(signal.SIGINT)
    one.until("(Ctrl-C again: at once)")
    one.process.send_signal(signal.SIGINT)
    one.process.communicate(timeout=LIMIT_S)
    assert one.process.returncode == 130
    assert one.manifest()["status"] == "interrupted"
    assert [p["name"] for p in one.manifest()["phases"]] == ["load"]  # type: ignore[attr-defined]
    assert not engine.is_running()


def test_killed_outright_the_engine_ends_by_itself(bench: Callable[[str], Bench]) -> None:
    one = bench("hang-in-run")
    one.until("  run")
    engine = one.engine()
    one.process.kill()
    one.process.communicate(timeout=LIMIT_S)
    engine.wait(LIMIT_S)
    [partial] = (one.out / "trials").iterdir()
    assert partial.name == "001.partial"


def test_the_second_signal_is_not_lost_where_it_was_swallowed() -> None:
    with Interrupts() as interrupts, interrupts.noting():
        signal.raise_signal(signal.SIGINT)
        interrupts.check_aborted()
        with suppress(Interrupted):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(Interrupted):
            interrupts.check_aborted()


def test_stopping_a_fleet_lets_an_interruption_through(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path, 1, tmp_path, lambda _folder, _index: {})
    fleet.processes.append(cast(EngineProcess, Signalled()))
    with pytest.raises(Interrupted):
        fleet.stop()


class Signalled:
    """An engine whose user presses Ctrl-C while the stop is being written."""

    ended = False

    def post(self, _cmd: str) -> int:
        raise Interrupted("interrupted")
