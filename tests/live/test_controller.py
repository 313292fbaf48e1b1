"""A controller has real nodes join and leave as the load rises and falls."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bench_command import Command, summary

pytest_plugins = ["bench_fixtures"]
pytestmark = pytest.mark.beside
Start = Callable[[str], Command]

RULE = (
    "0s scale id=rule metric=rate_per_s above=150 below=50 average=2s cool_down=1s least=1 most=2 limit=80s"
)
RISES, FALLS, ENDS = 0, 60, 110
"""Seconds of the run: a node of 1 core has joined within 25, and has left within 20."""


def test_nodes_follow_the_load(command: Start) -> None:
    one = command(
        "bench cassandra --profile quick --nodes 1 -w b --records 1000 --verify full --audit --in-flight 64 "
        f"--curve {RISES}s=200,{FALLS}s=200,{FALLS}s=20,{ENDS}s=20 --do '{RULE}'"
    )
    assert one.end() == 0, one.stderr
    trial = one.trial()
    grown, shrunk = trial.actions().each()
    assert [(a.do, a.how, a.by) for a in (grown, shrunk)] == [
        ("add", "done", "rule"),
        ("remove", "done", "rule"),
    ]
    assert (grown.id, grown.nodes, shrunk.id, shrunk.nodes) == ("rule-1", ("node2",), "rule-2", ("node2",))
    began_ns = next(phase["start_ns"] for phase in trial.manifest["phases"] if phase["name"] == "run")
    assert shrunk.requested_ns is not None
    assert shrunk.requested_ns > began_ns + FALLS * 10**9
    found = summary(trial, "audit")["audit"]
    assert [found[fault] for fault in ("unread", "lost", "fields_lost", "stale")] == [0, 0, 0, 0]
