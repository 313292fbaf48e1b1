"""A study ends when it is decided: what is run again, what is added, what the budget and a resume do."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from engine_fixtures import Heard
from study_fixtures import Bed, attempts, bed, disturbed, said, statuses, study

from steelyard.analysis.claims.standing import Standing
from steelyard.errors import InfrastructureError, InputError, Interrupted
from steelyard.lab.study import Outcome, conduct
from steelyard.lab.time_left import TimeLeft
from steelyard.lab.until_decided import Extension
from steelyard.results.disturbance import Disturbance
from steelyard.results.store import RunFolder
from steelyard.spec.trials import trials

__all__ = ["bed"]

CLAIM = (
    'claims=[{id = "C1", statement = "s", metric = "ok_per_s", check = {kind = "ratio", direction = "above", '
    'numerator = {where = {system = "one"}}, denominator = {where = {system = "two"}}}}]'
)
HOUR = "budget.time='1h'"


def went(folder: Path, *overrides: str, **words: Any) -> tuple[Outcome, list[str]]:
    """A run of the study with one claim, and the lines that it showed."""
    heard = Heard()
    asked = study(folder, CLAIM, *overrides)
    return conduct(asked, heard, time.monotonic_ns(), folder / "run", **words), heard.lines


def asking(*further: int | None) -> Callable[[Path], Sequence[Standing]]:
    """Claims that want so many repetitions more at each look, and are decided from then on."""
    left = list(further)

    def stand(_folder: Path) -> Sequence[Standing]:
        return [Standing("C1", frozenset({1, 2}), left.pop(0) if left else 0, "words")]

    return stand


def test_what_was_disturbed_is_run_again_at_the_end(tmp_path: Path, bed: type[Bed]) -> None:
    """At once, and again when the others are done; without a claim, too."""
    seen = list[str]()

    def judge(folder: Path) -> Disturbance | None:
        seen.append(folder.name)
        return (
            Disturbance("steal: 5 %", passing=True)
            if seen.count("002") < 3 and folder.name == "002"
            else None
        )

    heard = Heard()
    outcome = conduct(study(tmp_path, HOUR), heard, time.monotonic_ns(), tmp_path / "run", judge=judge)
    assert seen == ["001", "002", "002", "003", "004", "002"]
    assert outcome.disturbed == 0
    assert "run again, since it was disturbed: trial 2 (steal: 5 %)" in heard.lines
    assert [a["tainted"] for a in attempts(tmp_path)[2]] == ["steal: 5 %"] * 2
    assert len(bed.calls) == 2 * 6


@pytest.mark.usefixtures("bed")
def test_a_host_that_is_never_quiet_is_not_waited_for(tmp_path: Path) -> None:
    outcome, _ = went(tmp_path, HOUR, judge=disturbed("002"))
    assert outcome.disturbed == 1
    assert len(attempts(tmp_path)[2]) == 3
    again, _ = went(tmp_path, HOUR, judge=disturbed("002"), resume=True)
    assert again.disturbed == 1
    assert len(attempts(tmp_path)[2]) == 3


@pytest.mark.usefixtures("bed")
def test_pairs_are_added_until_it_is_decided(tmp_path: Path) -> None:
    outcome, lines = went(tmp_path, HOUR, stand=asking(1, 2))
    assert (outcome.planned, outcome.looks, outcome.added) == (10, 3, 6)
    rows = said(tmp_path)["trials"]
    assert sorted((row["repetition"], row["point"]) for row in rows) == [
        (repetition, point) for repetition in range(1, 6) for point in (1, 2)
    ]
    assert [(row["look"], row["added"]) for row in rows] == [
        *[(None, None)] * 4,
        *[(1, "C1")] * 2,
        *[(2, "C1")] * 4,
    ]
    for repetition in range(1, 6):  # pairs: equal seeds
        assert len({row["seed"] for row in rows if row["repetition"] == repetition}) == 1
    looks = said(tmp_path)["looks"]
    assert [look["repetitions"] for look in looks] == [{"1": n, "2": n} for n in (2, 3, 5)]
    assert [look["claims"][0]["further"] for look in looks] == [1, 2, 0]
    assert [look["most"] for look in looks] == [8] * 3
    assert any(line.startswith("2 trials are added for C1, about") for line in lines)
    assert "look 3, at 10 trials: 1 of 1 claims are decided" in lines


@pytest.mark.usefixtures("bed")
def test_checks_of_ours_are_decided_too(tmp_path: Path) -> None:
    asked = study(tmp_path, CLAIM.replace("claims=", "checks=", 1), HOUR)
    outcome = conduct(asked, Heard(), time.monotonic_ns(), tmp_path / "run", stand=asking(1))
    assert (outcome.looks, outcome.added) == (2, 2)


@pytest.mark.usefixtures("bed")
def test_a_fixed_plan_is_kept(tmp_path: Path) -> None:
    outcome, _ = went(tmp_path, "budget.fixed=true", stand=asking(1), judge=disturbed("002"))
    assert (outcome.planned, outcome.looks, outcome.disturbed) == (4, 0, 1)
    assert said(tmp_path)["looks"] == []
    later, _ = went(tmp_path, HOUR, stand=asking(1), resume=True)
    assert (later.planned, later.looks) == (4, 0)  # it was judged by one test, and stays so


@pytest.mark.usefixtures("bed")
def test_what_no_number_decides_adds_nothing(tmp_path: Path) -> None:
    outcome, lines = went(tmp_path, HOUR, stand=asking(None))
    assert (outcome.looks, outcome.added) == (1, 0)
    assert "  C1: words" in lines


@pytest.mark.usefixtures("bed")
def test_the_budgets_time_is_not_overdrawn(tmp_path: Path) -> None:
    outcome, lines = went(tmp_path, "budget.time='1us'", stand=asking(1), judge=disturbed("002"))
    assert (outcome.looks, outcome.added, outcome.disturbed) == (1, 0, 1)
    assert any("not run again: the budget's time is too short" in line for line in lines)
    assert any(line.startswith("  C1: words, about") and "left" in line for line in lines)
    assert said(tmp_path)["looks"][0]["last"] is True  # known before the claims were judged


@pytest.mark.usefixtures("bed")
def test_an_interrupted_extension_goes_on(tmp_path: Path) -> None:
    """The trials that were added are those of a study that was never interrupted; no look is taken twice."""
    (tmp_path / "whole").mkdir()
    went(tmp_path / "whole", HOUR, stand=asking(2))
    Bed.calls.clear()
    Bed.faults = {6: Interrupted("interrupted")}
    outcome, _ = went(tmp_path, HOUR, stand=asking(2))
    assert outcome.interrupted
    assert statuses(tmp_path) == ["done"] * 5 + ["interrupted"] + ["planned"] * 2
    again, lines = went(tmp_path, HOUR, stand=asking(), resume=True)
    assert "going on: 5 of 8 trials are done" in lines
    assert (again.looks, again.added, again.interrupted) == (2, 4, False)
    assert statuses(tmp_path) == ["done"] * 8
    places = ("number", "point", "repetition", "seed", "group", "data", "look", "added")
    assert [[t[k] for k in places] for t in said(tmp_path)["trials"]] == [
        [t[k] for k in places] for t in said(tmp_path / "whole")["trials"]
    ]


@pytest.mark.usefixtures("bed")
def test_a_look_at_the_same_trials_is_that_look_again(tmp_path: Path) -> None:
    went(tmp_path, HOUR, stand=asking(None))
    outcome, _ = went(tmp_path, HOUR, stand=asking(None), resume=True)
    assert outcome.looks == 1


@pytest.mark.usefixtures("bed")
def test_claims_that_cannot_be_judged_end_the_study(tmp_path: Path) -> None:
    def stand(_folder: Path) -> Sequence[Standing]:
        raise InputError("no such column")

    outcome, lines = went(tmp_path, HOUR, stand=stand)
    assert (outcome.errors, outcome.added) == ([], 0)
    assert any("could not be judged" in line for line in lines)


@pytest.mark.parametrize(("starts", "groups"), [(1, {1, 2}), (2, {1, 2, 3, 4, 5, 6})])
def test_added_repetitions_on_shared_clusters(
    tmp_path: Path, bed: type[Bed], starts: int, groups: set[int]
) -> None:
    """They belong to the one start there was; where there were several, they are further ones."""
    went(tmp_path, HOUR, "reset=truncate", f"starts={starts}", stand=asking(1))
    rows = said(tmp_path)["trials"]
    assert {row["group"] for row in rows} == groups
    assert statuses(tmp_path) == ["done"] * 6
    assert bed.calls == ["up", "down"] * (4 if starts == 1 else 6)
    assert json.loads((tmp_path / "run" / "trials" / "005" / "manifest.json").read_text())["status"] == "done"


def wanting(further: int) -> Callable[[Path], Sequence[Standing]]:
    """A claim that is never decided, and gives up after a hundred looks."""
    return asking(*[further] * 100)


@pytest.mark.usefixtures("bed")
def test_what_was_added_and_failed_is_not_added_again(tmp_path: Path) -> None:
    """A point that always fails would be added without end."""
    Bed.faults = {n: InfrastructureError("no luck") for n in range(5, 60)}
    outcome, lines = went(tmp_path, HOUR, stand=wanting(1))
    assert (outcome.planned, outcome.added) == (6, 2)
    reason = "words; what was added for it last failed (trial 5, 6), and nothing more is added"
    assert sorted(statuses(tmp_path)) == ["done"] * 4 + ["failed"] * 2
    assert f"  C1: {reason}" in lines
    (told,) = said(tmp_path)["looks"][-1]["claims"]
    assert (told["claim"], told["further"], told["words"]) == ("C1", None, reason)


@pytest.mark.usefixtures("bed")
def test_a_claim_whose_trials_fail_does_not_go_on_beside_one_whose_do_not(tmp_path: Path) -> None:
    """No look is at the same trials as the last, since other trials were done."""
    Bed.faults = {n: InfrastructureError("no luck") for n in (6, 7, 9, 10, 12, 13, 15, 16)}

    def stand(_folder: Path) -> Sequence[Standing]:
        return [Standing(f"C{n}", frozenset({n}), 1, "words") for n in (1, 2)]

    outcome, _ = went(tmp_path, HOUR, "order=listed", "budget.repetitions=5", stand=stand)
    counts = [sum(row["point"] == n for row in said(tmp_path)["trials"]) for n in (1, 2)]
    assert (counts, outcome.added) == ([5, 3], 4)


@pytest.mark.usefixtures("bed")
def test_failed_repetitions_count_against_the_budgets_most(tmp_path: Path) -> None:
    Bed.faults = {n: InfrastructureError("no luck") for n in (1, 2)}
    _, lines = went(tmp_path, HOUR, "budget.repetitions=3", stand=wanting(1))
    rows = said(tmp_path)["trials"]
    assert max(sum(row["point"] == point for row in rows) for point in (1, 2)) == 3
    reason = "that would be 4 repetitions of a point, 1 that failed included, and the budget allows 3"
    assert f"  C1: words; {reason}" in lines


@pytest.mark.usefixtures("bed")
def test_whole_starts_do_not_exceed_the_budgets_most(tmp_path: Path) -> None:
    shared = ("reset=truncate", "repetitions=4", "starts=2", "budget.repetitions=5")
    outcome, lines = went(tmp_path, HOUR, *shared, stand=wanting(1))
    assert (outcome.planned, outcome.added) == (8, 0)
    assert "  C1: words; that would be 6 repetitions of a point, and the budget allows 5" in lines


@pytest.mark.parametrize(
    ("attempts_of", "status", "seconds", "look", "left_s"),
    [
        pytest.param([], "done", 10.0, None, 40.0, id="a plan that is done"),
        pytest.param([("failed", 7.0)], "done", 10.0, None, 40.0, id="a failure on the way is the plan's"),
        pytest.param([("cut short", None)], "done", 10.0, None, 40.0, id="so is one that was cut short"),
        pytest.param([], "failed", 7.0, None, 30.0, id="what failed in the end allows nothing"),
        pytest.param([("done", 10.0)], "done", 9.0, None, 31.0, id="again, since disturbed: beyond"),
        pytest.param([("done", 10.0)], "failed", 9.0, None, 31.0, id="again, and failed: beyond as well"),
        pytest.param(
            [("done", 10.0), ("cut short", None)], "done", 9.0, None, 21.0, id="cut short: a trial's"
        ),
        pytest.param([("failed", 7.0)], "done", 10.0, 1, 13.0, id="every attempt at an added one"),
    ],
)
def test_what_is_left_of_the_budget(  # noqa: PLR0917
    tmp_path: Path, attempts_of: list[tuple[str, float | None]], status: str, seconds: float,
    look: int | None, left_s: float,
) -> None:  # fmt: skip
    """Four trials of 10 s each; one of them had these attempts, its last one with this end."""
    asked = study(tmp_path)
    planned = trials(asked)
    folder = RunFolder.create(asked, planned, tmp_path / "run")
    time_left = TimeLeft({t.number: 10.0 for t in planned}, {t.number: t.point for t in planned})
    for row in folder.rows.values():
        row.status, row.seconds = "done", 10.0
    row = folder.rows[1]
    row.attempts = [{"status": was, "seconds": took} for was, took in attempts_of]
    row.status, row.seconds, row.look = status, seconds, look
    assert Extension(folder, asked, time_left, Heard(), asking()).left_s == left_s
    folder.close()
