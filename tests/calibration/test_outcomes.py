"""Errors, overload answers, silence, closed connections and black holes: the right outcome, timed right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from steelyard.calibrate.cells import OPEN_CAP, CalibrationCell
from steelyard.calibrate.drive import Lab, Observed, run
from steelyard.calibrate.laws import Constant
from steelyard.calibrate.truth import ANSWERED, DROPPED, ERROR, LOST, OVERLOADED, SILENT, Stamps

OPERATIONS, RATE, TIMEOUT_MS = 1000, 500, 700
LONG_MS = 5000
"""A timeout that no server reaches which answers at all, however busy its machine is."""
LATENCY_US = 20_000


def tried(lab: Lab, folder: Path, **changes: Any) -> tuple[Observed, Stamps]:
    settings = {"timeout_ms": TIMEOUT_MS, **changes}
    cell = CalibrationCell(Constant(LATENCY_US), "open constant", OPERATIONS, OPEN_CAP, RATE, **settings)
    observed = run(lab, cell, folder)
    assert observed.stamps is not None
    assert observed.summary["operations"] == OPERATIONS
    return observed, observed.stamps


def failed(observed: Observed) -> dict[str, int]:
    return {kind: n for kind, n in observed.summary["failed"].items() if n}


def distribution(observed: Observed, name: str) -> dict[str, Any]:
    return dict(observed.summary["ops"]["READ"][name])


def test_error_and_overload_answers_are_told_apart(lab: Lab, tmp_path: Path) -> None:
    observed, stamps = tried(
        lab, tmp_path / "run", faults={"error": 0.1, "overloaded": 0.05}, timeout_ms=LONG_MS
    )
    assert stamps.count(ERROR) > 50
    assert stamps.count(OVERLOADED) > 20
    assert failed(observed) == {"server": stamps.count(ERROR), "overloaded": stamps.count(OVERLOADED)}
    # the histogram of successes holds the answers alone, that of all attempts a failure as its timeout
    assert distribution(observed, "response")["count"] == stamps.count(ANSWERED)
    everything = distribution(observed, "all")
    assert everything["count"] == OPERATIONS
    assert everything["p90_ns"] >= LONG_MS * 1e6 * 0.999


def test_silence_is_a_timeout_that_counts_as_at_least_the_deadline(lab: Lab, tmp_path: Path) -> None:
    observed, stamps = tried(lab, tmp_path / "run", faults={"silent": 0.05})
    assert stamps.count(SILENT) > 20
    late = failed(observed).get("timeout", 0)
    # an answer may come too late on a machine that is busy for seconds: never the other way round
    assert late >= stamps.count(SILENT)
    assert distribution(observed, "response")["count"] == OPERATIONS - late
    everything = distribution(observed, "all")
    assert everything["p99_ns"] >= TIMEOUT_MS * 1e6 * 0.999
    assert everything["p50_ns"] < TIMEOUT_MS * 1e6


def test_a_closed_connection_fails_what_was_on_it_and_nothing_else(lab: Lab, tmp_path: Path) -> None:
    observed, stamps = tried(lab, tmp_path / "run", faults={"dropped": 0.004}, timeout_ms=LONG_MS)
    assert stamps.count(DROPPED) > 0
    lost = failed(observed)
    assert set(lost) <= {"connection"}
    assert lost["connection"] >= stamps.count(DROPPED) + stamps.count(LOST)
    ok = distribution(observed, "response")["count"]
    assert ok + lost["connection"] == OPERATIONS
    assert ok <= stamps.count(ANSWERED)
    assert ok > OPERATIONS / 4


def test_a_black_hole_fails_those_that_fall_into_it(lab: Lab, tmp_path: Path) -> None:
    """From 0.5 s to 1.1 s of 2 nothing is answered: of 300 operations those that the fake reads in that time,
    which a busy machine may hold up. It is shorter than a timeout, after which a connection is given up."""
    observed, stamps = tried(lab, tmp_path / "run", faults={"black_hole": {"at_ms": 500, "for_ms": 600}})
    assert stamps.count(SILENT) >= 200
    lost = failed(observed)
    assert sum(lost.values()) >= stamps.count(SILENT)
    assert lost["timeout"] >= 200
    assert distribution(observed, "response")["count"] == OPERATIONS - sum(lost.values()) > 0
    everything = distribution(observed, "all")
    assert everything["count"] == OPERATIONS
    assert everything["p90_ns"] >= TIMEOUT_MS * 1e6 * 0.999


def test_a_retry_never_restarts_the_clock(lab: Lab, tmp_path: Path) -> None:
    """A tenth fails at first: those operations take both attempts, counted from their due time."""
    faults = {"overloaded": 0.1, "first_only": True}
    observed, stamps = tried(lab, tmp_path / "run", faults=faults, retry="until-deadline", timeout_ms=LONG_MS)
    assert failed(observed) == {}
    again = stamps.count(OVERLOADED)
    assert again > 50
    assert observed.summary["attempts"] == {"1": OPERATIONS - again, "2": again}
    assert len(stamps.number) == OPERATIONS + again
    response = distribution(observed, "response")
    assert response["p50_ns"] >= LATENCY_US * 1e3 * 0.999
    assert response["p99_ns"] >= 2 * LATENCY_US * 1e3 * 0.999


def test_what_was_unanswered_at_a_deadline_is_not_forgotten(lab: Lab, tmp_path: Path) -> None:
    """Nothing at all is answered: every operation is a timeout, and no percentile of successes is made up."""
    observed, stamps = tried(lab, tmp_path / "run", faults={"silent": 1.0})
    assert np.all(stamps.fate == SILENT)
    assert sum(failed(observed).values()) == OPERATIONS
    assert (observed.summary["ops"]["READ"].get("response") or {}).get("count", 0) == 0
    assert distribution(observed, "all")["min_ns"] >= TIMEOUT_MS * 1e6 * 0.999
