"""Highest rates that are found once: what a study may say of them, and how its trials come to share them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from engine_fixtures import Heard
from study_fixtures import Bed, bed, said, statuses

from steelyard.errors import InfrastructureError, InputError, Interrupted, SteelyardError
from steelyard.lab.phase import PhaseRunner
from steelyard.lab.study import Outcome, conduct
from steelyard.spec.models import Study
from steelyard.spec.rates import first_of_each
from steelyard.spec.read import read_study
from steelyard.spec.trials import trials

__all__ = ["bed"]

TEXT = """
repetitions = 2
workload = "c"
[systems.one]
kind = "null"
[systems.two]
kind = "null"
threads = 2
[rates.peak]
start = 100
probe_s = 0.01
[load]
duration_s = 0.01
in_flight = 8
target = { of = "peak" }
[factors]
"load.target.share" = [0.5, 0.8]
"""


def study(folder: Path, *overrides: str, text: str = TEXT) -> Study:
    path = folder / "s.toml"
    path.write_text(text.replace("threads = 2\n", ""))
    return read_study(path, overrides)


def went(folder: Path, asked: Study, **words: Any) -> tuple[Outcome, list[str]]:
    heard = Heard()
    return conduct(asked, heard, 1, folder / "run", **words), heard.lines


def manifests(folder: Path) -> list[dict[str, Any]]:
    paths = sorted((folder / "run" / "trials").glob("*/manifest.json"))
    return [json.loads(path.read_text()) for path in paths]


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch, bed: type[Bed]) -> list[float]:
    """What searches find, one after the other."""
    del bed
    rates = [1000.0, 400.0]

    def find(runner: PhaseRunner, asked: Any) -> float:
        rate = rates.pop(0)
        if rate == 0:
            raise InfrastructureError("no rate was found that the system bears")
        runner.manifest.search = {"found_per_s": rate, "reason": "confirmed", "probes": [{}] * 7,
                                  "asked": asked.model_dump()}  # fmt: skip
        return rate

    monkeypatch.setattr("steelyard.lab.stages.find_rate", find)
    monkeypatch.setattr("steelyard.lab.shared_rates.create", lambda *_, **__: Bed())
    return rates


PER_SYSTEM = "rates.peak.per=['system']"


@pytest.mark.usefixtures("found")
def test_each_rate_is_found_once_and_shared(tmp_path: Path) -> None:
    outcome, lines = went(tmp_path, study(tmp_path, PER_SYSTEM))
    assert (outcome.errors, statuses(tmp_path)) == ([], ["done"] * 8)
    rates = said(tmp_path)["rates"]
    assert [(r["rate"], r["found_per_s"], r["probes"], r["reason"], r["folder"]) for r in rates] == [
        ("peak", 1000.0, 7, "confirmed", "rates/001"),
        ("peak", 400.0, 7, "confirmed", "rates/002"),
    ]
    offered = {
        (m["trial"]["system_name"], m["trial"]["levels"]["load.target.share"]): m["trial"]["load"]["target"]
        for m in manifests(tmp_path)
    }
    assert offered == {("one", 0.5): 500, ("one", 0.8): 800, ("two", 0.5): 200, ("two", 0.8): 320}
    first = manifests(tmp_path)[0]
    assert first["plan"]["phases"][-1]["arrivals"]["rate"] == first["trial"]["load"]["target"]
    assert first["rate"]["of"] == "peak"
    search = json.loads((tmp_path / "run" / "rates" / "001" / "manifest.json").read_text())
    assert [phase["name"] for phase in search["phases"]] == ["load", "run"]
    assert search["trial"]["load"]["target"] is None
    assert sum("is found once" in line for line in lines) == 2
    assert not (tmp_path / "run" / "work").exists()


def test_a_rate_that_is_known_is_not_searched_again(tmp_path: Path, found: list[float]) -> None:
    asked = study(tmp_path)
    Bed.faults = {3: Interrupted("interrupted")}
    outcome, _ = went(tmp_path, asked)
    assert outcome.interrupted
    assert found == [400.0]  # equal systems, workloads and capacities share one
    again, _ = went(tmp_path, asked, resume=True)
    assert (again.errors, found) == ([], [400.0])
    assert {m["rate"]["found_per_s"] for m in manifests(tmp_path)} == {1000.0}


def test_a_search_that_is_interrupted_is_made_again(tmp_path: Path, found: list[float]) -> None:
    asked = study(tmp_path)
    Bed.faults = {1: Interrupted("interrupted")}
    outcome, _ = went(tmp_path, asked)
    assert outcome.interrupted
    assert (statuses(tmp_path), said(tmp_path)["rates"]) == (["planned"] * 8, [])
    went(tmp_path, asked, resume=True)
    assert (statuses(tmp_path), found) == (["done"] * 8, [400.0])
    assert said(tmp_path)["rates"][0]["folder"] == "rates/002"


def test_trials_without_their_rate_fail_and_others_run(tmp_path: Path, found: list[float]) -> None:
    found[:] = [0, 0, 400.0]
    outcome, _ = went(tmp_path, study(tmp_path, PER_SYSTEM))
    reason = "not run, as rate peak was not found: no rate was found that the system bears"
    assert {error.message for error in outcome.errors} == {reason}
    assert {row["reason"] for row in said(tmp_path)["trials"]} == {reason, None}
    status = {(row["system"], row["status"]) for row in said(tmp_path)["trials"]}
    assert status == {("one", "failed"), ("two", "done")}


@pytest.mark.usefixtures("found")
@pytest.mark.parametrize(
    ("error", "searches"), [(InputError("no such version"), 1), (InfrastructureError("no port is free"), 2)]
)
def test_a_search_that_cannot_begin_is_told_of_every_trial_that_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: SteelyardError, searches: int
) -> None:
    """Once if it is hopeless; trials that need another rate run."""
    faults = [error] * searches

    def create(*_: Any, **__: Any) -> Bed:
        if faults:
            raise faults.pop()
        return Bed()

    monkeypatch.setattr("steelyard.lab.shared_rates.create", create)
    outcome, lines = went(tmp_path, study(tmp_path, PER_SYSTEM))
    rows = [row for row in said(tmp_path)["trials"] if row["system"] == "one"]
    reason = f"not run, as rate peak was not found: {error.message}"
    assert [(row["status"], row["reason"]) for row in rows] == [("failed", reason)] * 4
    assert {row["status"] for row in said(tmp_path)["trials"] if row["system"] == "two"} == {"done"}
    assert {failed.exit_code for failed in outcome.errors} == {error.exit_code}
    assert sum(line.startswith("rate peak was not found") for line in lines) == searches
    numbers = ", ".join(str(row["number"]) for row in rows)
    assert lines.count(f"not run, as rate peak was not found: trial {numbers}") == 1


def test_what_shares_a_rate(tmp_path: Path) -> None:
    asked = study(tmp_path, "factors={'load.in_flight' = [4, 8], 'load.target.share' = [0.5, 0.8]}")
    assert [t.levels["load.in_flight"] for t in first_of_each(asked, trials(asked)).values()] == [4, 8]
    one = study(tmp_path, "rates.peak.per=[]")
    assert [t.point for t in first_of_each(one, trials(one)).values()] == [1]


@pytest.mark.parametrize(
    ("override", "fault"),
    [
        (
            "load.target={of='peek'}",
            r"^--set load.target: target: there is no \[rates.peek\] \(did you mean 'peak'",
        ),
        ("rates.peak.strat=5", r"unknown key 'strat' in rates.peak \(did you mean 'start'"),
        ("load.target={of='peak', share=50}", r"^--set load.target: 50 times the highest rate .* at most 2"),
        ("load.target={of='peak', share=2.1}", "2.1 times the highest rate"),
        ("rates.other.start=5", "rates.other: no point offers a share of it"),
        ("rates.peak.per=['sytem']", r"no factor 'sytem' in this study \(did you mean 'system'"),
        ("rates.peak.start=0.5", r"rates\.peak.*start = 0.5 is not between least and most"),
        ("rates.peak.share=0.5", "unknown key 'share' in rates.peak"),
        ("load.target={of='peak', shar=1}", r"unknown key 'shar' in load.target \(did you mean 'share'\?\)$"),
        ("load.target='fast'", "load.target 'fast' should be a valid number"),
        ("load.phases=['load']", "a share of a highest rate is for a run"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, override: str, fault: str) -> None:
    text = TEXT.replace('[factors]\n"load.target.share" = [0.5, 0.8]\n', "")
    with pytest.raises(InputError, match=fault):
        study(tmp_path, override, text=text)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('target = { of = "peak" }', 'target = { of = "peek" }', 14),
        ("[0.5, 0.8]", '[0.5, 0.8]\n"load.target.of" = ["peak", "peek"]', 17),
        ("[factors]", '[variants.v.load.target]\nof = "peek"\n[factors]', 16),
    ],
)
def test_an_unknown_rate_is_told_with_its_line(tmp_path: Path, old: str, new: str, line: int) -> None:
    with pytest.raises(InputError) as refused:
        study(tmp_path, text=TEXT.replace(old, new))
    where = f"{tmp_path / 's.toml'}:{line}: target: there is no [rates.peek] (did you mean 'peak'?)"
    assert where in refused.value.message.splitlines()


def test_rates_without_a_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"rates.start = 5: expected a table with a name, as \[rates.NAME\]"):
        study(tmp_path, text=TEXT.replace("[rates.peak]\nstart = 100", "[rates]\nstart = 5"))
