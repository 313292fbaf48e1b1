"""Counters, cost, balance, spread, saturation, Little's law, distributions, summaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from steelyard.analysis.balance import balance, spread
from steelyard.analysis.cost import client_cpu_us, costs, master_cpu_us, node_cpu_us, server_cpu_us
from steelyard.analysis.counters import Window, mean_rate, rates, samples, unwrapped
from steelyard.analysis.distribution import from_histogram, from_summary, spectrum
from steelyard.analysis.inside import inside
from steelyard.analysis.offered import completed_while_due, kept, little, of_states, saturation
from steelyard.analysis.reasons import by_second, reasons
from steelyard.analysis.spread import engine_spread, engines_apart, repeated
from steelyard.analysis.summary import Saturation, mean_offered, phase_from_summary

NS = 1_000_000_000


def distribution(p50: float) -> dict[str, Any]:
    return {"count": 10, "mean_ns": p50, "min_ns": 1, "p50_ns": p50, "p99_ns": 2 * p50, "p999_ns": 3 * p50}


def facts(**more: Any) -> dict[str, Any]:
    base = {"phase": "run", "kind": "run", "start_ns": 10 * NS, "end_ns": 20 * NS, "seconds": 10.0}
    counts = {
        "operations": 1000,
        "ok": 990,
        "failed": {"timeout": 10},
        "cpu_user_ns": 10**7,
        "cpu_system_ns": 10**7,
    }
    ops = {"READ": {"count": 1000, "ok": 990, "failures": {"timeout": 10}, "response": distribution(1e6)}}
    return base | counts | {"ops": ops} | more


def system(*rows: tuple[str, str, list[float]]) -> pl.DataFrame:
    found = [
        {"t_ns": (10 + second) * NS, "source": source, "metric": metric, "value": value}
        for source, metric, values in rows
        for second, value in enumerate(values)
    ]
    return pl.DataFrame(found)


def test_a_restarted_counter_goes_on() -> None:
    assert unwrapped(np.array([100.0, 110.0, 3.0, 5.0])).tolist() == [0, 10, 13, 15]


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=50))
def test_a_counter_never_falls(values: list[float]) -> None:
    assert (np.diff(unwrapped(np.array(values))) >= 0).all()


def test_a_rate_needs_half_of_the_window() -> None:
    t, v = np.array([0.0, 1.0, 2.0]), np.array([5.0, 7.0, 9.0])
    assert mean_rate(t, v, 0, 2) == 2
    assert mean_rate(t, v, 0, 4) == 2
    assert mean_rate(t, v, 0, 4.1) is None
    assert mean_rate(t[:1], v[:1], 0, 1) is None
    assert rates(t, v)[1].tolist() == [2, 2]


def test_cpu_per_operation_of_client_lab_and_servers() -> None:
    seconds = [float(s) for s in range(11)]
    frame = system(
        ("lab", "cpu_seconds_total", [0.01 * s for s in seconds]),
        ("node1", "cpu_seconds_total", [0.5 * s for s in seconds]),
        ("node2", "cpu_seconds_total", [0.3 * s for s in seconds]),
    )
    found = costs(frame, phase_from_summary(facts(), {}))
    by_party = {c.party: c.cpu_us_per_op for c in found}
    assert by_party["client (engine)"] == pytest.approx(20)
    assert by_party["watching and lab"] == pytest.approx(100)
    assert client_cpu_us(found) == pytest.approx(120)
    assert by_party["node1"] == pytest.approx(5000)
    assert server_cpu_us(found) == pytest.approx(8000)


def test_what_is_sent_after_its_time_costs_no_less_than_the_rest() -> None:
    """Operations fell due in 4 s, and took 10 s to be sent and answered: all CPU of these is theirs."""
    frame = system(
        ("node1", "cpu_seconds_total", [0.5 * s for s in range(11)]),
        ("node1", "disk_read_bytes_total", [1000.0 * s for s in range(11)]),
    )
    phase = phase_from_summary(facts(seconds=4.0), {})
    found = {cost.party: cost for cost in costs(frame, phase)}
    assert found["node1"].cpu_us_per_op == pytest.approx(5000)
    assert found["client (engine)"].cpu_us_per_op == pytest.approx(20)
    assert found["client (engine)"].cores == pytest.approx(0.002)
    assert reasons(frame, phase)["disk_read_bytes_per_op"] == pytest.approx(10)


def test_several_writes_in_one_to_the_disk_are_seen_in_operations_and_not_in_bytes() -> None:
    frame = system(
        ("node1", "disk_write_bytes_total", [4000.0 * s for s in range(11)]),
        ("node1", "disk_writes_total", [2.0 * s for s in range(11)]),
    )
    found = reasons(frame, phase_from_summary(facts(), {}))
    assert found["disk_write_bytes_per_op"] == pytest.approx(40)
    assert found["disk_writes_per_op"] == pytest.approx(0.02)


def test_a_laboratory_that_gives_back_what_a_server_used_has_not_restarted() -> None:
    used = [30.0, 30.1, 33.2, 33.3, *(30.1 + 0.01 * s for s in range(7))]
    frame = system(("lab", "cpu_seconds_total", used))
    found = costs(frame, phase_from_summary(facts(), {}))
    assert next(c for c in found if c.party == "watching and lab").cores == pytest.approx(0.016)
    assert rates(*samples(frame, "lab", "cpu_seconds_total"))[1].max() == pytest.approx(0.1)


def test_operations_per_system_call_of_the_client() -> None:
    counted = {"reads": 250, "writes": 125, "requests": 1000, "answers": 1000}
    traffic = phase_from_summary(facts(traffic=counted), {}).traffic
    assert traffic is not None
    assert (traffic.requests_per_write, traffic.answers_per_read) == (8, 4)
    idle = phase_from_summary(facts(traffic=dict.fromkeys(counted, 0)), {}).traffic
    assert idle is not None
    assert idle.requests_per_write is None
    assert phase_from_summary(facts(traffic=None), {}).traffic is None, "the null driver has no sockets"
    assert phase_from_summary(facts(), {}).traffic is None, "an older result"


def test_masters_are_charged_apart() -> None:
    seconds = [float(s) for s in range(11)]
    cores = {"master1": 0.1, "node1": 0.5, "node2": 0.3}
    frame = system(*((name, "cpu_seconds_total", [c * s for s in seconds]) for name, c in cores.items()))
    found = costs(frame, phase_from_summary(facts(), {}), masters=("master1",))
    assert [(c.party, c.role) for c in found if c.role not in ("client", "machine")] == [
        ("node1", "server"), ("node2", "server"), ("nodes in all", "server"), ("master1", "master"),
        ("servers in all", "servers"),
    ]  # fmt: skip
    assert node_cpu_us(found) == pytest.approx(8000)
    assert master_cpu_us(found) == pytest.approx(1000)
    assert server_cpu_us(found) == pytest.approx(9000)
    without = costs(frame, phase_from_summary(facts(), {}))
    assert node_cpu_us(without) == server_cpu_us(without) == pytest.approx(9000)
    assert master_cpu_us(without) is None


def test_without_samples_the_engine_still_knows_its_cpu() -> None:
    empty = pl.DataFrame(
        schema={"t_ns": pl.Int64, "source": pl.String, "metric": pl.String, "value": pl.Float64}
    )
    found = costs(empty, phase_from_summary(facts(), {}))
    assert [c.party for c in found] == ["client (engine)"]
    assert server_cpu_us(found) is None


def test_balance_of_two_nodes() -> None:
    frame = system(
        ("node1", "server_client_reads_total", [30.0 * s for s in range(11)]),
        ("node2", "server_client_reads_total", [10.0 * s for s in range(11)]),
    )
    (only,) = balance(frame, phase_from_summary(facts(), {}))
    assert only.measure == "requests of clients"
    assert only.by_node == {"node1": pytest.approx(30), "node2": pytest.approx(10)}
    assert only.spread.max_over_mean == pytest.approx(1.5)
    assert only.spread.coefficient_of_variation == pytest.approx(0.5)


def test_a_master_serves_no_data_and_is_left_out_of_the_balance() -> None:
    sources = ("master1", "node1", "node2")
    frame = system(*((name, "server_regions", [float(n)] * 11) for n, name in enumerate(sources)))
    (only,) = balance(frame, phase_from_summary(facts(), {}), masters=("master1",))
    assert only.measure == "regions"
    assert only.by_node == {"node1": 1, "node2": 2}


def test_levels_hold_until_the_next_sample() -> None:
    rows = [(0, 9.0), (4, 1.0), (8, 5.0), (12, 7.0)]
    frame = pl.DataFrame(
        [{"t_ns": t * 1_000_000_000, "source": "node1", "metric": "m", "value": v} for t, v in rows]
    )
    window = Window(frame, 2_000_000_000, 10_000_000_000)
    assert window.mean("node1", "m") == pytest.approx((2 * 9 + 4 * 1 + 2 * 5) / 8)
    assert (window.lowest("node1", "m"), window.highest("node1", "m")) == (1, 5)
    quiet = Window(frame, 9_000_000_000, 11_000_000_000)
    assert quiet.highest("node1", "m") == quiet.lowest("node1", "m") == quiet.mean("node1", "m") == 5
    assert Window(frame, 20_000_000_000, 30_000_000_000).mean("node1", "m") == 7
    assert window.mean("node2", "m") is None
    assert (window.median("node1", "m"), window.median("node2", "m")) == (1, None)


def test_of_what_is_looked_at_now_and_then_an_old_finding_is_none_of_the_window() -> None:
    def found(counts: list[float], ages: list[float]) -> float | None:
        told = {"rit": counts, "oldest": ages}
        frame = system(*(("master1", metric, values) for metric, values in told.items()))
        return Window(frame, 13 * NS, 20 * NS).highest_anew("master1", "rit", "oldest")

    old = [9.0] * 11
    assert found(old, [0.4] * 11) == 0, "found before, when the table was made"
    assert found([0.0, *[9.0] * 10], [0.4] * 11) == 0, "found at the second second"
    assert found([*[9.0] * 5, *[0.0] * 6], [*[0.4] * 5, *[0.0] * 6]) == 0, "and seen to be over"
    assert found([*[9.0] * 5, *[2.0] * 6], [0.4] * 11) == 2
    assert found(old, [*[0.4] * 5, *[60.4] * 6]) == 9, "they are as many, and older"
    assert found([*[9.0] * 5, *[2.0] * 6], [0.4] * 7) == 2, "their age was not told every time"
    assert Window(system(("a", "b", [1.0] * 11)), 13 * NS, 20 * NS).highest_anew("a", "rit", "oldest") is None


def test_percentiles_that_servers_tell_are_not_averaged() -> None:
    """One sample of 40 among ones, and a node of ones: the worst node's median sample is 2."""
    told = {"node1": [1.0] * 11, "node2": [2.0] * 10 + [40.0]}
    frame = system(*((name, "server_sstables_per_read_p99", values) for name, values in told.items()))
    found = reasons(frame, phase_from_summary(facts(), {}))
    assert found["sstables_per_read_p99"] == 2


def test_the_page_cache_of_the_nodes_and_its_share_of_their_data() -> None:
    frame = system(
        *((node, "page_cache_bytes", [40.0] * 11) for node in ("node1", "node2")),
        *((node, "server_live_disk_bytes", [80.0] * 11) for node in ("node1", "node2")),
    )
    found = reasons(frame, phase_from_summary(facts(), {}))
    assert (found["page_cache_bytes"], found["page_cache_share"]) == (80, 0.5)
    assert reasons(system(), phase_from_summary(facts(), {}))["page_cache_share"] is None


def test_rates_and_levels_of_each_second() -> None:
    """A counter read every fourth second is spread over the seconds between; a level is what lasted."""
    waited = ("machine", "cpu_iowait_seconds_total", [0.0, 0.5, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0])
    pending = ("node1", "server_compactions_pending", [0.0, 0.0, 7.0, 7.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    frame, phase = system(waited, pending), phase_from_summary(facts(), {})
    share = by_second("machine_iowait_share", frame, phase, (), 2.0)
    assert share["second"].to_list() == list(range(10))
    assert share["y"].to_list() == pytest.approx([0.25, 0.25, 0, 0, 1, 0, 0, 0, 0, 0])
    assert by_second("compactions_pending", frame, phase)["y"].to_list() == [0, 7, 7, 7, 0, 0, 0, 0, 0, 0]
    sparse = frame.filter((pl.col("t_ns") // NS - 10) % 4 == 0)
    assert by_second("machine_iowait_share", sparse, phase, (), 2.0)["y"][:8].to_list() == pytest.approx(
        [0.125] * 4 + [0.25] * 4
    )
    assert by_second("gc_share", frame, phase).is_empty()


def test_what_left_long_ago_holds_in_no_second_and_time_that_steps_back_stands() -> None:
    """A node's last word is its level for 15 s more; the kernel's waiting time may fall (proc(5))."""
    told = system(("node1", "server_sstables", [4.0]), ("node2", "server_sstables", [1.0] * 40))
    phase = phase_from_summary(facts(end_ns=50 * NS, seconds=40.0), {})
    found = by_second("sstables", told, phase)["y"].to_list()
    assert (found[0], found[14], found[16], found[-1]) == (5, 5, 1, 1)
    waited = system(("machine", "cpu_iowait_seconds_total", [900.0, 901.0, 900.5, 900.9, 902.0]))
    phase = phase_from_summary(facts(end_ns=14 * NS, seconds=4.0), {})
    share = by_second("machine_iowait_share", waited, phase, (), 2.0)["y"]
    assert share.to_list() == pytest.approx([0.5, 0, 0, 0.5])


def test_a_count_in_whose_place_its_times_stand_is_read() -> None:
    """As several engines were once merged."""
    ops = {"READ": {"count": 9, "ok": 9, "not_yet": {"count": 4, "p99_ns": 5}}}
    assert phase_from_summary(facts(ops=ops), {}).total.not_yet == 4


def test_cpu_of_nodes_is_a_share_of_what_they_may_use_and_not_the_masters() -> None:
    """Two nodes use 0.2 cores each of 0.4, a master 0.1 of 0.2; where one has no limit, of the two cores."""
    used = {"node1": 0.2, "node2": 0.2, "master1": 0.1}
    frame = system(*((name, "cpu_seconds_total", [u * s for s in range(11)]) for name, u in used.items()))
    quotas = {"node1": 0.4, "node2": 0.4, "master1": 0.2, "node3": 0.4}

    def share(quotas: dict[str, float | None]) -> float | None:
        found = reasons(frame, phase_from_summary(facts(), {}), ["master1"], 2.0, quotas)
        return found["server_cpu_share"]

    assert share(quotas) == pytest.approx(0.5)
    assert share({**quotas, "node2": None}) == share({}) == pytest.approx(0.2)


def test_how_far_the_nodes_parts_lie_apart() -> None:
    """Shares of 1, 2 and 3 a second: the highest over the mean, and the population's variation. Masters share
    nothing; of data that no node tells of nothing is said."""
    told = [
        (f"node{n}", metric, [float(n * s) for s in range(11)])
        for n in (1, 2, 3)
        for metric in ("cpu_seconds_total", "server_client_reads_total", "server_local_writes_total")
    ]
    frame = system(*told, ("master1", "cpu_seconds_total", [50.0 * s for s in range(11)]))
    found = reasons(frame, phase_from_summary(facts(), {}), ["master1"])
    for name in ("requests", "replica", "cpu"):
        assert found[f"{name}_imbalance"] == pytest.approx(1.5)
        assert found[f"{name}_variation"] == pytest.approx(np.std([1, 2, 3]) / 2)
    assert (found["data_imbalance"], found["data_variation"]) == (None, None)


def test_requests_are_shared_as_the_client_counted_where_it_names_nodes() -> None:
    """Of its phase alone; a node that was never sent any has none, and servers' counters are for a client
    that does not know."""
    told = [(f"node{n}", "server_client_reads_total", [float(n * s) for s in range(11)]) for n in (1, 2, 3)]
    frame = system(*told, ("master1", "cpu_seconds_total", [50.0 * s for s in range(11)]))
    phase = phase_from_summary(facts(), {})
    count = phase.total.count

    def found(*rows: tuple[str, int, str, int]) -> dict[str, float | None]:
        columns = {"phase": pl.String, "t_ns": pl.Int64, "coordinator": pl.String, "attempts": pl.Int64}
        return reasons(
            frame, phase, ["master1"], coordinators=pl.DataFrame(rows, schema=columns, orient="row")
        )

    start = phase.start_ns
    sent = found(
        (phase.name, start, "a", count), (phase.name, start, "b", count), (phase.name, start + 1, "b", count),
        ("warmup", start, "c", 99), (phase.name, start - 1, "c", 99),
    )  # fmt: skip
    assert sent["requests_imbalance"] == pytest.approx(2.0)
    assert sent["requests_variation"] == pytest.approx(np.std([1, 2, 0]))
    assert found()["requests_imbalance"] == pytest.approx(1.5)
    buffered = found((phase.name, start, "a", count // 2))
    joined = found(*((phase.name, start, name, count) for name in "abcd"))
    assert buffered["requests_imbalance"] == joined["requests_imbalance"] == pytest.approx(1.5)


def test_a_node_is_held_back_in_a_share_of_its_quotas_periods() -> None:
    seconds = [float(n) for n in range(11)]
    frame = system(
        ("node1", "cpu_throttled_seconds_total", [1.4 * n for n in seconds]),  # of two processors
        ("node1", "cpu_throttled_periods_total", [7 * n for n in seconds]),
        ("node1", "cpu_periods_total", [10 * n for n in seconds]),
        ("node2", "cpu_throttled_periods_total", [0.0] * 11),
        ("node2", "cpu_periods_total", [0.0] * 11),
    )
    window = Window(frame, 10 * NS, 20 * NS)
    shares = [window.held_back(name) for name in ("node1", "node2", "node3")]
    assert shares == [pytest.approx(0.7), 0.0, None]


def test_what_servers_tell_of_themselves() -> None:
    seconds = range(11)
    frame = system(
        ("node1", "server_native_pending", [0.0, 7.0, *[1.0] * 9]),
        ("node2", "server_calls_pending", [2.0] * 11),
        ("node2", "server_block_cache_hits_total", [30.0 * s for s in seconds]),
        ("node2", "server_block_cache_misses_total", [10.0 * s for s in seconds]),
        ("node1", "server_block_cache_hits_total", [5.0] * 11),
        ("node1", "server_block_cache_misses_total", [5.0] * 11),
        ("master1", "server_region_servers_live", [3.0, 3.0, 2.0, *[3.0] * 8]),
    )
    found = {i.measure: i.by_source for i in inside(frame, phase_from_summary(facts(), {}))}
    assert found == {
        "requests waiting, most": {"node1": 7, "node2": 2},
        "block cache hits": {"node2": pytest.approx(0.75)},
        "region servers alive, least": {"master1": 2},
    }


def test_equal_nodes_do_not_lie_apart() -> None:
    assert spread([4.0, 4.0, 4.0]) == spread([1.0, 1.0])
    assert spread([1.0]) is None
    assert spread([0.0, 0.0]) is None


def test_engines_side_by_side() -> None:
    parts = [{"ops": {"READ": {"count": 1, "response": distribution(p)}}, "seconds": 1.0} for p in (1e6, 3e6)]
    found = engine_spread(phase_from_summary(facts(engines=parts), {}), ("a", "root@b"))
    assert (found[0].by_engine_ns, found[0].engines) == ((1e6, 3e6), ("a", "root@b"))
    assert found[0].coefficient_of_variation == pytest.approx(0.5)


def test_how_far_engines_lie_apart() -> None:
    def part(count: int, p95_ms: float, flushes: int = 0) -> dict[str, object]:
        read = {"count": count, "service": distribution(p95_ms * 1e6)}
        return {"ops": {"READ": read, "FLUSH": {"count": flushes}}, "seconds": 1.0}

    parts = [part(100, 1.0, flushes=50), part(300, 3.0)]
    found = engines_apart(phase_from_summary(facts(engines=parts), {}))
    assert found["engines_throughput_spread"] == pytest.approx(0.5)  # what flushes send is counted once
    assert found["engines_p99_spread"] == pytest.approx(0.5)
    alone = engines_apart(phase_from_summary(facts(engines=parts[:1]), {}))
    assert set(alone.values()) == {None}


def test_repetitions() -> None:
    found = repeated([1.0, None, 3.0])
    assert found is not None
    assert (found.count, found.mean, found.min, found.max) == (2, 2, 1, 3)
    assert repeated([None]) is None
    percentile = repeated([1.0, 3.0], merged=2.7)
    assert percentile is not None
    assert (percentile.mean, percentile.merged) == (None, 2.7)


def test_whose_backlog() -> None:
    found = saturation(np.array([0.0, 5, 9, 9, 0]), np.array([1.0, 4, 8, 8, 1]), 8)
    assert (found.seconds_saturated, found.seconds_cap_reached, found.max_backlog) == (1, 2, 9)


def test_a_long_tail_does_not_lower_the_rate_that_was_kept() -> None:
    due, done = np.array([10.0] * 30 + [0] * 10), np.array([10.0] * 30 + [0] * 9 + [1])
    assert completed_while_due(due, done, 39.9) == 10
    assert completed_while_due(due[:1], done[:1], 0.99) is None
    half = np.array([10.0, 10, 10, 5])
    assert completed_while_due(half, half, 3.5) == completed_while_due(half, half, 9) == 10
    assert kept(9.8, 10, 30, poisson=False)
    assert not kept(9.7, 10, 30, poisson=False)
    assert kept(9.0, 10, 30, poisson=True)


def test_littles_law() -> None:
    assert little(8, 1000, 0.008).holds
    assert not little(8, 1000, 0.0075).holds


def test_total_comes_from_its_histogram() -> None:
    histogram = HdrHistogram(1, 3600 * NS, 3)
    for value in range(1, 1001):
        histogram.record_value(value * 1000)
    phase = phase_from_summary(facts(), {"TOTAL.response": histogram})
    assert phase.total.response.p50_ns == pytest.approx(500_000, rel=0.002)
    assert phase.total.response.mean_ns == pytest.approx(histogram.get_mean_value(), rel=1e-12)
    assert phase.total.failed == 10
    assert phase.ok_per_s == 99
    assert phase.closed
    quantiles, values = spectrum(histogram)
    assert quantiles[0] == 0
    assert (np.diff(values) >= 0).all()
    assert values[-1] == pytest.approx(1_000_000, rel=0.002)


def test_nothing_recorded_is_nothing() -> None:
    assert from_summary(None).count == 0
    assert from_summary({"count": 0}).p99_ns is None
    assert from_histogram(HdrHistogram(1, NS, 3)).count == 0


@pytest.mark.parametrize(("arrivals", "kind", "rate"), [
    ({"kind": "closed"}, "closed", None), ("closed", "closed", None), (None, "closed", None),
    ({"kind": "poisson", "rate": 5.0}, "poisson", 5.0),
])  # fmt: skip
def test_arrivals(arrivals: Any, kind: str, rate: float | None) -> None:
    phase = phase_from_summary(facts(arrivals=arrivals), {})
    assert (phase.arrivals, phase.target_per_s) == (kind, rate)


def test_what_the_engine_said_of_each_second_is_counted() -> None:
    said = ["kept", "starved", "cap_reached", "starved", "saturated"]
    found = of_states(said, np.array([0.0, 5, 9, 2, 1]))
    assert found == Saturation(1, 1, 9, 2)


def test_throughput_is_of_the_window_in_which_operations_were_offered() -> None:
    straggler = facts(operations=600, ok=600, seconds=60.0, within={"operations": 599, "ok": 598})
    found = phase_from_summary(straggler, {})
    assert found.ok_per_s == pytest.approx(598 / 60)
    assert found.total.rate_per_s == pytest.approx(599 / 60)
    earlier = phase_from_summary(facts(operations=600, ok=600, seconds=60.0), {})
    assert earlier.ok_per_s == 10, "results of before counted all"


@pytest.mark.parametrize(
    ("rate", "seconds", "mean"),
    [
        (None, 10, None),
        (5.0, 10, 5),
        ([[0, 0], [10, 100]], 10, 50),
        ([[0, 0], [10, 100]], 5, 25),
        ([[0, 100], [5, 100], [5, 300]], 10, 200),
        ([[0, 100], [1, 0]], 10, 5),
    ],
)
def test_the_mean_rate_of_a_curve_is_the_area_below_it(
    rate: object, seconds: float, mean: float | None
) -> None:
    assert mean_offered(rate, seconds) == mean  # type: ignore[arg-type]
