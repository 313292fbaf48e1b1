"""Proportions of the form that ran, on trials whose truth is known."""

from __future__ import annotations

from typing import Any

import pytest
from made_trials import trials

from steelyard.analysis.evidence import Trials
from steelyard.report.study.ratios import _ours
from steelyard.spec.models import Point
from steelyard.spec.ratios import KeptRatio

TARGETS = [{"target": target} for target in ("250", "500", "max")]


def law(target: str) -> dict[str, float]:
    return {"ok_per_s": 1000.0 if target == "max" else float(target), "total_response_p99_ns": 50e6}


def point(**search: Any) -> Point:
    settings = {
        "system": {"kind": "null"},
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
