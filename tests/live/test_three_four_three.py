"""Three nodes become four and three again under load, by one command, and what is lost and seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from bench_command import Command, summary

from steelyard.analysis.windows.milestones import JOINED
from steelyard.results.actions import ActionTimes

pytestmark = pytest.mark.beside
pytest_plugins = ["bench_fixtures"]
Start = Callable[[str], Command]
WITHIN_S, TICK_S = 600, 5.0
LIMIT_S = 500.0
"""Of the whole command: less than pytest's, so that what it said is shown."""
QUORUM = """
[system.access]
read_consistency = "QUORUM"
write_consistency = "QUORUM"
[system.access.replication]
factor = 3
"""
STUDY = """
repetitions = 1
[system]
kind = "KIND"
nodes = 3
profile = "quick"
OWN
[workload]
base = "b"
records = 2000
verify = "full"
[load]
target = 150
duration_s = 300
after_timeline_s = 5
audit = true
timeline = "four"
[[timelines.four]]
id = "join"
at = "3s"
do = "add"
[[timelines.four]]
id = "leave"
after = "join"
do = "remove"
"""


@pytest.mark.parametrize(("kind", "own"), [("cassandra", QUORUM), ("hbase", "")])
def test_a_node_comes_and_goes_and_nothing_is_lost_or_unseen(
    command: Start, tmp_path: Path, kind: str, own: str
) -> None:
    path = tmp_path / "four.toml"
    path.write_text(STUDY.replace("KIND", kind).replace("OWN", own))
    one = command(f"run {path}")
    assert one.end(LIMIT_S) == 0, one.stderr
    trial = one.trial()
    join, leave = trial.actions().each()
    assert [(a.id, a.how, a.nodes) for a in (join, leave)] == [
        ("join", "done", ("node4",)),
        ("leave", "done", ("node4",)),
    ]
    assert all(_seconds(action) < WITHIN_S for action in (join, leave))
    run, found = summary(trial, "run"), summary(trial, "audit")["audit"]
    assert [run["verify"][fault] for fault in ("corrupt", "foreign", "stale", "lost")] == [0, 0, 0, 0]
    assert found["records"] >= 2000
    assert [found[fault] for fault in ("unread", "lost", "fields_lost", "stale")] == [0, 0, 0, 0]
    run_s = run["seconds"]
    assert 5 <= run_s < 300
    rows = trial.intervals().filter((pl.col("phase") == "run") & (pl.col("op") == "TOTAL"))
    assert {*range(int(run_s))} <= {*rows["second"]}
    _seen_throughout(trial.system(), join, leave)


def _seconds(action: ActionTimes) -> float:
    assert action.requested_ns is not None
    assert action.ended_ns is not None
    return (action.ended_ns - action.requested_ns) / 1e9


def _seen_throughout(system: pl.DataFrame, join: ActionTimes, leave: ActionTimes) -> None:
    """From the request to the removal the machine is sampled without a gap, each node whenever it is, and the
    new one from before it serves until it has left."""
    begun = join.requested_ns or 0
    serves = next(m.t_ns for m in join.milestones if m.what in JOINED)
    left = next(m.t_ns for m in leave.milestones if m.what == "left")
    ticks = _samples(system, "machine", begun, left)
    gaps = [(b - a) / 1e9 for a, b in zip([begun, *ticks], [*ticks, left], strict=True)]
    assert max(gaps) < TICK_S
    for node in ("node1", "node2", "node3"):
        assert _samples(system, node, begun, left) == ticks
    new = _samples(system, "node4", begun, left)
    assert new[0] < serves
    assert new == [tick for tick in ticks if tick >= new[0]]


def _samples(system: pl.DataFrame, source: str, first_ns: int, last_ns: int) -> list[int]:
    """When it was sampled."""
    rows = system.filter((pl.col("source") == source) & (pl.col("metric") == "cpu_seconds_total"))
    return [t for t in sorted(rows["t_ns"]) if first_ns <= t < last_ns]
