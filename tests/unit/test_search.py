"""The search for the highest rate, on synthetic systems whose truth is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from steelyard.lab.search.rates import MOST_PROBES, Limits, Probe, Search

Measured = tuple[float, float | None]
System = Callable[[float], Measured]
MS = 1e6


def run(system: System, limits: Limits) -> Search:
    search = Search(limits)
    while search.reason is None:
        search.tell(limits.judge(search.rate, *system(search.rate)))
    return search


def queue(capacity: float, service_ms: float = 1.0) -> System:
    """M/M/1: what is asked is answered up to the capacity, and latency grows towards it without end."""

    def measure(rate: float) -> Measured:
        if rate >= capacity:
            return capacity, 10_000 * MS
        return rate, service_ms * MS / (1 - rate / capacity)

    return measure


@pytest.mark.parametrize("start", [10.0, 1000.0, 50_000.0])
@pytest.mark.parametrize("capacity", [123.0, 5_000.0, 40_000.0])
def test_saturation_is_found_from_anywhere(start: float, capacity: float) -> None:
    search = run(queue(capacity), Limits(start, precision=0.05))
    assert search.reason == "confirmed"
    assert search.found is not None
    assert capacity / 1.06 <= search.found <= capacity / 0.98
    assert len(search.probes) < 30


def test_a_bound_is_met_where_the_latency_reaches_it() -> None:
    """1 ms / (1 - rate / 1000) is 5 ms at a rate of 800."""
    search = run(queue(1000.0), Limits(100.0, precision=0.02, bound_ns=5 * MS))
    assert search.found is not None
    assert 800 / 1.021 <= search.found <= 800
    assert all(
        probe.borne == (probe.rate_per_s < 800.001)
        for probe in search.probes
        if probe.rate_per_s != pytest.approx(800)
    )


def test_both_must_hold() -> None:
    limits = Limits(1.0, bound_ns=5 * MS)
    assert limits.judge(100, 98, 5 * MS).borne
    assert not limits.judge(100, 97, 1 * MS).borne, "answered too little"
    assert not limits.judge(100, 100, 6 * MS).borne, "too late"
    assert not limits.judge(100, 100, None).borne, "nothing is known of its latency"
    assert Limits(1.0).judge(100, 100, None).borne, "without a bound only what was answered counts"


def noisy(system: System, scatter: float, seed: int) -> System:
    rng = np.random.default_rng(seed)

    def measure(rate: float) -> Measured:
        ok, latency = system(rate)
        assert latency is not None
        return ok, latency * float(np.exp(rng.normal(0, scatter)))

    return measure


def test_noise_moves_the_answer_little() -> None:
    """Latencies that scatter by 15 % from probe to probe, at a bound of 5 ms."""
    limits = Limits(100.0, precision=0.03, bound_ns=5 * MS)
    found = [run(noisy(queue(1000.0), 0.15, seed), limits) for seed in range(200)]
    rates = [search.found for search in found if search.found]
    assert len(rates) >= 195
    assert np.median(rates) == pytest.approx(800, rel=0.04)
    assert np.quantile(rates, 0.05) > 730
    assert np.quantile(rates, 0.95) < 850


def test_one_bad_probe_decides_nothing() -> None:
    """A compaction during the second probe."""
    told = {"probes": 0}

    def measure(rate: float) -> Measured:
        told["probes"] += 1
        return (rate / 2, 900 * MS) if told["probes"] == 2 else queue(8000.0)(rate)

    search = run(measure, Limits(500.0))
    assert search.found is not None
    assert search.found > 8000 / 1.06
    assert [probe.borne for probe in search.probes[:4]] == [True, False, True, True]


def test_one_lucky_probe_decides_nothing() -> None:
    """The first probe far above the capacity seems to be borne."""
    told = {"probes": 0}

    def measure(rate: float) -> Measured:
        told["probes"] += 1
        return (rate, MS) if told["probes"] == 1 else queue(1000.0)(rate)

    search = run(measure, Limits(16_000.0))
    assert search.reason == "confirmed"
    assert search.found is not None
    assert 1000 / 1.06 <= search.found <= 1000 / 0.98


def test_the_least_and_the_most_are_kept() -> None:
    none = run(queue(5.0), Limits(100.0, least=20.0))
    assert (none.reason, none.found) == ("not even the least", None)
    assert min(probe.rate_per_s for probe in none.probes) == 20
    most = run(queue(1e6), Limits(100.0, most=3_000.0, confirm=3))
    assert (most.reason, most.found) == ("highest allowed", 3_000)
    assert [probe.rate_per_s for probe in most.probes[-3:]] == [3_000] * 3


def test_a_system_that_never_answers_alike_is_said_to_swing() -> None:
    """It gets worse with every probe, faster than the search can follow."""
    told = {"probes": 0}

    def measure(rate: float) -> Measured:
        told["probes"] += 1
        return queue(1e6 * 0.7 ** told["probes"])(rate)

    search = run(measure, Limits(1_000.0, least=1e-9))
    assert (search.reason, search.found) == ("swings", None)
    assert len(search.probes) == MOST_PROBES


def test_what_was_found_was_tried_again() -> None:
    search = run(queue(2_000.0), Limits(1_000.0, confirm=5))
    assert search.found is not None
    again = [probe for probe in search.probes if probe.rate_per_s == search.found]
    assert len(again) >= 4  # once on the way, and three of five that agree
    assert isinstance(again[0], Probe)
