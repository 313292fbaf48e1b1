"""The tool killed with -9 at 30 points of `run`: the next start leaves nothing of it behind."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from bench_command import Command
from left_behind import left_in_the_end

from steelyard.hosts.local import LocalHost
from steelyard.systems.waiting import wait_until

pytestmark = pytest.mark.beside
SEED = 14
POINTS = 30
LIMIT_S = 120.0
STUDY = """
repetitions = 1
[system]
kind = "{kind}"
{settings}
profile = "quick"
network = "{network}"
[workload]
base = "a"
records = 100
[load]
duration_s = 0.5
"""
SYSTEMS = {
    "cassandra": ("cassandra", ""),
    "hbase": ("hbase", "nodes = 1"),
    "standalone": ("hbase", "standalone = true"),
}
"""A standalone HBase, up in half the time, is killed at the late points."""


@dataclass(frozen=True)
class Point:
    """When the tool is killed: so many seconds after a file is there, or a line of progress has begun so."""

    system: str
    event: str
    delay_s: float
    network: str

    def __str__(self) -> str:
        return f"{self.system}-{self.event.strip('*/ :')}-{self.delay_s:.2f}s-{self.network}"


EARLY = ("*/conf", "*/logs/*out*")
"""Files below the cluster's folder: up has just begun, or a server was started."""
EVENTS = {
    "cassandra": (
        *EARLY, "node1 answers", "load", "load:", "at rest", "run", "run:", "stopping", "*/logs/system.log",
    ),
    "hbase": (*EARLY, "*/namenode", "*/logs/datanode.out", "HDFS is up", "*/logs/regionserver.out"),
    "standalone": ("HBase serves", "run", "stopping"),
}  # fmt: skip
PHASES = {"load", "run"}
"""Lines of one word."""
SHARES = {"cassandra": 17, "hbase": 10, "standalone": 3}
FIRST = 4
"""What is drawn beside is one of the first events: while servers come up there is most to clean up, and least
to wait for."""


def points() -> list[Point]:
    """Each event once, then some at random, each with a delay of its own."""
    draw = random.Random(SEED)  # noqa: S311 - the same points in every run
    found = []
    for system, events in EVENTS.items():
        chosen = [*events, *(draw.choice(events[:FIRST]) for _ in range(SHARES[system] - len(events)))]
        for event in chosen:
            network = "loopback" if system == "standalone" else draw.choice(("loopback", "namespaces"))
            spread = 0.3 if event in {"run", "stopping"} else 0.7
            found.append(Point(system, event, draw.uniform(0.0, spread), network))
    assert len(found) == POINTS
    return found


def reached(point: Point, command: Command, root: Path) -> Callable[[], bool]:
    """Whether the event has come; the tool must not have ended before."""

    def there() -> bool:
        ended = command.process.poll() is not None
        wanted = point.event
        if "*" in wanted:
            found = any(root.glob(f"*/{wanted}"))
        else:
            said = [line.strip().partition(" s  ")[2] for line in command.lines.copy()]
            found = any(line == wanted if wanted in PHASES else line.startswith(wanted) for line in said)
        assert found or not ended, command.stderr
        return found

    return there


@pytest.mark.parametrize("point", points(), ids=str)
def test_the_next_start_leaves_nothing_of_a_killed_run(
    point: Point, tmp_path: Path, state_folder: Path
) -> None:
    kind, settings = SYSTEMS[point.system]
    study, out = tmp_path / "killed.toml", tmp_path / "out"
    study.write_text(STUDY.format(kind=kind, settings=settings, network=point.network))
    command = Command(f"run {study}", out)
    name = f"killed-1-{command.process.pid}"
    root = out / "trials" / "001.partial" / "work"
    try:
        wait_until(reached(point, command, root), [], LIMIT_S, f"{point} is not reached")
        time.sleep(point.delay_s)  # the point is drawn, not waited for
    finally:
        command.process.kill()
        command.end()
    assert (out / "run.json").exists(), command.stderr
    said = LocalHost().end_leftovers()  # as the next start does first
    assert all(line.startswith("ended ") for line in said), f"no record is damaged: {said}"
    assert len([line for line in said if line.startswith(f"ended {name}, ")]) <= 1, said
    assert left_in_the_end(name, out, state_folder) == {}
