"""The search for the highest rate, on synthetic systems whose truth is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from steelyard.lab.search.answered import Answered, answered
from steelyard.lab.search.rates import MOST_PROBES, Limits, Probe, Search, staggered

Measured = tuple[float, float | None]
System = Callable[[float], Measured]
MS = 1e6


def probe(limits: Limits, rate: float, ok_per_s: float, latency_ns: float | None) -> Probe:
    """All that was offered fell due, and nothing is left to chance."""
    return limits.judge(rate, Answered(rate, ok_per_s, 0.0), latency_ns)


def run(system: System, limits: Limits) -> Search:
    search = Search(limits)
    while search.reason is None:
        search.tell(probe(limits, search.rate, *system(search.rate)))
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


@pytest.mark.parametrize("precision", [0.02, 0.1, 0.5])
def test_the_ladders_of_several_seeds_spread_what_is_found_over_a_step(precision: float) -> None:
    """On average they lie in the step's middle, wherever between rungs the truth is."""
    for capacity in (1000.0, 1000.0 * (1 + precision) ** 0.5):
        starts = [staggered(100.0, precision, seed) for seed in range(200)]
        found = [run(queue(capacity), Limits(start, precision=precision)).found or 0.0 for start in starts]
        assert len(set(found)) == 200
        assert max(found) / min(found) <= (1 + precision) * 1.0001
        middle = float(np.exp(np.mean(np.log(found)))) / capacity
        # what is answered is 98 % of the capacity and more, so that up to 2 % beyond it is borne
        assert (1 + precision) ** -0.6 < middle < 1.02
    assert staggered(100.0, precision, 7) == staggered(100.0, precision, 7)


def test_a_bound_is_met_where_the_latency_reaches_it() -> None:
    """1 ms / (1 - rate / 1000) is 5 ms at a rate of 800."""
    search = run(queue(1000.0), Limits(100.0, precision=0.02, bound_ns=5 * MS))
    assert search.found is not None
    assert 800 / 1.021 <= search.found <= 800
    assert all(
        one.borne == (one.rate_per_s < 800.001)
        for one in search.probes
        if one.rate_per_s != pytest.approx(800)
    )


def test_both_must_hold() -> None:
    limits = Limits(1.0, bound_ns=5 * MS)
    assert probe(limits, 100, 98, 5 * MS).borne
    assert not probe(limits, 100, 97, 1 * MS).borne, "answered too little"
    assert not probe(limits, 100, 100, 6 * MS).borne, "too late"
    assert not probe(limits, 100, 100, None).borne, "nothing is known of its latency"
    assert probe(Limits(1.0), 100, 100, None).borne, "without a bound only what was answered counts"


PROBE_S = 5


def probed(due_s: np.ndarray, service_s: np.ndarray, failed: int = 0) -> bool:
    """Whether operations due and answered at these times are borne; the first `failed` of them fail."""
    done_s, rate = due_s + service_s, due_s.size / PROBE_S
    times = (due_s, done_s, done_s[failed:])
    counts = [np.bincount(one.astype(int), minlength=60).astype(float) for one in times]
    return Limits(rate).judge(rate, answered(*counts, PROBE_S), None).borne


def single(due_s: np.ndarray, each_s: float) -> np.ndarray:
    """Times from due to answered behind one server that takes as long for each."""
    free, waits = 0.0, []
    for due in due_s:
        free = max(free, due) + each_s
        waits.append(free - due)
    return np.array(waits)


def test_an_answer_late_at_the_end_of_a_probe_does_not_fail_it() -> None:
    due = np.arange(500) / 100
    service = np.full(500, 0.001)
    service[-1] = 0.15
    assert probed(due, service)
    assert probed(due, np.full(500, 0.4)), "a system that takes 400 ms for each keeps up as well"


@pytest.mark.parametrize(("rate", "service_s"), [(10, 0.1), (100, 0.001), (100, 0.05), (2000, 0.02)])
def test_poisson_arrivals_that_are_all_answered_are_borne(rate: int, service_s: float) -> None:
    rng = np.random.default_rng(1)
    borne = []
    for _ in range(300):
        due = np.sort(rng.uniform(0, PROBE_S, rng.poisson(rate * PROBE_S)))
        borne.append(probed(due, rng.exponential(service_s, due.size)))
    assert np.mean(borne) >= 0.97


@pytest.mark.parametrize("rate", [20, 100, 2000])
def test_what_a_system_cannot_keep_up_with_is_not_borne(rate: int) -> None:
    rng = np.random.default_rng(2)
    due = np.sort(rng.uniform(0, PROBE_S, rate * PROBE_S))
    assert not probed(due, single(due, 1 / (0.8 * rate)))
    assert not probed(np.arange(rate * PROBE_S) / rate, np.full(rate * PROBE_S, 1e-3), failed=rate * 2)


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
