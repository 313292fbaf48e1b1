"""What may be run beyond a plan: the study's key, the flag, what is refused, what --dry-run says of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.errors import InputError
from steelyard.results.store import RunFolder
from steelyard.spec.budget import Budget, overrides
from steelyard.spec.models import Study
from steelyard.spec.read import read_study
from steelyard.spec.trials import further_trials, trials

TEXT = """
repetitions = 6
workload = "c"
system = { kind = "null" }
[factors]
clients = [1, 2]
[[claims]]
id = "C1"
statement = "s"
metric = "ok_per_s"
check = { kind = "trend", factor = "clients", direction = "up" }
"""


def study(folder: Path, *said: str) -> Study:
    path = folder / "s.toml"
    path.write_text(TEXT)
    return read_study(path, said)


@pytest.mark.parametrize(
    ("text", "time_s", "most"),
    [("2h", 7200, 24), ("30", None, 30), ("90s,12", 90, 12), ("12, 1h30m", 5400, 12)],
)
def test_the_flag_is_two_settings(tmp_path: Path, text: str, time_s: float | None, most: int) -> None:
    budget = study(tmp_path, *overrides(text)).budget
    assert (budget.time_s, budget.most(6), budget.fixed) == (time_s, most, False)


@pytest.mark.parametrize("text", ["soon", "2h,", "-3", "2x", "", "10m 10m", "10m10m", "30m1h"])
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"neither a time such as 2h nor a number of repetitions"):
        overrides(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("2h,3h", r"--budget 2h,3h: '3h' is a second time"),
        ("24,2h,30", r"--budget 24,2h,30: '30' is a second number"),
        ("0", r"--budget 0: repetitions of a point are between 1 and 1000"),
        ("1h,1001", r"--budget 1h,1001: repetitions of a point are between 1 and 1000"),
    ],
)
def test_the_flag_is_refused_in_its_own_words(text: str, fault: str) -> None:
    with pytest.raises(InputError, match=f"^{fault}$"):
        overrides(text)


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("budget.repetitions=4", "below the 6 repetitions that are planned"),
        ("budget.time='soon'", "'soon' is no duration"),
        ("budget.tim='1h'", r"unknown key 'tim' in budget \(did you mean 'time'"),
    ],
)
def test_budgets_that_cannot_be(tmp_path: Path, said: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        study(tmp_path, said)


def test_an_unsaid_budget_is_not_written_down(tmp_path: Path) -> None:
    assert study(tmp_path).budget == Budget()


def test_further_repetitions_are_blocks_with_the_plans_seeds(tmp_path: Path) -> None:
    asked = study(tmp_path)
    planned = trials(asked)
    more = further_trials(asked, planned, {1: 8, 2: 7})
    assert [(t.number, t.repetition) for t in more] == [(13, 7), (14, 7), (15, 8)]
    assert {(t.repetition, t.seed) for t in more} == {(7, more[0].seed), (8, more[2].seed)}
    longer = trials(study(tmp_path, "repetitions=8"))
    assert {(t.point, t.repetition, t.seed) for t in more} < {(t.point, t.repetition, t.seed) for t in longer}


def test_dry_run_says_what_may_be_added(tmp_path: Path) -> None:
    study(tmp_path)
    path = str(tmp_path / "s.toml")
    told = CliRunner().invoke(app, ["run", path, "--dry-run", "--budget", "2h,12"])
    assert (
        "beyond the plan, about 2.0 h at most: what was disturbed is run again, and up to 12" in told.output
    )
    assert "beyond the plan" not in CliRunner().invoke(app, ["run", path, "--dry-run", "--fixed"]).output
    both = CliRunner().invoke(app, ["run", path, "--fixed", "--budget", "2h"])
    assert both.exit_code == 2
    assert "leave one out" in both.output


def test_a_budget_of_a_plan_that_is_kept_is_refused(tmp_path: Path) -> None:
    """By the study's own word, or because it ran so before."""
    fixed = tmp_path / "fixed.toml"
    fixed.write_text(f"budget = {{ fixed = true }}\n{TEXT}")
    refused = CliRunner().invoke(app, ["run", str(fixed), "--dry-run", "--budget", "2h"])
    assert refused.exit_code == 2
    assert "--budget 2h" in refused.output
    assert "keeps its plan" in refused.output
    asked, out = study(tmp_path, "budget.fixed=true"), str(tmp_path / "run")
    RunFolder.create(asked, trials(asked), Path(out)).close()
    for words in (["--resume", out], [str(tmp_path / "s.toml"), "--out", out]):
        again = CliRunner().invoke(app, ["run", *words, "--dry-run", "--budget", "24"])
        assert (again.exit_code, "keeps its plan" in again.output) == (2, True)
        assert CliRunner().invoke(app, ["run", *words, "--dry-run"]).exit_code == 0


@pytest.mark.parametrize("words", [["--budget", ""], ["--budget", "", "--fixed"]])
def test_an_empty_budget_is_refused(tmp_path: Path, words: list[str]) -> None:
    study(tmp_path)
    assert CliRunner().invoke(app, ["run", str(tmp_path / "s.toml"), "--dry-run", *words]).exit_code == 2


@pytest.mark.parametrize("plain", [False, True])
def test_what_is_written_after_a_resume_is_what_is_in_effect(tmp_path: Path, plain: bool) -> None:
    """A plan that was kept stays so, though the study is given again without --fixed."""
    path = tmp_path / "s.toml"
    path.write_text(TEXT.partition("[factors]")[0] if plain else TEXT)
    first, later = read_study(path, ["budget.fixed=true"]), read_study(path, ["budget.time='2h'"])
    RunFolder.create(first, trials(first), tmp_path / "run").close()
    RunFolder.resume(later, trials(later), tmp_path / "run").close()
    assert read_study(tmp_path / "run" / "study.toml").budget.fixed
    assert json.loads((tmp_path / "run" / "run.json").read_text())["study"]["budget"]["fixed"] is True
