"""Figures that may lie below zero: no check may take their ratios, and a bound on one is judged by signs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from made_trials import one
from typer.testing import CliRunner

from steelyard.analysis.stats.signs import sign_p
from steelyard.cli import app
from steelyard.spec.metrics import SIGNED, named

TEXT = """
workload = "a"
system = {{ kind = "null" }}
[load]
operations = 10
[factors]
clients = [1, 2]
[[checks]]
id = "C1"
statement = "What it brings."
metric = "{metric}"
check = {{ {check} }}
{more}
"""
SIDES = "numerator = { where = { clients = 1 } }, denominator = { where = { clients = 2 } }"
KINDS = [
    f'kind = "ratio", {SIDES}, direction = "above"',
    f'kind = "equality", {SIDES}',
    f'kind = "slope", {SIDES}, factor = "clients", direction = "steeper"',
    f'kind = "speedup", {SIDES}, factor = "clients", direction = "above"',
    'kind = "trend", factor = "clients", direction = "up"',
    'kind = "order", factor = "clients", groups = [[1], [2]]',
    'kind = "threshold", factor = "clients"',
    'kind = "peak", factor = "clients"',
    'kind = "shape", factor = "clients", shape = "linear"',
    'kind = "scaling", factor = "clients"',
    'kind = "best", factor = "clients", want = "lowest", level = 1',
]


def said(folder: Path, metric: str, check: str, more: str = "") -> tuple[int, str]:
    """How a dry run of the study ends, and its words on one line."""
    (folder / "s.toml").write_text(TEXT.format(metric=metric, check=check, more=more))
    ended = CliRunner().invoke(app, ["run", str(folder / "s.toml"), "--dry-run"])
    return ended.exit_code, " ".join(ended.output.split())


@pytest.mark.parametrize("check", KINDS)
def test_a_check_that_takes_ratios_of_a_signed_figure_is_refused(tmp_path: Path, check: str) -> None:
    code, words = said(tmp_path, "impact_lost_reads", check)
    kind = check.split('"')[1]
    assert code == 2
    assert f"checks 1: '{kind}' takes ratios or logarithms of impact_lost_reads" in words
    assert "kind = 'value' with above or below" in words
    assert "compare lost_reads with control_lost_reads" in words
    assert said(tmp_path, "lost_operations", check)[0] == 0, "what is never below zero may be compared"


def test_the_figure_of_one_side_is_refused_at_that_side(tmp_path: Path) -> None:
    sides = 'numerator = { metric = "capacity_gain_share", where = { clients = 1 } }, denominator = {}'
    code, words = said(tmp_path, "capacity_gain", f'kind = "ratio", {sides}, direction = "above"')
    assert (code, "ratios or logarithms of capacity_gain_share" in words) == (2, True)
    assert "take capacity_gain" in words


def test_a_claims_own_figure_that_no_side_takes_is_not_refused(tmp_path: Path) -> None:
    sides = 'numerator = { metric = "lost_reads" }, denominator = { metric = "control_lost_reads" }'
    assert said(tmp_path, "impact_lost_reads", f'kind = "ratio", {sides}, direction = "above"')[0] == 0


def test_a_reason_by_a_signed_figure_is_refused(tmp_path: Path) -> None:
    why = 'why = [{ reason = "r", metric = "impact_stale_reads", expect = "up" }]'
    code, words = said(tmp_path, "ok_per_s", KINDS[4], why)
    assert (code, "a reason is judged by ratios of impact_stale_reads" in words) == (2, True)


def test_a_bound_on_a_signed_figure_may_be_claimed_and_a_papers_figure_not(tmp_path: Path) -> None:
    assert said(tmp_path, "impact_lost_reads", 'kind = "value", below = 1')[0] == 0
    code, words = said(tmp_path, "impact_lost_reads", 'kind = "value", below = 1, paper = 0.5')
    assert (code, "a paper's figure of impact_lost_reads would be judged by a factor" in words) == (2, True)


def test_signed_figures_are_figures() -> None:
    assert all(named(metric) for metric in SIGNED)


@pytest.mark.parametrize("lowest", [-40.0, 1.5])
def test_a_bound_on_a_signed_figure_is_judged_by_signs_whatever_runs_it_has(lowest: float) -> None:
    """One test by plan: not Student's where no run happens to lie below zero, and signs where one does."""
    values = [lowest, *np.geomspace(2.0, 900.0, 9)]
    rows = pl.DataFrame([
        {"system": "x", "variant": None, "status": "done", "tainted": None, "steady": "steady", "clients": 1,
         "trial": n, "repetition": n, "impact_lost_reads": value} for n, value in enumerate(values, start=1)
    ])  # fmt: skip
    found = one({"kind": "value", "above": 1.0}, rows, ["clients"], metric="impact_lost_reads")
    beyond = 10 if lowest > 1 else 9
    assert found.direction == "confirmed"
    assert found.chance == pytest.approx(sign_p(beyond, 10))
