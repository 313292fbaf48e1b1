"""`steelyard calibrate`: what is no driver, and what would be written over, is refused before it runs."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from steelyard.cli import app


def test_an_unknown_driver_is_named_with_the_nearest() -> None:
    done = CliRunner().invoke(app, ["calibrate", "--driver", "hbse"])
    assert done.exit_code == 2
    assert "expected one of cql, hbase, null (did you mean 'hbase'?)" in done.output


def test_a_certificate_is_never_written_over(tmp_path: Path) -> None:
    there = tmp_path / "c.json"
    there.touch()
    done = CliRunner().invoke(app, ["calibrate", "--out", str(there)])
    assert done.exit_code == 2
    assert "never written over" in done.output
