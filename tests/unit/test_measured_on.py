"""On what machines trials were measured."""

from __future__ import annotations

from typing import Any

from steelyard.report.measured_on import measured_on

OLD = {"cpu_model": "EPYC (model 1)", "cores": 2, "memory_bytes": 8 << 30, "kernel": "6.1"}
NEW = {**OLD, "cpu_model": "EPYC (model 17)"}


def of(lab: dict[str, Any], **others: dict[str, Any]) -> dict[str, Any]:
    return {"host": lab, "hosts": [{"role": role, "facts": facts} for role, facts in others.items()]}


def test_one_machine() -> None:
    assert measured_on([of(OLD), of(OLD)]) == "Measured on EPYC (model 1), 2 cores, 8.00 GiB, Linux 6.1."


def test_a_run_that_went_on_elsewhere_says_so() -> None:
    said = measured_on([of(OLD), of(NEW), of(OLD)])
    assert "EPYC (model 1), 2 cores, 8.00 GiB, Linux 6.1 (2 trials); EPYC (model 17)" in said


def test_a_laboratory_that_only_looks_on_is_not_named() -> None:
    assert "model 1)" not in measured_on([of(OLD, load=NEW, server=NEW)])
    assert "model 1), 2 cores, 8.00 GiB, Linux 6.1 and EPYC (model 17)" in measured_on([of(OLD, load=NEW)])


def test_what_is_not_known_is_not_said() -> None:
    assert measured_on([]) == measured_on([{}, of({})]) == ""
    assert measured_on([of({"cpu_model": "\x1b[2J"})]) == "Measured on \N{REPLACEMENT CHARACTER}[2J."
