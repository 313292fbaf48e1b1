"""What holds for all kinds of claims: what is compared with what, what is counted, what is no verdict."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from made_trials import METRIC, claim, one, trials
from pydantic import ValidationError

from steelyard.analysis.claims import judge
from steelyard.analysis.claims.curves import _wins
from steelyard.analysis.claims.why import bear_out
from steelyard.analysis.stats.fits import Comparison, Fit
from steelyard.analysis.stats.models import MODELS
from steelyard.analysis.stats.runs import Interval
from steelyard.spec.checks import Claim, Ratio

CLIENTS = [{"clients": n} for n in (1, 2, 4, 8)]
SIDES = {"numerator": {"where": {"system": "b"}}, "denominator": {"where": {"system": "a"}}}
TREND = {"kind": "trend", "factor": "clients", "direction": "up"}


def rising(clients: int) -> dict[str, float]:
    return {METRIC: 1e6 * clients, "ok_per_s": 1000.0 * clients}


# match -----------------------------------------------------------------------------------------------------

UNLIKE = [
    *({"system": "a", "clients": n, "consistency": c} for n in (1, 4) for c in ("ONE", "ALL")),
    *({"system": "b", "clients": n, "consistency": None} for n in (1, 4)),
]


def unlike(system: str, clients: int, **_: Any) -> dict[str, float]:
    return {METRIC: clients * (2.0 if system == "b" else 1.0)}


def test_systems_with_other_factors_are_paired_by_those_they_share() -> None:
    frame = trials(unlike, UNLIKE)
    check = {"kind": "ratio", **SIDES, "direction": "above"}
    factors = ["clients", "consistency"]
    assert one(check, frame, factors).reasons == ("no cell has both sides",)
    check |= {"match": ["clients"]}
    found = one(check, frame, factors)
    assert found.direction == "inconclusive"
    assert "`match` does not tell apart" in found.reasons[0]
    check |= {"denominator": {"where": {"system": "a", "consistency": "ONE"}}}
    found = one(check, frame, factors)
    assert found.direction == "confirmed"
    assert "2 matched cells" in found.words
    assert found.cells is None


@pytest.mark.parametrize(
    "check", [{"kind": "ratio", "direction": "above"}, {"kind": "equality", "margin": 0.5}]
)
def test_a_mean_of_unlike_cells_is_told_with_the_least_and_the_greatest(check: dict[str, Any]) -> None:
    """1.5 and 6 make 3, which is the ratio of neither."""
    points = [{"system": system, "clients": n} for system in "ab" for n in (1, 4)]
    frame = trials(lambda system, clients: {METRIC: 1.5 * clients if system == "b" else 1.0}, points)
    found = one({**check, **SIDES}, frame, ["clients"])
    assert found.estimate is not None
    assert found.estimate.estimate == pytest.approx(3, rel=0.1)
    assert found.cells == pytest.approx((1.5, 6), rel=0.1)


# paired ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", [METRIC, "read_service_p99_ns"])
def test_what_a_repetition_does_to_both_sides_does_not_count(metric: str) -> None:
    points = [{"system": "a"}, {"system": "b"}]
    frame = trials(lambda system: {metric: 1.05 if system == "b" else 1.0}, points, 8, scatter=0.005)
    frame = frame.with_columns(pl.col(metric) * 2.0 ** pl.col("repetition"))  # each repetition twice as slow
    check = {"kind": "ratio", **SIDES, "direction": "above"}
    assert one(check, frame, [], metric=metric).direction == "inconclusive"
    found = one({**check, "paired": True}, frame, [], metric=metric)
    assert found.direction == "confirmed", found.words
    assert found.estimate is not None
    assert found.estimate.estimate == pytest.approx(1.05, rel=0.01)


@pytest.mark.parametrize("factor", [2.0, 0.5])
@pytest.mark.parametrize("metric", [METRIC, "read_service_p99_ns"])
def test_pairs_that_all_lie_beyond_the_margin_are_not_equal(metric: str, factor: float) -> None:
    points = [{"system": "a"}, {"system": "b"}]
    frame = trials(lambda system: {metric: factor if system == "b" else 1.0}, points, 8)
    check = {"kind": "equality", **SIDES, "margin": 0.25, "paired": True}
    assert one(check, frame, [], metric=metric).direction == "refuted"
    near = trials(lambda system: {metric: 1.25 if system == "b" else 1.0}, points, 8)  # on either side of it
    assert one(check, near, [], metric=metric).direction == "inconclusive"


@pytest.mark.parametrize(("agree", "decided"), [(6, False), (9, False), (10, True), (11, True)])
def test_one_pair_that_goes_the_other_way_does_not_undo_many(agree: int, decided: bool) -> None:
    """Of 6 pairs all must agree, of 12 ten: the exact sign test at 5 %."""
    count = 12 if agree > 6 else 7
    points = [{"system": "a"}, {"system": "b"}]
    frame = trials(lambda system: {"read_service_p99_ns": 2.0 if system == "b" else 1.0}, points, count)
    other = (pl.col("system") == "b") & (pl.col("repetition") > agree)
    frame = frame.with_columns(
        pl.when(other).then(0.5).otherwise(pl.col("read_service_p99_ns")).alias("read_service_p99_ns")
    )
    check = {"kind": "ratio", **SIDES, "direction": "above", "paired": True}
    found = one(check, frame, [], metric="read_service_p99_ns")
    assert found.direction == ("confirmed" if decided else "inconclusive"), found.words
    assert found.chance is not None
    assert (found.chance < 0.05) == decided


def test_pairs_are_of_repetitions_that_both_sides_have() -> None:
    points = [{"system": "a"}, {"system": "b"}]
    frame = trials(lambda system: {METRIC: 2.0 if system == "b" else 1.0}, points, 8)
    check = {"kind": "ratio", **SIDES, "direction": "above", "paired": True}
    assert one(check, frame, []).direction == "confirmed"
    odd = pl.when((pl.col("system") == "b") & (pl.col("repetition") < 3)).then(pl.lit("steal"))
    even = pl.when((pl.col("system") == "a") & (pl.col("repetition") > 6)).then(pl.lit("steal"))
    found = one(check, frame.with_columns(pl.coalesce(odd, even).alias("tainted")), [])
    assert found.direction == "inconclusive"
    assert "cannot be computed: 4 of 6 pairs needed were measured in the same repetitions" in found.reasons


def test_a_side_with_several_trials_of_a_repetition_has_no_pairs() -> None:
    """One of them would stand for all: here the slow level alone, and the fast one not at all."""
    points = [{"system": system, "level": level} for system in "ab" for level in (1, 2)]
    frame = trials(lambda system, level: {METRIC: level if system == "b" else 1.0}, points, 8)
    sides = {
        name: {"where": {"system": system, "level": [1, 2]}}
        for name, system in (("numerator", "b"), ("denominator", "a"))
    }
    found = one({"kind": "ratio", **sides, "direction": "above", "paired": True}, frame, ["level"])
    assert found.direction == "inconclusive"
    assert any("several trials of repetition 1" in reason for reason in found.reasons), found.reasons


def test_pairs_that_shared_a_start_are_one_unit() -> None:
    points = [{"system": "a"}, {"system": "b"}]
    frame = trials(lambda system: {METRIC: 2.0 if system == "b" else 1.0}, points, 12)
    shared = frame.with_columns((pl.col("repetition") % 3 + 10 * (pl.col("system") == "b")).alias("group"))
    found = one({"kind": "ratio", **SIDES, "direction": "above", "paired": True}, shared, [])
    assert found.direction == "inconclusive"
    assert any("3 of 6 pairs" in reason for reason in found.reasons)


# papers ----------------------------------------------------------------------------------------------------


def test_several_sources_are_each_judged_for_size() -> None:
    points = [{"system": "a"}, {"system": "b"}]
    frame = trials(lambda system: {METRIC: 0.4 if system == "b" else 1.0}, points)
    papers = {"YCSB": 0.4, "Tudorica": "0.7", "Abramova": {"low": 0.35, "high": 0.6}, "Li": 2.0}
    found = one({"kind": "ratio", **SIDES, "direction": "below", "papers": papers}, frame, [])
    assert (found.direction, found.size) == ("confirmed", "not claimed")
    assert [(s.name, s.direction, s.size) for s in found.sources] == [
        ("YCSB", "confirmed", "confirmed"),
        ("Tudorica", "confirmed", "refuted"),
        ("Abramova", "confirmed", "confirmed"),
        ("Li", "refuted", "refuted"),
    ]
    small = one({"kind": "ratio", **SIDES, "direction": "below", "papers": papers}, frame, [], small=True)
    assert {s.size for s in small.sources} == {"not claimed"}
    assert [s.direction for s in small.sources] == ["confirmed"] * 3 + ["refuted"]


def test_sources_that_contradict_each_other_say_no_direction() -> None:
    with pytest.raises(ValidationError, match="say the direction"):
        claim({"kind": "ratio", **SIDES, "papers": {"YCSB": 0.4, "Li": 2.0}})
    agreed = claim({"kind": "ratio", **SIDES, "papers": {"YCSB": 0.4, "Tudorica": 0.7}}).check
    assert isinstance(agreed, Ratio)
    assert not agreed.upwards


# most ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("down", "answer"), [(0, "confirmed"), (1, "confirmed"), (2, "confirmed"), (4, "refuted"), (6, "refuted")]
)
def test_in_most_counts_lines(down: int, answer: str) -> None:
    """Of seven lines some fall; all the others rise."""
    points = [{"line": n, "clients": c} for n in range(7) for c in (1, 2, 4)]
    frame = trials(lambda line, clients: {METRIC: clients ** (-1.0 if line < down else 1.0)}, points)
    found = one({**TREND, "most": True}, frame, ["line", "clients"])
    assert found.direction == answer, found.words
    assert f"{7 - down} of 7 lines go the claimed way, {down} the other way" in found.words


def test_half_of_the_cells_are_not_most() -> None:
    points = [{"system": s, "line": n} for s in "ab" for n in range(6)]
    frame = trials(lambda system, line: {METRIC: 2.0 if system == "b" and line < 3 else 1.0}, points)
    found = one({"kind": "ratio", **SIDES, "direction": "above", "most": True}, frame, ["line"])
    assert found.direction == "inconclusive", "the other three show nothing"


# covers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("covers", "answer"),
    [([1, 8], "confirmed"), ([2, 4], "confirmed"), ([1, 8000], "range not covered")],
)
def test_a_range_that_a_form_drops_is_no_verdict(covers: list[int], answer: str) -> None:
    frame = trials(rising, CLIENTS)
    found = one({**TREND, "paper": 8.0}, frame, ["clients"], covers=covers)
    assert (found.direction, found.size) == (answer, answer)
    if answer == "range not covered":
        assert found.reasons[0] == "clients 1 to 8 measured, 1 to 8000 claimed"
        assert found.chance is None, "it is no member of the family"


def test_words_are_covered_when_all_were_measured() -> None:
    frame = trials(lambda level: {METRIC: {"ONE": 1.0, "QUORUM": 2.0, "ALL": 3.0}[level]},
                   [{"level": "ONE"}, {"level": "QUORUM"}])  # fmt: skip
    check = {"kind": "order", "factor": "level", "groups": [["ONE"], ["QUORUM"]]}
    assert one(check, frame, ["level"], covers=["ONE", "QUORUM"]).direction == "confirmed"
    found = one(check, frame, ["level"], covers=["ONE", "QUORUM", "ALL"])
    assert (found.direction, found.reasons) == ("range not covered", ("level ALL left out",))


@pytest.mark.parametrize(
    ("check", "more", "left"),
    [
        ({"kind": "ratio", **SIDES, "direction": "above"}, {}, "system b left out"),
        ({"kind": "value", "below": 1}, {"where": {"nodes": 3, "act": ["kill", "none"]}}, "nodes 3 left out"),
        ({"kind": "trend", "factor": "act", "levels": ["kill", "cut"], "direction": "up"},
         {"covers": ["kill", "cut"]}, "act cut left out"),
        ({"kind": "trend", "factor": "nodes", "direction": "up"},
         {"covers": [1, 8], "where": {"act": ["kill", "cut"]}}, "nodes 1 measured, 1 to 8 claimed"),
    ],
)  # fmt: skip
def test_levels_that_the_small_form_drops_are_named(
    check: dict[str, Any], more: dict[str, Any], left: str
) -> None:
    frame = trials(lambda **_: {"audit_lost": 0.0}, [{"system": "a", "nodes": 1, "act": "kill"}])
    found = one(check, frame, ["nodes", "act"], small=True, metric="audit_lost", **more)
    assert (found.direction, found.reasons) == ("range not covered", (left,))
    whole = one(check, frame, ["nodes", "act"], metric="audit_lost", **more)
    assert whole.direction == "inconclusive", "the full form leaves nothing out"


def test_a_claim_whose_levels_the_small_form_has_is_undecided_for_its_own_reason() -> None:
    frame = trials(lambda **_: {METRIC: 1.0}, [{"system": "a", "nodes": 1}, {"system": "b", "nodes": 3}])
    found = one({"kind": "ratio", **SIDES, "direction": "above"}, frame, ["nodes"], small=True)
    assert (found.direction, found.reasons) == ("inconclusive", ("no cell has both sides",))


# one finding -----------------------------------------------------------------------------------------------


def test_the_same_contrast_of_the_same_trials_is_one_finding() -> None:
    frame = trials(rising, CLIENTS)
    asked = [
        claim(TREND),
        claim({**TREND, "paper": 8.0}, source="elsewhere"),
        claim({**TREND, "direction": "down"}),
        claim(TREND, metric="ok_per_s"),
        claim({"kind": "shape", "factor": "clients", "shape": "linear"}),
    ]
    asked = [one.model_copy(update={"id": f"C{n}"}) for n, one in enumerate(asked)]
    found = judge(asked, frame, ["clients"])
    assert [one.same_as for one in found] == ["", "C0", "C0", "", ""]
    assert [one.direction for one in found][:3] == ["confirmed", "confirmed", "refuted"]


def test_a_repeated_claim_does_not_weaken_the_others() -> None:
    """Holm's correction counts findings: eight times the same claim is one test."""
    frame = trials(lambda heap: {METRIC: 1.0 + 0.04 * heap}, [{"heap": 0}, {"heap": 1}], scatter=0.03)
    check = {"kind": "ratio", "direction": "above",
             "numerator": {"where": {"heap": 1}}, "denominator": {"where": {"heap": 0}}}  # fmt: skip
    (alone,) = judge([claim(check)], frame, ["heap"])
    assert alone.chance is not None
    assert 0.05 / 8 < alone.chance < 0.05
    many = [claim(check).model_copy(update={"id": f"C{n}"}) for n in range(8)]
    assert {found.direction for found in judge(many, frame, ["heap"])} == {"confirmed"}


# reasons ---------------------------------------------------------------------------------------------------


def borne(why: dict[str, Any], law: Any, points: list[dict[str, Any]], *, small: bool = False) -> Any:
    check = {"kind": "ratio", **SIDES, "direction": "above"}
    asked = Claim.model_validate(
        {"id": "C1", "statement": "s", "metric": METRIC, "check": check, "why": [why]}
    )
    (found,) = bear_out(asked, trials(law, points), [], small=small)
    return found


SYSTEMS = [{"system": s} for s in "abc"]
HASH = {"reason": "hashing costs", "metric": "server_cpu_us", "expect": "up"}


@pytest.mark.parametrize(("third", "answer"), [(1.0, "confirmed"), (2.0, "inconclusive"), (4.0, "refuted")])
def test_a_reason_is_judged_where_it_would_fail(third: float, answer: str) -> None:
    """b costs twice what a does; c lacks the cause, and should cost less."""
    cost = {"a": 1.0, "b": 2.0, "c": third}

    def law(system: str) -> dict[str, float]:
        return {METRIC: 1.0, "server_cpu_us": cost[system]}

    also = {
        "numerator": {"where": {"system": "b"}},
        "denominator": {"where": {"system": "c"}},
        "expect": "up",
    }
    assert borne(HASH, law, SYSTEMS).direction == "confirmed"
    found = borne({**HASH, "also": also}, law, SYSTEMS)
    assert found.direction == answer
    assert "where it would fail: " in found.words


def test_a_figure_that_is_the_same_everywhere_cannot_speak() -> None:
    frame = trials(lambda **_: {METRIC: 1.0}, SYSTEMS).with_columns(pl.lit(0.0).alias("sstables"))
    check = {"kind": "ratio", **SIDES, "direction": "above"}
    asked = claim(check, why=[{"reason": "more files", "metric": "sstables", "expect": "up"}])
    (found,) = bear_out(asked, frame, [])
    assert (found.direction, found.words) == ("cannot be seen here", "it is 0 in every trial")


def test_a_study_may_say_that_a_reason_cannot_be_seen() -> None:
    def law(system: str) -> dict[str, float]:
        return {METRIC: 1.0, "server_cpu_us": 2.0 if system == "b" else 1.0}

    found = borne({"reason": "replicas", "unseen": "all replicas are written at any level"}, law, SYSTEMS)
    assert (found.direction, found.words) == ("cannot be seen here", "all replicas are written at any level")
    why = {**HASH, "unseen_small": "one client"}
    assert borne(why, law, SYSTEMS).direction == "confirmed"
    assert borne(why, law, SYSTEMS, small=True).words == "one client"


# what has no warm-up ---------------------------------------------------------------------------------------


def test_what_lies_on_the_nodes_has_no_warm_up() -> None:
    frame = trials(lambda clients: {METRIC: 1.0 * clients, "data_imbalance": 1.0 * clients}, CLIENTS)
    unsteady = frame.with_columns(pl.lit("no steady state").alias("steady"))
    assert one(TREND, unsteady, ["clients"]).direction == "inconclusive"
    assert one(TREND, unsteady, ["clients"], metric="data_imbalance").direction == "confirmed"


# shapes ----------------------------------------------------------------------------------------------------


def weighed(**weights: float) -> Comparison:
    """Models by name, with their share of the evidence."""
    fits = []
    for name, weight in weights.items():
        model = MODELS[name.replace("_", "-")]
        places = dict.fromkeys(model.parameters, Interval(1.0, 0.5, 2.0, 6))
        fits.append(Fit(model, places, 0.0, weight, 0.1))
    return Comparison(tuple(sorted(fits, key=lambda fit: -fit.weight)), {})


def test_a_special_case_does_not_refute_what_bears_more_of_the_evidence() -> None:
    """A faint knee: the bent line fits better than the straight one, but not with nine tenths."""
    faint = weighed(linear_then_flat=0.85, linear=0.15)
    assert faint.winner == "linear"
    assert _wins(faint, "linear-then-flat", 0.25) == "inconclusive"
    assert _wins(weighed(linear_then_flat=0.2, linear=0.8), "linear-then-flat", 0.25) == "refuted"
    assert _wins(weighed(linear_then_flat=0.95, linear=0.05), "linear-then-flat", 0.25) == "confirmed"


def test_a_special_case_needs_nine_tenths_too() -> None:
    """None of three models is nine times as likely as the constant; together they are."""
    assert weighed(constant=0.09, linear=0.31, logarithmic=0.3, peak=0.3).winner == "undecided"
    assert weighed(constant=0.3, linear=0.3, logarithmic=0.2, peak=0.2).winner == "constant"
