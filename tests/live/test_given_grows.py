"""Clusters of ours as given ones that others change: who comes and goes is told, and watched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from bench_command import Command

from steelyard import open as opened
from steelyard.report import write_report
from steelyard.results.actions import Actions, read_actions
from steelyard.systems.capabilities import AddOptions
from steelyard.systems.waiting import wait_until

pytestmark = pytest.mark.beside
pytest_plugins = ["bench_fixtures"]
Start = Callable[[str], Command]
WAIT_S = 150.0
LIMIT_S = 120
"""So long a node may take to come or to leave: beside another test's cluster a join took 61 s."""
LASTS_S = 240
STAYS_S = 12
"""So long the node is there at least: of a given cluster one is sampled once in five seconds."""
LOAD = "-w a --records 2000 --target 100 --fresh --after-timeline 5s"


def nothing(*_: str) -> None:
    """What the testbed notes for itself is no concern of this: the cluster is somebody else's."""


def changed(one: Command, testbed: Any, folder: Path) -> Actions:
    """What was told of a run whose commands had node3 join and leave, as an operator would."""
    for asked, change in (
        ("out", lambda: testbed.add(["node3"], AddOptions(), nothing, print)),
        ("in", lambda: testbed.remove(["node3"], nothing, print)),
    ):
        wait_until((folder / asked).exists, [], WAIT_S, f"nobody asked for {asked}")
        change()
    assert one.end() == 0, one.stderr
    return read_actions(one.trial().path)


def timeline(folder: Path, joined: str) -> str:
    return (
        f"--do '5s run id=out done={joined} limit={LIMIT_S}s -- touch {folder / 'out'}' "
        f"--do 'after:out run id=in wait={STAYS_S}s done=left limit={LIMIT_S}s -- touch {folder / 'in'}'"
    )


def grown(start: Start, testbed: Any, folder: Path, where: str, joined: str) -> tuple[Command, Actions]:
    """A run on the cluster while node3 comes and goes, and what was told of it.

    Args:
        start: the command.
        testbed: two nodes and one in reserve.
        folder: where the timeline's commands say what they want.
        where: the words of `bench` that lead to the cluster.
        joined: what is waited for.
    """
    one = start(f"bench {where} {LOAD} {timeline(folder, joined)}")
    return one, changed(one, testbed, folder)


def check(one: Command, actions: Actions, testbed: Any, steps: Sequence[str], own: str) -> None:
    """The steps were told, and a metric that the node tells of itself; the page shows it."""
    [spare] = testbed.spare_facts()
    address = spare["address"]
    assert [(a.id, a.how) for a in actions.each()] == [("out", "done"), ("in", "done")]
    told = [(m.id, m.what) for m in actions.milestones if m.node == address]
    assert told == [*(("out", step) for step in steps), ("in", "left")]
    trial = one.trial()
    assert [node["address"] for node in trial.manifest["system"]["spares"]] == [address]
    system = pl.read_parquet(trial.path / "system.parquet")
    assert system.filter(source=address, metric=own).height > 0
    page = write_report(one.out, "md", one.out.parent / "report.md", charts=False).read_text()
    assert f"| {address} | {steps[-1]} |" in page
    row = opened(one.out).analysed().row(0, named=True)
    assert 0 < row["join_s"] < row["scaling_s"]


def test_cassandra_that_grows_and_shrinks(cluster: Any, command: Start, tmp_path: Path) -> None:
    two = cluster("grows", nodes=2, spare=1)
    two.up(print)
    [words] = two.bench_words()
    where = f"{words} --keyspace seen --rf 1 --duration {LASTS_S}s"
    one, actions = grown(command, two, tmp_path, where, "joined")
    check(one, actions, two, ("normal", "joined"), "server_native_pending")


def test_hbase_that_grows_and_shrinks(hbase_cluster: Any, command: Start, tmp_path: Path) -> None:
    two = hbase_cluster("hgrows", nodes=2, spare=1)
    two.up(print)
    where = f"{two.bench_words()[0]} --table seen --duration {LASTS_S}s"
    one, actions = grown(command, two, tmp_path, where, "assigned")
    check(one, actions, two, ("registered", "assigned"), "server_regions")
