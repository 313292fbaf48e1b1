"""A whole calibration, made short: the certificate it leaves, what a person reads, what a Ctrl-C keeps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from steelyard.calibrate import cells as tries
from steelyard.calibrate import conduct, limit
from steelyard.calibrate.cells import OPEN_CAP, CalibrationCell
from steelyard.calibrate.conduct import Calibration
from steelyard.calibrate.fakes import Fakes
from steelyard.calibrate.judge import Verdict
from steelyard.calibrate.laws import Constant, PeriodicStall
from steelyard.calibrate.text import show
from steelyard.engine.path import Engine, engine_path
from steelyard.errors import EngineError
from steelyard.lab.signals import Interrupts
from steelyard.results.certificates import newest, save

SHORT = CalibrationCell(Constant(2000), "open Poisson", 200, OPEN_CAP, 200)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def cells(*, quick: bool) -> Iterator[CalibrationCell]:  # noqa: ARG001
        yield SHORT
        yield CalibrationCell(Constant(2000), "closed", 100, 4)

    def one(*, quick: bool) -> Iterator[CalibrationCell]:  # noqa: ARG001
        yield SHORT

    monkeypatch.setattr(tries, "cells", cells)
    monkeypatch.setattr(tries, "coarse_cells", one)
    monkeypatch.setattr(tries, "busy_cells", one)
    monkeypatch.setattr(limit, "rising", one)
    # the engine under test may be built from other sources than those of the checkout the tests stand in
    monkeypatch.setattr(conduct, "find_engine", lambda: Engine(engine_path(), "test", "test"))
    monkeypatch.setenv("STEELYARD_STATE", str(tmp_path / "state"))


def calibration(driver: str, told: list[str], interrupts: Interrupts | None = None) -> Calibration:
    def hear(part: str, verdict: Verdict) -> None:
        told.append(f"{part}: {verdict.cell}")
        if interrupts is not None:
            interrupts._handle(2, None)

    return Calibration(driver, quick=True, begin=lambda _: None, seen=lambda _: None, told=hear)


@pytest.mark.parametrize("driver", ["cql", "hbase", "null"])
def test_a_certificate_is_made_kept_and_found_again(driver: str) -> None:
    told: list[str] = []
    made = calibration(driver, told)
    with Interrupts() as interrupts:
        made.conduct(interrupts)
    certificate = json.loads(json.dumps(made.certificate()))
    assert certificate["status"] == "done"
    parts = [cell.split(":")[0] for cell in told]
    assert parts == ["rates", "cells", "cells"] + ([] if driver == "null" else ["coarse", "busy"])
    first, closed = certificate["cells"]
    assert (first["sent"], first["completed"], closed["completed"]) == (200, 200, 100)
    assert set(first["errors"]) == (set() if driver == "null" else {"p50", "p90", "p99", "p99.9"})
    assert first["late_us"]["p50"] >= 0
    assert closed["late_us"] == {}
    assert len(certificate["coarse_pacing"]) == len(certificate["busy_server"]) == len(parts) // 5
    path = save(certificate)
    found = newest(certificate["host"], driver)
    assert found is not None
    assert found.path == path
    out = StringIO()
    show(certificate, Console(file=out, width=200))
    text = out.getvalue()
    assert f"Calibration of the {driver} driver" in text
    assert "constant, open Poisson, 200/s" in text
    assert ("answers merged" in text) == (driver != "null")


def test_a_stop_keeps_what_there_is() -> None:
    told: list[str] = []
    with Interrupts() as interrupts:
        made = calibration("cql", told, interrupts)
        made.conduct(interrupts)
    certificate = made.certificate()
    assert certificate["status"] == "interrupted"
    assert len(told) == 1
    assert len(certificate["rates"]["tried"]) == 1
    save(certificate)
    assert newest(certificate["host"], "cql") is None


def test_a_law_that_cannot_be_is_refused_in_words(fakes: Fakes) -> None:
    with pytest.raises(EngineError, match="stand still again"):
        fakes.case(PeriodicStall(1e6, every_ms=10, stall_ms=5), seed=1, epoch_ns=0)
