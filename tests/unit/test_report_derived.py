"""What is derived from a sealed trial is kept beside it, and trusted only when whole and of this version."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from made import maker

from steelyard.report import derived, write_report
from steelyard.report.model import build

samples = maker("make_results")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(
        samples.make(tmp_path, samples.Sample(repetitions=2, seconds=4, load_seconds=1, pause_second=None))
    )


@pytest.fixture
def derivations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The trials that were derived from their files, in order."""
    found: list[str] = []
    real = derived.derive

    def noted(source: derived.TrialSource, *rest: object) -> derived.Derived:
        found.append(source.path.name)
        return real(source, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(derived, "derive", noted)
    return found


def kept(run: Path) -> Path:
    return run / "trials" / "001" / derived.FILE


def test_it_is_derived_once_and_reads_the_same(run: Path, derivations: list[str]) -> None:
    first = write_report(run, "json").read_text()
    assert derivations == ["001", "002"]
    assert kept(run).is_file()
    assert write_report(run, "json").read_text() == first
    assert derivations == ["001", "002"]


def tear(path: Path) -> None:
    path.write_text(path.read_text()[:-100])


def age(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"key": "of an older analysis"}))


def misshape(path: Path) -> None:
    said = json.loads(path.read_text())
    del said["derived"]["phases"]
    path.write_text(json.dumps(said))


def change_the_trial(path: Path) -> None:
    manifest = path.with_name("manifest.json")
    manifest.write_text(manifest.read_text() + "\n")


@pytest.mark.parametrize("spoil", [tear, age, misshape, change_the_trial])
def test_what_is_spoilt_is_not_trusted(
    run: Path, derivations: list[str], spoil: Callable[[Path], None]
) -> None:
    first = write_report(run, "json").read_text()
    spoil(kept(run))
    assert write_report(run, "json").read_text() == first
    assert derivations == ["001", "002", "001"]


def test_another_analysis_derives_anew(
    run: Path, derivations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    build(run)
    monkeypatch.setattr(derived, "sources", lambda: "another hash")
    build(run)
    assert derivations == ["001", "002"] * 2


def test_a_result_that_cannot_be_written_is_reported(
    run: Path, derivations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(Path, "replace", refuse)
    build(run)
    model = build(run)
    assert derivations == ["001", "002"] * 2
    assert model.trials[0].measured is not None
    assert [path.name for path in kept(run).parent.glob("derived*")] == []


def test_a_trial_that_was_cut_short_is_read_anew(tmp_path: Path, derivations: list[str]) -> None:
    made = Path(
        samples.make(tmp_path, samples.Sample(seconds=4, load_seconds=1, pause_second=None, partial=True))
    )
    build(made)
    build(made)
    assert len(derivations) == 2
