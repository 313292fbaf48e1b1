"""Certificates of calibration: kept, found again on the same host, and cited where they fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steelyard.analysis.summary import phase_from_summary
from steelyard.analysis.warnings import Context
from steelyard.analysis.warnings.calibration import calibrated
from steelyard.report.assessment import certificate as cited
from steelyard.results.certificates import newest, save

HOST = {"hostname": "h", "machine": "x86_64", "cpu_model": "c", "cores": 2, "kernel": "6.1"}


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_STATE", str(tmp_path))


def certificate(day: int, **changes: Any) -> dict[str, Any]:
    error = {"reported": 5100.0, "truth": 5000.0, "model": 5000.0, "error_us": 100.0, "within": True}
    cells = [
        {"within": True, "completed_per_s": 10_000.0, "errors": {"p99.9": error}},
        {"within": False, "completed_per_s": 20_000.0, "errors": {"p99.9": {**error, "truth": 1.0}}},
    ]
    return {
        "format": 1,
        "created": f"2026-01-{day:02}T10:00:00.000+00:00",
        "status": "done",
        "driver": "cql",
        "engine": {"source_hash": "a"},
        "host": HOST,
        "allowed": {"relative": 0.03, "absolute_us": 100.0},
        "rates": {"highest_rate_per_s": 40_000.0},
        "cells": cells,
        **changes,
    }


def test_the_newest_of_this_host_and_driver_is_found() -> None:
    save(certificate(1))
    save(certificate(2))
    save(certificate(3, driver="hbase"))
    save(certificate(4, status="interrupted"))
    save(certificate(5, host={**HOST, "kernel": "6.2"}))
    found = newest(HOST, "cql")
    assert found is not None
    assert found.created.startswith("2026-01-02")
    assert (found.rate_per_s, found.highest_rate_per_s, found.longest_us) == (10_000, 40_000, 5000)
    assert (found.right, found.cells, found.allowed) == (1, 2, "3 % + 100 us")


def test_a_host_that_says_nothing_of_itself_has_no_certificate() -> None:
    save(certificate(1, host={}))
    assert newest({}, "cql") is None
    assert newest(HOST, "cql") is None


def test_of_load_hosts_the_only_one_is_asked() -> None:
    save(certificate(1))

    def found(*facts: dict[str, Any]) -> bool:
        hosts = [{"role": "load", "facts": said} for said in facts]
        manifest = {"host": HOST, "hosts": hosts, "plan": {"driver": {"kind": "cql"}}}
        return cited(manifest) is not None

    other = {**HOST, "hostname": "other"}
    assert (found(), found(HOST), found(other), found(HOST, HOST)) == (True, True, False, False)


def test_a_damaged_certificate_is_passed_over(tmp_path: Path) -> None:
    save(certificate(1))
    (tmp_path / "calibration" / "20260102T100000-cql.json").write_text("{")
    found = newest(HOST, "cql")
    assert found is not None
    assert found.created.startswith("2026-01-01")


def warned(rate: float, p999_ns: float) -> tuple[str, str]:
    save(certificate(1))
    times = {"count": 10, "p999_ns": p999_ns}
    facts = {
        "phase": "run",
        "seconds": 10.0,
        "operations": round(rate * 10),
        "ok": round(rate * 10),
        "ops": {"TOTAL": {"count": 10, "response": times}},
    }
    found = calibrated(Context(phase_from_summary(facts, {}), calibration=newest(HOST, "cql")))
    assert found is not None
    return found.kind, found.text


def test_a_result_inside_cites_the_certificate() -> None:
    kind, text = warned(9_000, 4e6)
    assert kind == "calibrated"
    assert "2026-01-01" in text
    assert "1 of 2" in text


@pytest.mark.parametrize(
    ("rate", "p999_ns", "words"), [(50_000, 1e6, "50,000 operations/s"), (1000, 9e6, "p99.9 of 9 ms")]
)
def test_a_result_outside_is_warned_of(rate: float, p999_ns: float, words: str) -> None:
    kind, text = warned(rate, p999_ns)
    assert kind == "outside_calibration"
    assert words in text


def test_without_a_certificate_nothing_is_said() -> None:
    empty = phase_from_summary({}, {})
    assert calibrated(Context(empty)) is None
