"""The tool killed with -9 at 30 points of `run`: the next start leaves nothing of it behind."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from bench_command import Command, ours

from steelyard.hosts import cgroup, namespaces
from steelyard.hosts.local import LocalHost
from steelyard.systems.waiting import wait_until

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
records = 300
[load]
duration_s = 1.5
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
    "standalone": ("HBase serves", "load", "run", "stopping"),
}  # fmt: skip
SHARES = {"cassandra": 17, "hbase": 8, "standalone": 5}


def points() -> list[Point]:
    """Each event once, then some at random, each with a delay of its own."""
    draw = random.Random(SEED)  # noqa: S311 - the same points in every run
    found = []
    for system, events in EVENTS.items():
        chosen = [*events, *(draw.choice(events) for _ in range(SHARES[system] - len(events)))]
        for event in chosen:
            network = draw.choice(("loopback", "namespaces"))
            spread = 0.3 if event == "stopping" else 1.0
            found.append(Point(system, event, draw.uniform(0.0, spread), network))
    assert len(found) == POINTS
    return found


def reached(point: Point, command: Command, root: Path) -> Callable[[], bool]:
    """Whether the event has come, or the tool has ended before."""

    def there() -> bool:
        if command.process.poll() is not None:
            return True
        if "*" in point.event:
            return any(root.glob(f"*/{point.event}"))
        said = [line.strip().partition(" s  ")[2] for line in command.lines.copy()]
        wanted = point.event
        return any(
            line == wanted or (line.startswith(wanted) and wanted not in {"load", "run"}) for line in said
        )

    return there


def left_of(name: str, out: Path, state: Path) -> dict[str, list[str]]:
    """What there is of a cluster: its processes, groups, namespaces, mounts and folders."""
    spaces = namespaces.FOLDER.glob(f"sy-{name}-*") if namespaces.FOLDER.exists() else ()
    found = {
        "processes": ours(out),
        "groups": [*map(str, cgroup.MOUNT.glob(f"*/steelyard/{name}*"))],
        "namespaces": [*map(str, spaces)],
        "mounts": [line for line in Path("/proc/mounts").read_text().splitlines() if str(out) in line],
        "folders": [*map(str, out.glob("**/work")), *map(str, (state / "clusters").glob("*"))],
    }
    return {what: some for what, some in found.items() if some}


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
    assert command.lines, "the tool never began"
    said = LocalHost().end_leftovers()  # as the next start does first
    assert len(said) <= 1
    assert all(line.startswith(f"ended {name}, ") for line in said), said
    wait_until(
        lambda: not left_of(name, out, state_folder), [], 5.0, f"left: {left_of(name, out, state_folder)}"
    )
