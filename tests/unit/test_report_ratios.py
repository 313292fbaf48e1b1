"""Proportions of the form that ran, on trials whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from made_trials import trials

from steelyard.analysis.evidence import Trials
from steelyard.report.study.ratios import ADDED, _ours, _with_added
from steelyard.spec.models import Point
from steelyard.spec.ratios import KeptRatio
from steelyard.spec.trials import data_to_memory

TARGETS = [{"target": target} for target in ("250", "500", "max")]


def law(target: str) -> dict[str, float]:
    return {"ok_per_s": 1000.0 if target == "max" else float(target), "total_response_p99_ns": 50e6}


def point(system: Mapping[str, Any] | None = None, timeline: Any = (), **search: Any) -> Point:
    settings = {
        "system": system or {"kind": "null"},
        "timeline": timeline,
        "workload": {"records": 1, "mix": {"read": 1.0}},
        "load": {"duration_s": 1, **({"search": search} if search else {})},
    }
    return Point.model_validate(settings)


@pytest.mark.parametrize(
    ("of", "search", "told"),
    [
        ("rate to capacity", {}, "0.250 to 0.500"),
        ("bound to p99 at half load", {"bound_ms": 250}, "5.00"),
        ("bound to p99 at half load", {}, "no bound"),
        ("data to memory", {}, "nodes without a limit of memory"),
    ],
)
def test_ours_come_from_settings_and_what_was_measured(of: Any, search: dict[str, Any], told: str) -> None:
    frame = trials(law, TARGETS, scatter=0.0)
    assert _ours(KeptRatio(of=of), [point(**search)], Trials(frame, ("target",))) == told


@pytest.mark.parametrize("system", [{"kind": "cassandra"}, {"kind": "hbase", "replication": 1}])
def test_memory_is_that_of_nodes_that_hold_data(system: dict[str, Any]) -> None:
    """Masters of HBase that have a node of their own hold none."""
    limited = {**system, "nodes": 2, "limits": {"memory_mib": 1024}}
    [one], [two] = data_to_memory([point(limited)]), data_to_memory([point({**limited, "nodes": 4})])
    assert one == 2 * two > 0


ADDS = {"id": "join", "at": "1s", "do": "add", "nodes": 2}
LEAVES = {"id": "go", "at": "2s", "do": "remove"}
THREE = {"kind": "cassandra", "nodes": 3}
BEYOND = {"kind": "hbase", "nodes": 4, "roles": "dedicated"}


@pytest.mark.parametrize(
    ("system", "timeline", "told"),
    [
        (THREE, [ADDS], "0.667"),
        (THREE, [{**ADDS, "nodes": 1}, LEAVES, {**ADDS, "id": "more"}], "1.00"),
        (BEYOND, [ADDS], "0.500"),
        (THREE, [LEAVES], "no node is added"),
        (THREE, [], "no node is added"),
    ],
)
def test_nodes_that_join_stand_over_those_that_hold_data(
    system: dict[str, Any], timeline: list[dict[str, Any]], told: str
) -> None:
    """Masters of their own hold none, and nothing is added in the control."""
    points = [point(system), point(system, timeline)]
    assert _ours(KeptRatio(of=ADDED), points, Trials(trials(law, TARGETS), ("target",))) == told


def test_nodes_that_join_are_told_without_being_asked_for() -> None:
    joins, still = [point(THREE, [ADDS])], [point(THREE)]
    asked = [KeptRatio(of="data to memory")]
    assert [one.of for one in _with_added(asked, joins)] == ["data to memory", ADDED]
    assert _with_added(asked, still) == asked
    assert _with_added([KeptRatio(of=ADDED, paper=0.33)], joins)[0].paper is not None
    assert len(_with_added([KeptRatio(of=ADDED, paper=0.33)], joins)) == 1
