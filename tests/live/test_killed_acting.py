"""The laboratory killed with -9 in the middle of actions: the next command leaves nothing of it behind.

STEELYARD_KILL_POINTS says at how many of the 20 points; left out, at a few.
"""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from bench_command import Command
from left_behind import folders, left_in_the_end

from steelyard.hosts import mounts
from steelyard.hosts.local import LocalHost

SEED = 11
POINTS, USUAL = 20, 2
"""All points, and as many as are tried if nobody asks for more."""
STUDY = """
repetitions = 1
[system]
kind = "cassandra"
version = "{version}"
nodes = 2
profile = "quick"
network = "namespaces"
{disk}
[system.access.replication]
factor = 2
[workload]
base = "a"
records = 100
[load]
target = 50
duration_s = 300
[factors]
timeline = ["acts"]
"""
ACTION = """
[[timelines.acts]]
id = "{do}-{number}"
{begins}
do = "{do}"
{parameters}
"""
COMMAND = """["sh", "-c", "sh -c 'sleep 1234; : {out}'; : {out}"]"""
"""A command of the user's that has started another one."""
NODE2 = 'node = "node2"'
BLOCKS = {
    "power": ("power-loss " + NODE2,),
    "upgrade": ('upgrade version = "5.0"',),
    "grow": ("add", "remove"),
    "told": ("run",),
    "cut": ("partition " + NODE2, "heal " + NODE2),
    "death": ("kill " + NODE2, "restart " + NODE2),
    "still": ("freeze " + NODE2, "thaw " + NODE2),
    "slow": ("throttle write_mib = 1", "resize cpu = 0.5", "restart rolling = true"),
    "files": (
        "flush",
        "compact",
        "cleanup",
        "repair",
        "stream-limit mbit = 10",
        "compaction-limit mbit = 10",
    ),
}
"""Actions that belong together; which are first a point says."""
LENGTHS_S = {
    "power": 12.0, "upgrade": 20.0, "grow": 15.0, "told": 1.0, "cut": 20.0, "death": 30.0, "still": 20.0,
    "slow": 10.0, "files": 4.0,
}  # fmt: skip
"""About how long each takes on two cores: the laboratory is killed at some time within it."""


@dataclass(frozen=True)
class Point:
    """When the laboratory is killed: so many seconds after the first action of a block has been requested."""

    first: str
    delay_s: float

    def __str__(self) -> str:
        return f"{self.first}-{self.delay_s:.2f}s"


def points() -> list[Point]:
    """All of them: every block in turn, each time at another moment; the most to clean up comes first."""
    draw = random.Random(SEED)  # noqa: S311 - the same points in every run
    names = [*BLOCKS] * POINTS
    return [Point(name, draw.uniform(0.0, LENGTHS_S[name])) for name in names[:POINTS]]


def wanted() -> list[Point]:
    """As many as are asked for."""
    return points()[: int(os.environ.get("STEELYARD_KILL_POINTS", USUAL))]


def study(point: Point, out: Path) -> str:
    """A study whose timeline begins with the point's block; the others follow.

    Only where an upgrade comes first is there one, and nodes have disks of their own where loop devices are.
    """
    order = [point.first, *(name for name in BLOCKS if name not in (point.first, "upgrade", "power"))]
    disk = "disk_mib = 512" if not mounts.why_not() else ""
    if not disk:
        order = [name for name in order if name != "power"]
    text = STUDY.format(version="4.1" if point.first == "upgrade" else "5.0", disk=disk)
    before = ""
    for number, words in enumerate(words for name in order for words in BLOCKS[name]):
        do, _, parameters = words.partition(" ")
        begins = f'after = "{before}"' if before else 'at = "0s"'
        if do == "run":
            parameters = f"command = {COMMAND.format(out=out)}\nlimit = '2s'"
        text += ACTION.format(do=do, number=number, begins=begins, parameters=parameters)
        before = f"{do}-{number}"
    return text


@pytest.mark.skipif(os.geteuid() != 0, reason="networks and disks of nodes' own need root")
@pytest.mark.parametrize("point", wanted(), ids=str)
def test_the_next_command_leaves_nothing_of_a_laboratory_killed_while_it_acts(
    point: Point, tmp_path: Path, state_folder: Path
) -> None:
    before = folders(state_folder)
    path, out = tmp_path / "acting.toml", tmp_path / "out"
    path.write_text(study(point, out))
    command = Command(f"run {path}", out)
    name = f"acting-1-{command.process.pid}"
    try:
        command.until(lambda line: "-0: started" in line)
        time.sleep(point.delay_s)  # the point is drawn, not waited for
        assert command.process.poll() is None, command.stderr
    finally:
        command.process.kill()
        command.end()
    said = LocalHost().end_leftovers()  # as the next command does first
    assert [line.partition(",")[0] for line in said] == [f"ended {name}"], said
    assert left_in_the_end(name, out, state_folder, before) == {}
