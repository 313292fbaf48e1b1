"""Each kind of warning: when it speaks, with which figure, and when it is silent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from steelyard.analysis.cost import Cost
from steelyard.analysis.distribution import Distribution
from steelyard.analysis.inside import HELD_BACK, LACKING, MOVING, Inside
from steelyard.analysis.steady import Steady
from steelyard.analysis.summary import Operation, Phase, Saturation, Traffic
from steelyard.analysis.warnings import Context, derive


def phase(**more: Any) -> Phase:
    response = Distribution(count=10_000, mean_ns=8e6)
    total = Operation("TOTAL", 10_000, 10_000, 0, {}, 1000.0, response=response)
    base = {"name": "run", "kind": "run", "start_ns": 0, "end_ns": 10**10, "seconds": 10.0, "total": total}
    return Phase(**(base | {"in_flight_cap": 8} | more))


def failing(**kinds: int) -> Phase:
    whole = phase()
    return replace(whole, total=replace(whole.total, failures=kinds))


FINE = Context(phase=phase(), steady=Steady("throughput", 60, too_short=False, reached=True, mean=1000.0))


def kinds(context: Context) -> list[str]:
    return [w.kind for w in derive(context)]


def text(context: Context, kind: str) -> str:
    return next(w.text for w in derive(context) if w.kind == kind)


def test_a_fine_run_has_no_warning() -> None:
    assert kinds(FINE) == []


def test_a_busy_engine_does_not_sleep() -> None:
    """Its answers lie unread as long as those of a client that wakes."""
    one = phase(in_flight_cap=1, total=SOON, pacing=WAKING)
    assert "had no CPU left" in text(replace(FINE, phase=one, costs=(ENGINE,)), "littles_law")
    starved = replace(one, saturation=Saturation(0, 0, 900, 6))
    assert "had no CPU left" in text(replace(FINE, phase=starved), "littles_law")


@pytest.mark.parametrize(
    ("left", "level"),
    [({"unsent": 1}, "note"), ({"unsent": 2}, "warning"), ({"unanswered": 1}, "warning")],
)
def test_one_operation_of_ten_thousand_that_was_not_sent_is_worth_a_note(
    left: dict[str, int], level: str
) -> None:
    [found] = [one for one in derive(replace(FINE, phase=phase(**left))) if one.kind == "censored"]
    assert found.level == level


def test_clients_that_send_what_was_collected_are_busy() -> None:
    """With a client's buffer whoever fills it sends it, which is no operation of its own."""
    sends = Operation("FLUSH", 160, 160, 0, {}, 0.0, response=Distribution(count=160, mean_ns=5e8))
    assert "littles_law" in kinds(Context(phase=phase(in_flight_cap=16)))
    assert "littles_law" not in kinds(Context(phase=phase(in_flight_cap=16, operations=(sends,))))


def test_answers_after_the_end_are_no_breach_of_littles_law() -> None:
    """What is in flight when the phase's time ends is waited for: of a short run that is much of it."""
    few = phase(in_flight_cap=7)
    assert "littles_law" in kinds(Context(phase=few))
    assert "littles_law" not in kinds(Context(phase=replace(few, end_ns=12 * 10**9)))


LIMITED = {"local": True, "cores": 2, "quota_cores": 1.2}
PACED = phase(target_per_s=1000.0, in_flight_cap=1000)
NODE = Cost("node1", "server", 0.5, 10.0, throttled_share=0.2)
ENGINE = Cost("client (engine)", "client", 0.97, 10.0)
SEEN = Cost("a", "server", 0.5, 10.0)
DIED = ({"t_ns": 1, "event": "server died", "detail": "node2: exit 137"},)
DRIFT = Steady("throughput", 100, too_short=False, reached=True, drift=-0.2)
LATE = Steady("throughput", 100, too_short=False, reached=True, warm_up_s=30)


LAG = {"reads": 2_500, "p99_ns": 6 * 10**6, "max_ns": 9 * 10**6}
SERVED = replace(phase().total, service=Distribution(count=10_000, p50_ns=50 * 10**6))
UNREAD = phase(total=SERVED, pacing={"lag": LAG}, traffic=Traffic(9_000, 9_000, 10_000, 10_000))


SOON = Operation("TOTAL", 20_000, 20_000, 0, {}, 2000.0, response=Distribution(count=20_000, mean_ns=450e3))
WAKING = {"lag": {"p50_ns": 40_000}}
"""One client whose operations take 450 us, and who begins one every 500."""


def told(measure: str, **by_source: float) -> tuple[Inside, ...]:
    return (Inside(measure, "", by_source),)


CASES = [
    (
        "rate_not_reached",
        {"phase": phase(target_per_s=1000.0), "completed_per_s": 900.0},
        "900 of 1,000",
    ),
    ("no_manifest", {"status": "unknown"}, "no manifest"),
    ("saturated", {"phase": phase(saturation=Saturation(7, 0, 900))}, "7 of 10 seconds"),
    ("starved", {"phase": phase(saturation=Saturation(0, 0, 900, 6))}, "starved of CPU in 6 of 10 seconds"),
    (
        "starved",
        {"phase": phase(saturation=Saturation(0, 0, 900, 6)), "starved": {"root@a": 1, "b": 5}},
        "starved of CPU in 6 of 10 seconds (b in 5, root@a in 1)",
    ),
    ("audit", {"phase": phase(audit={"records": 90, "lost": 2, "examples": []})}, "2 were lost"),
    ("unread", {"phase": UNREAD}, "for 6.0 ms or longer, at most 9.0 ms"),
    ("unread", {"phase": UNREAD}, "(75 % of them were)"),
    (
        "not_yet",
        {"phase": phase(total=replace(phase().total, not_yet=40))},
        "40 operations asked for records",
    ),
    ("cap_reached", {"phase": phase(saturation=Saturation(0, 4, 900))}, "most waiting: 900"),
    ("rate_not_reached", {"phase": phase(target_per_s=1100.0)}, "1,000 of 1,100 operations/s (91 %)"),
    (
        "errors",
        {"phase": failing(timeout=70, unavailable=30)},
        "100 of 10,000 operations failed (1 %): 70 timeout",
    ),
    ("censored", {"phase": phase(unsent=5, unanswered=3)}, "due and not sent (5), or had no answer yet (3)"),
    ("littles_law", {"phase": phase(in_flight_cap=16)}, "throughput x mean response is 8.0 (50 % off)"),
    ("littles_law", {"phase": phase(in_flight_cap=16)}, "had no CPU left"),
    ("littles_law", {"phase": phase(in_flight_cap=7)}, "8.0 (14 % off): responses add up to more time"),
    (
        "littles_law",
        {"phase": phase(in_flight_cap=1, total=SOON, pacing=WAKING)},
        "50 us for each, most of it until an answer that had arrived was read (40 us, median)",
    ),
    (
        "littles_law",
        {"phase": phase(in_flight_cap=16, pacing={"lag": {"p50_ns": 6 * 10**6}})},
        "had no CPU left",
    ),
    ("client_busy", {"costs": (ENGINE,)}, "0.97 cores"),
    (
        "client_takes_cores",
        {
            "phase": phase(target_per_s=1000.0, arrivals="constant", pacing={"turns": 40_000}),
            "local": True,
            "cores": 2,
            "quota_cores": 1.8,
            "costs": (replace(ENGINE, cores=0.3),),
        },
        "0.30 of the 2 cores that the servers run on (15 %): they had less of them than before a client "
        "elsewhere. It woke 4,000 times a second; `--pacing 500us`",
    ),
    ("too_short", {"steady": Steady("throughput", 30, too_short=True)}, "30 s, and 60 s are needed"),
    (
        "too_short",
        {"steady": Steady("throughput", 42, too_short=True, interval_s=0.1)},
        "4.2 s, and 6 s are needed",
    ),
    ("no_steady_state", {"steady": Steady("throughput", 90, too_short=False, reached=False)}, "90 seconds"),
    ("warm_up", {"steady": LATE}, "first 30 of 100 seconds"),
    ("drift", {"steady": DRIFT}, "fell by 20 %"),
    ("oversubscribed", {"local": True, "cores": 2, "quota_cores": 1.9}, "1.9 of 2 cores"),
    ("shared_host", {"local": True, "cores": 2, "busy_share": 0.75}, "in use: 75 %"),
    ("throttled", {"costs": (NODE,)}, "node1 20 %"),
    ("steal", {"steal_share": 0.04}, "4 %"),
    ("beside", {"phase": PACED, **LIMITED, "others_cores": 0.17}, "0.17 of 2 cores"),
    ("iowait", {"iowait_share": 0.3}, "30 %"),
    ("held_back", {"inside": told(HELD_BACK, node1=0.02, node2=0.01)}, "room: node1 2 % of"),
    ("regions_moved", {"inside": told(MOVING, master1=3.0)}, "up to 3 at a time"),
    ("under_replicated", {"inside": told(LACKING, master1=5.0)}, "up to 5 blocks"),
    (
        "unwatched",
        {"nodes": ("node1", "node2"), "watched": frozenset({"node1"}), "local": True},
        "Nothing was sampled of node2",
    ),
    (
        "unwatched",
        {
            "nodes": ("a", "b", "c"),
            "agents": frozenset({"a"}),
            "untold": {"b": "refused", "c": "refused"},
            "local": True,
            "watched": frozenset({"a", "b", "c"}),
        },
        "inside b, c (refused): compactions",
    ),
    (
        "untold_figures",
        {
            "nodes": ("a",),
            "agents": frozenset({"a"}),
            "lacking": {"heap (no table tells it)": ["a", "b"], "streaming (no table)": ["b"]},
            "costs": (SEEN,),
        },
        "from outside. a: heap (no table tells it).",
    ),
    (
        "unsampled_machines",
        {"nodes": ("a", "b"), "agents": frozenset({"a", "b"}), "costs": (replace(SEEN, party="a"),)},
        "of b are not in this report",
    ),
    (
        "unwatched",
        {"nodes": ("node1",), "watched": frozenset({"node1"}), "local": True},
        "Nothing was told from inside node1",
    ),
    ("partial", {"partial": True}, "Half-written"),
    ("failed", {"status": "failed", "reason": "no Java"}, "no Java"),
    ("server_died", {"timeline": DIED}, "node2: exit 137"),
    ("verify", {"phase": phase(verify={"checked": 500, "corrupt": 2})}, "2 corrupt"),
    ("not_judged", {"values": "ycsb"}, "plain YCSB values"),
    ("not_judged", {"verify": "off"}, "verify is off"),
]


@pytest.mark.parametrize(("kind", "change", "figure"), CASES)
def test_each_kind_speaks_alone_and_says_its_figure(kind: str, change: dict[str, Any], figure: str) -> None:
    context = replace(FINE, **change)
    assert kinds(context) == [kind]
    assert figure in text(context, kind)


@pytest.mark.parametrize("change", [
    {"phase": phase(target_per_s=1020.0)}, {"phase": phase(target_per_s=1030.0, arrivals="poisson")},
    {"phase": phase(target_per_s=1200.0), "completed_per_s": 1199.0}, {"steal_share": 0.01},
    {"phase": phase(end_ns=10**9 // 5), "steal_share": 0.2},
    {"local": True, "cores": 2, "quota_cores": 1.8},
    {"phase": PACED, **LIMITED, "others_cores": 0.05}, {**LIMITED, "others_cores": 0.17},
    {"phase": replace(PACED, end_ns=9 * 10**9), **LIMITED, "others_cores": 0.17},
    {"phase": PACED, **LIMITED, "local": False, "others_cores": 0.17},
    {"iowait_share": 0.05}, {"phase": phase(verify={"checked": 10, "corrupt": 0})},
    {"nodes": ("a",), "watched": frozenset({"a"}), "agents": frozenset({"a"}), "local": True},
    {"phase": PACED},
    {"phase": replace(UNREAD, pacing={"lag": {**LAG, "p99_ns": 5 * 10**6}})},
    {"phase": replace(UNREAD, pacing={"lag": {**LAG, "p99_ns": 10**6}}, total=phase().total)},
    {"phase": phase(target_per_s=1000.0, curve=True, in_flight_cap=1000)},
    {"inside": (*told(HELD_BACK, node1=0.01), *told(MOVING, master1=0.0), *told(LACKING, master1=0.0))},
])  # fmt: skip
def test_on_the_threshold_nothing_is_said(change: dict[str, Any]) -> None:
    assert kinds(replace(FINE, **change)) == []


def test_a_stale_value_is_a_warning_and_a_corrupt_one_a_fault() -> None:
    stale = derive(replace(FINE, phase=phase(verify={"checked": 9, "stale": 1})))[0]
    corrupt = derive(replace(FINE, phase=phase(verify={"checked": 9, "stale": 1, "corrupt": 1})))[0]
    assert (stale.level, corrupt.level) == ("warning", "fault")


def test_the_gravest_comes_first() -> None:
    context = replace(FINE, partial=True, steal_share=0.5, values="ycsb")
    assert [w.level for w in derive(context)] == ["fault", "warning", "note"]
