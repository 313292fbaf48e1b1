"""Claims over several looks: what one error rate over all of them decides, and what is to settle the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest

from steelyard.analysis.claims import Verdict, judge
from steelyard.analysis.claims.looks import ONE_TEST, Look, Looks
from steelyard.analysis.claims.standing import Standing, standings
from steelyard.analysis.stats.sequential import LookAt, _agreeing, further_signs
from steelyard.report.study.looks import looks_of, looks_table
from steelyard.spec.checks import Claim

METRIC = "ok_per_s"
RATIO = {
    "kind": "ratio",
    "direction": "above",
    "numerator": {"where": {"heap": 2}},
    "denominator": {"where": {"heap": 1}},
}


def frame(ratio: float, repetitions: int = 6, **columns: Any) -> pl.DataFrame:
    """Two points; runs lie 3 % apart, evenly."""
    scatter = np.linspace(-0.045, 0.045, repetitions)
    rows = [
        {"system": "x", "variant": None, "status": "done", "tainted": None, "steady": "steady", "heap": heap,
         "trial": (heap - 1) * repetitions + n + 1, "point": heap, "repetition": n + 1,
         METRIC: float(np.exp(scatter[n]) * (ratio if heap == 2 else 1))}
        for heap in (1, 2) for n in range(repetitions)
    ]  # fmt: skip
    for name, values in columns.items():
        for row, value in zip(rows, values, strict=False):
            row[name] = value
    return pl.DataFrame(rows, infer_schema_length=None)


def at(*repetitions: int, most: int = 24, last: bool = False) -> Looks:
    """Looks at two points, the last of them announced as such."""
    looks = [Look({1: n, 2: n}, most) for n in repetitions]
    if last:
        looks[-1] = Look(looks[-1].repetitions, most, last=True)
    return Looks(tuple(looks))


def judged(trials: pl.DataFrame, looks: Looks, check: Mapping[str, Any] = RATIO, **more: Any) -> Verdict:
    claim = Claim.model_validate({"id": "C1", "statement": "s", "metric": METRIC, "check": check, **more})
    (found,) = judge([claim], trials, ["heap"], looks=looks)
    return found


def standing(trials: pl.DataFrame, looks: Looks, **more: Any) -> Standing:
    (found,) = standings([judged(trials, looks, **more)], looks)
    return found


def test_what_one_test_decides_a_look_may_not() -> None:
    trials = frame(1.045)
    alone = judged(trials, ONE_TEST)
    assert alone.direction == "confirmed"
    assert alone.chance is not None
    assert 0.02 < alone.chance < 0.05
    first = judged(trials, at(6))
    assert first.direction == "inconclusive"
    assert "all looks share one error rate" in first.reasons[-1]
    assert judged(trials, at(6, last=True)).direction == "confirmed"  # nothing follows: all may be spent
    assert judged(trials, at(6, most=6)).direction == "confirmed"


def test_to_settle() -> None:
    promising = standing(frame(1.045), at(6))
    assert promising.further is not None
    assert 0 < promising.further <= 18
    assert promising.points == {1, 2}
    assert f"to settle: {promising.further} more of each of 2 points" in promising.words
    assert standing(frame(1.2), at(6)).further == 0
    assert standing(frame(1.005), at(6)).further is None
    assert standing(frame(1.045), at(6, most=7)).further is None  # beyond the budget


def test_to_settle_what_goes_by_signs() -> None:
    """Six of six pairs agree (p = 0.031); beside four other open claims more of them are needed."""
    looks = at(6).at({1, 2})
    ordered = frame(1.2).with_columns(pl.col(METRIC).alias("read_service_p99_ns"))
    claim = {"metric": "read_service_p99_ns", "check": {**RATIO, "paired": True}}
    verdict = judged(ordered, at(6), claim["check"], metric=claim["metric"])
    assert verdict.chance == 2 / 2**6
    alone = standings([verdict], at(6))[0].further
    beside = standings([verdict, *[judged(frame(1.005), at(6))] * 4], at(6))[0].further
    assert alone == further_signs(6, 6, looks, 24, 0.05)
    assert beside == further_signs(6, 6, looks, 24, 0.01)
    assert alone is not None
    assert beside is not None
    assert 1 <= alone < beside <= 10
    assert further_signs(4, 8, [LookAt(8, 8 / 24)], 24, 0.05) is None
    agree = sum(_agreeing(many, 5, 3, 4) - _agreeing(many + 1, 5, 3, 4) for many in range(6))
    assert agree == pytest.approx(1.0)


def test_a_cell_gets_at_least_what_it_lacks() -> None:
    """Five of six that count: a large difference needs one more to be judged at all."""
    tainted = ["steal: 5 %", *[None] * 11]
    found = standing(frame(1.5, tainted=tainted), at(6))
    assert found.further == 1
    assert standing(frame(1.5, repetitions=4), at(4)).further == 2


@pytest.mark.parametrize(
    ("columns", "word"),
    [
        ({"status": ["failed"], "reason": ["no route"]}, "failed"),
        ({"steady": ["no steady state"] * 6}, "no steady state"),
        ({"group": [1] * 6 + [2] * 6}, "shared one start"),
        ({"saturated_share": [0.5] * 4}, "2 of 6 repetitions needed"),
    ],
)
def test_what_no_repetition_cures(columns: dict[str, Any], word: str) -> None:
    found = standing(frame(1.045, **columns), at(6))
    assert found.further is None
    assert word in found.words


def test_an_equality_may_be_settled_too() -> None:
    check = {**RATIO, "kind": "equality", "margin": 0.05}
    del check["direction"]
    assert standing(frame(1.001), at(6), check=check).further is not None
    (alone, *_) = standings([judged(frame(1.001), at(6), check=check)], at(6))
    assert alone.further != 0


def test_points_that_got_no_more_were_not_looked_at_again() -> None:
    """Another claim's repetitions cost this one nothing."""
    looks = Looks((Look({1: 6, 2: 6, 3: 6}, 24), Look({1: 6, 2: 6, 3: 12}, 24)))
    assert looks.at({1, 2}) == at(6).at({1, 2})
    assert len(looks.at({3})) == 2
    assert looks.chance({1, 2}, 0.01) == at(6).chance({1, 2}, 0.01)


def test_disturbed_trials_that_are_run_again_after_the_last_look_decide() -> None:
    """The first look had five of six repetitions, and no time for more."""
    looks = Looks((*at(5, most=6, last=True).taken, *at(6, most=6).taken))
    found = judged(frame(1.3), looks)
    assert found.least == 6
    assert found.direction == "confirmed", found.reasons


def test_a_counterexample_refutes_also_when_no_error_rate_is_left() -> None:
    """A trial that was run again after the last look has lost a record: that is no matter of chance."""
    looks = Looks((*at(6, last=True).taken, *at(7).taken))
    every = {
        "id": "A", "statement": "s", "metric": "audit_lost", "where": {"heap": 1},
        "check": {"kind": "value", "below": 1, "every": True},
    }  # fmt: skip
    for lost, word in ((0.0, "inconclusive"), (3.0, "refuted")):
        rows = frame(1.0, 7, audit_lost=[0.0] * 6 + [lost] + [0.0] * 7)
        [found] = judge([Claim.model_validate(every)], rows, ("heap",), looks=looks)
        assert found.direction == word, found.reasons


def row(point: int, status: str = "done", **more: Any) -> dict[str, Any]:
    return {"point": point, "status": status, **more}


def test_looks_as_a_run_tells_of_them() -> None:
    design = {"repetitions": 2, "budget": {"time": None, "repetitions": None, "fixed": False}}
    trials = [row(1), row(2), row(1), row(2)]
    assert not looks_of({"design": {"repetitions": 2}, "trials": trials})  # of an earlier version
    assert not looks_of({"design": {**design, "budget": {"fixed": True}}, "trials": trials})
    before = looks_of({"design": design, "trials": trials})
    assert [(look.repetitions, look.most) for look in before.taken] == [({1: 2, 2: 2}, 8)]
    said = [{"repetitions": {"1": 2, "2": 2}, "most": 8, "last": False, "claims": []}]
    told = {"design": design, "trials": trials, "looks": said}
    assert looks_of(told) == before
    later = looks_of({**told, "trials": [*trials, row(1)]})
    assert [look.repetitions for look in later.taken] == [{1: 2, 2: 2}, {1: 3, 2: 2}]


def test_what_takes_the_place_of_disturbed_trials_is_looked_at_anew() -> None:
    """As many trials are done before and after; those that count are others."""
    design = {"repetitions": 2, "budget": {"time": None, "repetitions": None, "fixed": False}}
    told = {"design": design, "looks": [{"repetitions": {"1": 1, "2": 2}, "most": 8, "claims": []}]}
    before = [row(1), row(1, tainted="steal: 5 %"), row(2), row(2)]
    assert len(looks_of({**told, "trials": before}).taken) == 1
    after = looks_of({**told, "trials": [row(1), row(1), row(2), row(2)]})
    assert [look.repetitions for look in after.taken] == [{1: 1, 2: 2}, {1: 2, 2: 2}]
    assert len(after.at({1, 2})) == 2


def test_the_table_says_what_was_added() -> None:
    claims = [
        {"claim": "C1", "further": 1, "words": "undecided"},
        {"claim": "C2", "further": 0, "words": "confirmed"},
        {"claim": "C3", "further": 0, "words": "range not covered"},
        {"claim": "C4", "further": 0, "words": "not claimed"},
    ]
    looks = [
        {"repetitions": {"1": 2, "2": 2}, "most": 8, "last": False, "claims": claims},
        {"repetitions": {"1": 3, "2": 2}, "most": 8, "last": True, "claims": []},
    ]
    table = looks_table({"looks": looks, "trials": [row(1), row(1, look=1, added="C1")]})
    assert table is not None
    assert [list(cells) for cells in table.rows] == [
        ["1", "2 of at most 8", "1 of 4; 2 cannot be here", "C1 undecided", "1 trial for C1"],
        ["2", "2 to 3 of at most 8, the last by its time", "0 of 0", "-", "-"],
    ]
    assert looks_table({"trials": []}) is None
