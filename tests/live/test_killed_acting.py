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
from left_behind import left_in_the_end

from steelyard.hosts import mounts
from steelyard.hosts.local import LocalHost

SEED = 13
POINTS, USUAL = 20, 2
"""All points, and as many as are tried if nobody asks for more."""
STUDY = """
repetitions = 1
[system]
kind = "{kind}"
version = "{version}"
nodes = 2
profile = "quick"
network = "namespaces"
{disk}
{copies}
[workload]
base = "a"
records = 100
[load]
target = 50
duration_s = 300
[factors]
timeline = ["acts"]
"""
COPIES = {"cassandra": "[system.access.replication]\nfactor = 2", "hbase": "replication = 2"}
DISK_MIB = {"cassandra": 512, "hbase": 4096}
VERSIONS = {"cassandra": ("4.1", "5.0"), "hbase": ("2.4", "2.6")}
"""Before an upgrade, and otherwise."""
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


@dataclass(frozen=True)
class Block:
    """Actions that belong together, on a cluster of a kind; about how long they take on two cores."""

    kind: str
    lasts_s: float
    actions: tuple[str, ...]


CASSANDRA, HBASE = "cassandra", "hbase"
RULE = 'scale metric = "rate_per_s"\nabove = 1\naverage = "1s"\ncool_down = "1s"\nleast = 2\nmost = 3'
BLOCKS = {
    "power": Block(CASSANDRA, 12, ("power-loss " + NODE2,)),
    "regions": Block(HBASE, 25, ("add local = true", "remove")),
    "upgrade": Block(CASSANDRA, 20, ('upgrade version = "5.0"',)),
    "grow": Block(CASSANDRA, 15, ("add", "remove")),
    "told": Block(CASSANDRA, 1, ("run",)),
    "cut": Block(CASSANDRA, 20, ("partition " + NODE2, "heal " + NODE2)),
    "regions-power": Block(HBASE, 20, ("power-loss " + NODE2,)),
    "death": Block(CASSANDRA, 30, ("kill " + NODE2, "restart " + NODE2)),
    "regions-upgrade": Block(HBASE, 40, ('upgrade version = "2.6"',)),
    "still": Block(CASSANDRA, 20, ("freeze " + NODE2, "thaw " + NODE2)),
    "regions-death": Block(HBASE, 25, ("kill " + NODE2, "restart " + NODE2, "balance")),
    "slow": Block(CASSANDRA, 10, ("throttle write_mib = 1", "resize cpu = 0.5", "restart rolling = true")),
    "ruled": Block(CASSANDRA, 20, (RULE,)),
    "files": Block(
        CASSANDRA,
        4,
        ("flush", "compact", "cleanup", "repair", "stream-limit mbit = 10", "compaction-limit mbit = 10"),
    ),
}
"""What is under way when the laboratory is killed, at some time within it; the others of its kind follow."""
ALONE = ("upgrade", "power", "regions-upgrade", "regions-power", "ruled")
"""These follow no other: an upgrade wants an older version, a controller decides alone."""


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
    able = [name for name in BLOCKS if not (mounts.why_not() and name.endswith("power"))]
    names = able * POINTS
    return [Point(name, draw.uniform(0.0, BLOCKS[name].lasts_s)) for name in names[:POINTS]]


def wanted() -> list[Point]:
    """As many as are asked for."""
    return points()[: int(os.environ.get("STEELYARD_KILL_POINTS", USUAL))]


def study(point: Point, out: Path) -> str:
    """A study whose timeline begins with the point's block; the others of its kind follow.

    Nodes have disks of their own where loop devices are.
    """
    kind = BLOCKS[point.first].kind
    follow = [name for name, one in BLOCKS.items() if one.kind == kind and name not in (point.first, *ALONE)]
    order = [point.first, *(follow if point.first != "ruled" else ())]
    old, new = VERSIONS[kind]
    text = STUDY.format(
        kind=kind,
        version=old if point.first.endswith("upgrade") else new,
        disk=f"disk_mib = {DISK_MIB[kind]}" if not mounts.why_not() else "",
        copies=COPIES[kind],
    )
    before = ""
    for number, words in enumerate(words for name in order for words in BLOCKS[name].actions):
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
    assert left_in_the_end(name, out, state_folder) == {}
