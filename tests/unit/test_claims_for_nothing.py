"""Verdicts that must not be had for nothing: what each of these data shows is known."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from made_trials import METRIC, claim, one, trials

from steelyard.analysis.claims import judge
from steelyard.analysis.claims.looks import Look, Looks
from steelyard.spec.check_construction import by_construction

SIDES = {"numerator": {"where": {"system": "b"}}, "denominator": {"where": {"system": "a"}}}
EQUAL = {"kind": "equality", "margin": 0.1, **SIDES}
TREND = {"kind": "trend", "factor": "clients", "direction": "up"}


def test_a_speedup_is_over_levels_that_both_sides_have() -> None:
    """Both are exactly linear; one was measured at more nodes."""
    points = [{"system": s, "nodes": n} for s in "ab" for n in (1, 2, 4, 8) if (s, n) != ("a", 8)]
    frame = trials(lambda nodes, **_: {METRIC: 100.0 * nodes}, points)
    found = one({"kind": "speedup", **SIDES, "factor": "nodes", "direction": "above"}, frame, ["nodes"])
    assert found.direction == "inconclusive"
    assert found.estimate is not None
    assert found.estimate.estimate == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize(
    "kind", [{"kind": "speedup", "direction": "above"}, {"kind": "slope", "direction": "steeper"}]
)
def test_words_have_no_order_of_their_own(kind: dict[str, str]) -> None:
    cost = {("a", "on"): 1.0, ("a", "off"): 1.0, ("b", "on"): 1.0, ("b", "off"): 2.0}
    points = [{"system": s, "cache": c} for s, c in cost]
    frame = trials(lambda system, cache: {METRIC: cost[system, cache]}, points)
    found = one({**kind, **SIDES, "factor": "cache"}, frame, ["cache"])
    assert found.direction == "inconclusive"
    assert "are words" in found.reasons[0]


@pytest.mark.parametrize(
    ("first", "last", "why"), [(8, 1, "must lie below"), (8, 8, "must lie below"), (8, None, "are the same")]
)
def test_scaling_goes_from_less_to_more(first: int, last: int | None, why: str) -> None:
    check = {"kind": "scaling", "factor": "nodes", "first": first, **({"last": last} if last else {})}
    frame = trials(lambda nodes: {METRIC: nodes**0.3}, [{"nodes": n} for n in (1, 2, 4, 8)])
    if last is None:
        assert why in one(check, frame, ["nodes"]).reasons[0]
    else:
        with pytest.raises(ValueError, match=why):
            claim(check)


def test_a_winner_depends_when_it_is_another_one() -> None:
    """B and C change places behind A, who is always ahead."""
    cost = {0.05: {"A": 1.0, "B": 2.0, "C": 3.0}, 0.95: {"A": 1.0, "B": 3.0, "C": 2.0}}
    points = [{"level": level, "share": share} for share in cost for level in "ABC"]
    check = {"kind": "best", "factor": "level", "want": "lowest", "depends_on": "share"}
    frame = trials(lambda level, share: {METRIC: cost[share][level]}, points)
    assert one(check, frame, ["level", "share"]).direction == "refuted"
    single = frame.filter(pl.col("share") == 0.05)
    found = one(check, single, ["level", "share"])
    assert found.direction == "inconclusive"
    assert found.reasons == ("cannot be computed: share has one level",)


def test_who_is_not_judged_takes_nobodys_place_in_the_family() -> None:
    """The same contrast first as a claim whose range is not covered: the second is corrected all the same."""
    frame = trials(lambda clients: {METRIC: clients**0.02}, [{"clients": n} for n in (1, 2, 4)], seed=7)
    frame = frame.with_columns(pl.lit(1).alias("point"))
    looks = Looks((Look({1: 6}, 24),))
    alone = claim(TREND, id="B")
    before = claim(TREND, id="A", covers=[1, 8000])
    (bare,) = judge([alone], frame, ["clients"], looks=looks)
    _, second = judge([before, alone], frame, ["clients"], looks=looks)
    assert bare.chance is not None
    assert 0.01 < bare.chance < 0.05, "small enough to be decided if nobody corrects it"
    assert (bare.direction, second.direction) == ("inconclusive", "inconclusive")
    assert second.same_as == ""


def test_every_look_at_more_data_costs() -> None:
    """One of the two points grew, for another claim: this claim's figures changed, too."""
    looks = Looks(tuple(Look({1: n, 2: 6}, 24) for n in (6, 12, 24)))
    assert len(looks.at({1, 2})) == 3
    assert looks.chance({1, 2}, 0.01) > Looks(looks.taken[:1]).chance({1, 2}, 0.01)


def test_a_look_that_could_decide_nothing_costs_nothing() -> None:
    """Disturbed trials had left a point four repetitions and no time for more; they were run again later."""
    early, whole = Look({1: 4, 2: 6}, 6, last=True), Look({1: 6, 2: 6}, 6)
    assert Looks((early, whole)).chance({1, 2}, 0.01) == 1.0, "all was spent"
    assert Looks((early, whole)).chance({1, 2}, 0.01, 6) == Looks((whole,)).chance({1, 2}, 0.01)
    assert Looks((early,)).chance({1, 2}, 0.01, 6) == 1.0
    decidable = Looks((Look({1: 6, 2: 6}, 8, last=True), Look({1: 8, 2: 8}, 8)))
    assert decidable.chance({1, 2}, 0.01, 6) == 1.0, "the first could decide, and spent all"


def test_what_a_look_had_shown_stays_shown() -> None:
    """The last look that there was time for spent all; then disturbed trials were run again."""
    shown = Look({1: 7, 2: 7}, 8, last=True, shown={"A": ("confirmed", 0.001)})
    looks = Looks((shown, Look({1: 8, 2: 8}, 8)))
    assert looks.chance({1, 2}, 0.001, 6, "A", "confirmed") == 0.001
    assert looks.chance({1, 2}, 0.001, 6, "A", "refuted") == 1.0
    assert looks.chance({1, 2}, 0.001, 6, "B", "confirmed") == 1.0
    frame = trials(lambda clients: {METRIC: clients**0.5}, [{"clients": n} for n in (1, 2, 4)], seed=7)
    frame = frame.with_columns(pl.lit(1).alias("point"))
    before = Looks((Look({1: 6}, 8, last=True),))
    (found,) = judge([claim(TREND, id="A")], frame, ["clients"], looks=before)
    assert (found.direction, found.alone) == ("confirmed", "confirmed")
    assert found.over_looks is not None
    kept = Look({1: 6}, 8, last=True, shown={"A": (found.alone, found.over_looks)})
    assert (
        judge([claim(TREND, id="A")], frame, ["clients"], looks=Looks((kept, Look({1: 7}, 8))))[0].direction
        == "confirmed"
    )
    lost = Looks((before.taken[0], Look({1: 7}, 8)))
    assert judge([claim(TREND, id="A")], frame, ["clients"], looks=lost)[0].direction == "inconclusive"


def test_equal_on_average_is_not_equal() -> None:
    """Nine cells are equal; in the tenth one side takes twice the time."""
    points = [{"system": s, "clients": c} for s in "ab" for c in range(1, 11)]
    frame = trials(lambda system, clients: {METRIC: 2.0 if (system, clients) == ("b", 10) else 1.0}, points)
    assert one(EQUAL, frame, ["clients"]).direction == "refuted"
    level = trials(lambda **_: {METRIC: 1.0}, points)
    assert one(EQUAL, level, ["clients"]).direction == "confirmed"


def test_a_refuted_equality_is_of_the_family() -> None:
    frame = trials(lambda system: {METRIC: 1.3 if system == "b" else 1.0}, [{"system": s} for s in "ab"])
    found = one(EQUAL, frame, [])
    assert found.direction == "refuted"
    assert found.chance is not None
    assert found.chance < 0.05


def test_trials_that_only_the_other_side_tells_apart_are_no_repetitions() -> None:
    """b ran at ONE (as a) and at ALL (three times as slow): its twelve trials are of two cells."""
    points = [
        {"system": "a", "level": "ONE"},
        {"system": "b", "level": "ONE"},
        {"system": "b", "level": "ALL"},
    ]
    frame = trials(lambda level, **_: {METRIC: 3.0 if level == "ALL" else 1.0}, points)
    sides = {
        "numerator": {"where": {"system": "b"}},
        "denominator": {"where": {"system": "a", "level": "ONE"}},
    }
    found = one({"kind": "ratio", "direction": "above", **sides}, frame, ["level"])
    assert found.direction == "inconclusive"
    assert "has trials of level ALL, ONE on one side" in found.reasons[0]


def test_a_side_against_itself_is_no_claim() -> None:
    same: dict[str, Any] = {"where": {"system": "a"}}
    asked = claim({"kind": "equality", "numerator": same, "denominator": same})
    assert "both sides are the same trials" in by_construction(asked)
    apart = claim({"kind": "equality", **SIDES})
    assert by_construction(apart) == ""


def test_a_papers_ratio_of_one_has_no_direction() -> None:
    with pytest.raises(ValueError, match="say the direction"):
        claim({"kind": "ratio", **SIDES, "paper": 1.0})


def unsteady(frame: pl.DataFrame, of_each: int, share: float) -> pl.DataFrame:
    words = (
        pl.when(pl.col("repetition") <= of_each).then(pl.lit("no steady state")).otherwise(pl.lit("steady"))
    )
    return frame.with_columns(words.alias("steady"), pl.lit(share).alias("false_alarms"))


@pytest.mark.parametrize(
    ("of_each", "share", "answer"),
    [
        (1, 0.05, "inconclusive"),  # 6 of 36: each cell may have one by accident, all of them have not
        (0, 0.05, "confirmed"),
        (1, 0.0, "inconclusive"),  # a warm-up that was to be cut, and was not found
    ],
)
def test_false_alarms_explain_no_more_than_they_bring(of_each: int, share: float, answer: str) -> None:
    frame = trials(lambda clients: {METRIC: 1.0 * clients}, [{"clients": n} for n in (1, 2, 4, 8, 16, 32)])
    assert one(TREND, unsteady(frame, of_each, share), ["clients"]).direction == answer
