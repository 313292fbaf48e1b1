"""Whole studies of known truth, from trials as files to verdicts; `benches/stats_truth.py` asks for many."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import study_sources as sources
from hdrh.histogram import HdrHistogram

from steelyard.results.histograms import read_log

RUNS = sources.Layout(10)
"""Percentiles are merged from ten units on, so that logs matter."""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sources.written(RUNS, True, 1, tmp_path_factory.mktemp("planted"))


def told(run: Path) -> dict[str, tuple[str, str]]:
    return {name: (one.direction, one.size) for name, one in sources.judged(run).items()}


def test_planted_effects_of_every_kind_are_found(planted: Path) -> None:
    assert {name: word for name, (word, _) in told(planted).items() if word != "confirmed"} == {}


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    assert sources.outcome(sources.Layout(), False, 3, tmp_path).false == []


def test_trials_lost_through_the_system_leave_its_claims_open(tmp_path: Path) -> None:
    found = sources.outcome(sources.Layout(failed=0.2), True, 2, tmp_path)
    assert set(found.directions.values()) == {"inconclusive"}


def shuffled(run: Path) -> None:
    """The trials are listed in another order."""
    facts = json.loads((run / "run.json").read_text())
    facts["trials"].sort(key=lambda row: row["seed"])
    (run / "run.json").write_text(json.dumps(facts))


def split(run: Path) -> None:
    """Every log is in two parts, as several engines or seconds leave it."""
    for file in run.glob("trials/*/engine/run.totals.hdr"):
        [(tag, _, whole)] = read_log(file)
        parts = [HdrHistogram(1, 3600 * sources.NS, 3) for _ in range(2)]
        for place, one in enumerate(whole.get_recorded_iterator()):
            parts[place % 2].record_value(one.value_iterated_to, one.count_at_value_iterated_to)
        lines = [f"Tag={tag},0.000,60.000,1.000,{part.encode().decode()}" for part in parts]
        file.write_text("\n".join(lines) + "\n")


def one_more_disturbed(run: Path) -> None:
    """A trial more than was planned, disturbed, whose figures are a hundred times as high."""
    facts = json.loads((run / "run.json").read_text())
    row = {**facts["trials"][0], "number": 999, "repetition": 11, "tainted": "steal: 40 %"}
    wild = dict.fromkeys(sources.truth(True, 1, strong=False), 1e8)
    sources.write_trial(run / "trials" / "999", row, wild, np.random.default_rng(1))
    (run / "run.json").write_text(json.dumps({**facts, "trials": [*facts["trials"], row]}))


@pytest.mark.parametrize("change", [shuffled, split, one_more_disturbed])
def test_what_says_nothing_new_changes_no_verdict(change: Callable[[Path], None], tmp_path: Path) -> None:
    run = sources.written(sources.Layout(), True, 4, tmp_path)
    before = told(run)
    change(run)
    assert told(run) == before
    assert "confirmed" in {direction for direction, _ in before.values()}
