"""A study's trials on the fake engine: tried again, set aside, gone on with, and clusters shared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from study_fixtures import Bed, attempts, bed, disturbed, go, said, statuses, study

import steelyard
from steelyard.errors import InfrastructureError, InputError, Interrupted
from steelyard.lab.signals import Interrupts
from steelyard.results.store import RunFolder
from steelyard.spec.read import read_study
from steelyard.spec.trials import trials

__all__ = ["bed"]

PLANNED = ("number", "point", "repetition", "seed", "group", "data", "system", "variant", "levels")


def plans(folder: Path) -> list[dict[str, Any]]:
    paths = sorted((folder / "run" / "trials").glob("*/manifest.json"))
    return [json.loads(path.read_text())["plan"] for path in paths]


def test_fresh_trials_have_a_cluster_each(tmp_path: Path, bed: type[Bed]) -> None:
    outcome = go(tmp_path, study(tmp_path))
    assert (outcome.errors, outcome.interrupted, outcome.planned) == ([], False, 4)
    assert bed.calls == ["up", "down"] * 4
    assert statuses(tmp_path) == ["done"] * 4
    assert not attempts(tmp_path)


@pytest.mark.parametrize(("reset", "loads", "fresh"), [("truncate", 4, True), ("none", 2, False)])
def test_trials_of_a_group_share_a_cluster(
    tmp_path: Path, bed: type[Bed], reset: str, loads: int, fresh: bool
) -> None:
    go(tmp_path, study(tmp_path, f"reset={reset}"))
    assert bed.calls == ["up", "down"] * 2
    assert statuses(tmp_path) == ["done"] * 4
    manifests = [json.loads(p.read_text()) for p in (tmp_path / "run" / "trials").glob("*/manifest.json")]
    assert sum("load" in [phase["name"] for phase in m["phases"]] for m in manifests) == loads
    assert {plan["driver"]["fresh"] for plan in plans(tmp_path)} == {fresh}
    assert not (tmp_path / "run" / "work").exists()


def test_a_trial_that_failed_is_run_once_more(tmp_path: Path, bed: type[Bed]) -> None:
    bed.faults = {3: InfrastructureError("no luck")}
    outcome = go(tmp_path, study(tmp_path))
    assert outcome.errors == []
    assert statuses(tmp_path) == ["done"] * 4
    assert attempts(tmp_path) == {
        3: [
            {
                "folder": "attempts/003.1",
                "status": "failed",
                "reason": "no luck",
                "tainted": None,
                "seconds": attempts(tmp_path)[3][0]["seconds"],
            }
        ]
    }
    assert attempts(tmp_path)[3][0]["seconds"] > 0
    assert (tmp_path / "run" / "attempts" / "003.1" / "manifest.json").is_file()


def test_one_that_fails_again_is_recorded_and_the_study_goes_on(tmp_path: Path, bed: type[Bed]) -> None:
    bed.faults = {1: InfrastructureError("no luck"), 2: InfrastructureError("again")}
    outcome = go(tmp_path, study(tmp_path))
    assert [error.message for error in outcome.errors] == ["again"]
    assert statuses(tmp_path) == ["failed"] + ["done"] * 3


def test_a_cluster_that_failed_is_not_shared_any_more(tmp_path: Path, bed: type[Bed]) -> None:
    asked = study(tmp_path, "reset=none")
    bed.faults = {1: InfrastructureError("no luck")}
    go(tmp_path, asked)
    assert bed.calls == ["up", "down"] * 3
    assert statuses(tmp_path) == ["done"] * 4


def test_an_error_that_all_would_meet_ends_the_study(tmp_path: Path, bed: type[Bed]) -> None:
    bed.faults = {2: InputError("no such setting")}
    outcome = go(tmp_path, study(tmp_path))
    assert [error.message for error in outcome.errors] == ["no such setting"]
    assert statuses(tmp_path) == ["done", "failed"] + ["planned"] * 2


def test_a_disturbed_trial_is_run_once_more_and_both_are_kept(tmp_path: Path, bed: type[Bed]) -> None:
    go(tmp_path, study(tmp_path, "budget.fixed=true"), judge=disturbed("002"))
    assert len(bed.calls) == 2 * 5
    row = said(tmp_path)["trials"][1]
    assert (row["status"], row["tainted"]) == ("done", "steal: 5 %")
    assert [a["tainted"] for a in row["attempts"]] == ["steal: 5 %"]
    frame = steelyard.open(tmp_path / "run").trials()
    assert frame.filter(frame["tainted"].is_not_null())["trial"].to_list() == [2]


def test_a_trial_that_cannot_be_judged_counts(tmp_path: Path, bed: type[Bed]) -> None:
    def judge(_folder: Path) -> None:
        raise ZeroDivisionError

    assert go(tmp_path, study(tmp_path), judge=judge).errors == []
    assert statuses(tmp_path) == ["done"] * 4
    assert len(bed.calls) == 2 * 4


def test_a_crash_while_a_trial_is_judged_leaves_it_to_be_judged(tmp_path: Path, bed: type[Bed]) -> None:
    def crash(folder: Path) -> None:
        if folder.name == "002":
            raise SystemExit

    asked = study(tmp_path)
    with pytest.raises(SystemExit):
        go(tmp_path, asked, judge=crash)
    assert statuses(tmp_path) == ["done", "running", "planned", "planned"]
    go(tmp_path, asked, resume=True, judge=disturbed("002", passing=False))
    assert statuses(tmp_path) == ["done"] * 4
    assert [row["tainted"] for row in said(tmp_path)["trials"]] == [None, "steal: 5 %", None, None]
    assert len(bed.calls) == 2 * 4


def test_what_would_come_again_is_only_noted(tmp_path: Path, bed: type[Bed]) -> None:
    go(tmp_path, study(tmp_path), judge=disturbed("002", passing=False))
    assert len(bed.calls) == 2 * 4
    assert said(tmp_path)["trials"][1]["tainted"] == "steal: 5 %"


def test_what_was_disturbed_is_run_again_when_asked(tmp_path: Path, bed: type[Bed]) -> None:
    asked = study(tmp_path, "budget.fixed=true")
    assert go(tmp_path, asked, judge=disturbed("002")).disturbed == 1
    bed.calls.clear()
    assert go(tmp_path, asked, resume=True).disturbed == 1
    assert not bed.calls
    assert go(tmp_path, asked, resume=True, disturbed=True).disturbed == 0
    assert bed.calls == ["up", "down"]
    assert [a["tainted"] for a in attempts(tmp_path)[2]] == ["steal: 5 %"] * 2
    assert [row["tainted"] for row in said(tmp_path)["trials"]] == [None] * 4


def test_what_would_come_again_is_not_run_again(tmp_path: Path, bed: type[Bed]) -> None:
    asked = study(tmp_path)
    assert go(tmp_path, asked, judge=disturbed("002", passing=False)).disturbed == 0
    bed.calls.clear()
    go(tmp_path, asked, resume=True, disturbed=True)
    assert not bed.calls


def test_an_interrupted_study_goes_on(tmp_path: Path, bed: type[Bed]) -> None:
    """Its list of trials is that of one which was never interrupted."""
    asked = study(tmp_path)
    (tmp_path / "whole").mkdir()
    go(tmp_path / "whole", asked)
    bed.calls.clear()
    bed.faults = {2: Interrupted("interrupted")}
    assert go(tmp_path, asked).interrupted
    assert statuses(tmp_path) == ["done"] + ["interrupted"] + ["planned"] * 2
    first = tmp_path / "run" / "trials" / "001" / "manifest.json"
    kept = first.read_text()
    assert not go(tmp_path, asked, resume=True).interrupted
    assert statuses(tmp_path) == ["done"] * 4
    assert kept == first.read_text()
    assert [a["status"] for a in attempts(tmp_path)[2]] == ["interrupted"]
    resumed, whole = said(tmp_path), said(tmp_path / "whole")
    assert [[t[k] for k in PLANNED] for t in resumed["trials"]] == [
        [t[k] for k in PLANNED] for t in whole["trials"]
    ]
    assert (resumed["plan"], len(resumed["resumed"])) == (whole["plan"], 1)


def test_a_trial_that_was_cut_short_is_set_aside(tmp_path: Path, bed: type[Bed]) -> None:
    asked = study(tmp_path)
    folder = RunFolder.create(asked, trials(asked), tmp_path / "run")
    (folder.open_trial(1) / "half").touch()  # and then the process was killed
    folder.close()
    go(tmp_path, asked, resume=True)
    assert statuses(tmp_path) == ["done"] * 4
    assert [a["status"] for a in attempts(tmp_path)[1]] == ["cut short"]
    assert [p.name for p in (tmp_path / "run" / "attempts" / "001.1").iterdir()] == ["half"]
    assert bed.calls.count("up") == 4


def test_a_sealed_trial_counts_though_its_status_was_not_noted(tmp_path: Path, bed: type[Bed]) -> None:
    asked = study(tmp_path)
    go(tmp_path, asked)
    path = tmp_path / "run" / "run.json"
    content = said(tmp_path)
    content["trials"][3]["status"] = "running"
    path.write_text(json.dumps(content))
    bed.calls.clear()
    go(tmp_path, asked, resume=True)
    assert bed.calls == []
    assert statuses(tmp_path) == ["done"] * 4


@pytest.mark.usefixtures("bed")
def test_another_plan_is_refused(tmp_path: Path) -> None:
    go(tmp_path, study(tmp_path))
    with pytest.raises(InputError, match=r"another plan.*load\.duration_s was 0\.01, is 0\.02") as caught:
        go(tmp_path, study(tmp_path, "load.duration_s=0.02"), resume=True)
    assert "--resume" in str(caught.value.hint)
    go(tmp_path, read_study(tmp_path / "run" / "study.toml"), resume=True)  # its own


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    asked = study(tmp_path)
    folder = RunFolder.create(asked, trials(asked), tmp_path / "run")
    with pytest.raises(InputError, match="another steelyard is running this study"):
        RunFolder.resume(asked, trials(asked), tmp_path / "run")
    folder.close()
    RunFolder.resume(asked, trials(asked), tmp_path / "run").close()


def test_every_version_that_went_on_with_a_run_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = study(tmp_path)

    def by(revision: str) -> str:
        monkeypatch.setattr("steelyard.results.store.revision", lambda: revision)
        go_on = RunFolder.resume if (tmp_path / "run").exists() else RunFolder.create
        go_on(asked, trials(asked), tmp_path / "run").close()
        return str(said(tmp_path)["steelyard"])

    assert by("0.1.0+gaaaa") == "0.1.0+gaaaa"
    assert by("0.1.0+gbbbb") == "0.1.0+gaaaa, then 0.1.0+gbbbb"
    assert by("0.1.0+gbbbb") == "0.1.0+gaaaa, then 0.1.0+gbbbb"


@pytest.mark.usefixtures("bed")
def test_a_signal_between_trials_leaves_no_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = study(tmp_path, "reset=truncate")
    held: list[Interrupts] = []
    enter = Interrupts.__enter__
    monkeypatch.setattr(Interrupts, "__enter__", lambda self: held.append(self) or enter(self))

    def judge(_folder: Path) -> None:
        held[0].count = 1

    assert go(tmp_path, asked, judge=judge).interrupted
    assert Bed.calls == ["up", "down"]
    assert statuses(tmp_path) == ["done"] + ["planned"] * 3


@pytest.mark.usefixtures("bed")
def test_frames_know_each_trials_point(tmp_path: Path) -> None:
    go(tmp_path, study(tmp_path, "factors.target=[50, 'max']"))
    results = steelyard.open(tmp_path / "run")
    frame = results.trials()
    assert results.factors == ["clients", "target"]
    assert frame.height == 8
    assert set(frame["target"]) == {"50", "max"}
    assert frame["clients"].to_list() == [row["levels"]["clients"] for row in said(tmp_path)["trials"]]
    assert set(frame["system"]) == {"one", "two"}
    assert frame["ok"].min() >= 10  # type: ignore[operator]
    assert (frame["ok_per_s"] == frame["ok"]).all()  # the fake says that it took one second
    assert set(frame["total_response_mean_ns"]) == {1.5e6}
    assert set(results.intervals()["trial"]) == set(range(1, 9))
    assert results.trial(3).status == "done"
