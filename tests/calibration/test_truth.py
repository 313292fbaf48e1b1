"""The truth itself, against figures made elsewhere and cases that can be done by hand."""

from __future__ import annotations

import random

import numpy as np
import pytest

from steelyard.calibrate.draws import LATENCY, MASK, engine_unit, fake_unit, fold
from steelyard.calibrate.laws import Bimodal, Constant, Lognormal, OneStall, PeriodicStall, Ramp
from steelyard.calibrate.truth import due_times, percentiles, queue

MS = 1_000_000


def test_the_fakes_draws_are_made_again() -> None:
    """The figures stand in crates/fakes/src/draw.rs too."""
    numbers = np.array([0, 1, 2, 1_000_000], dtype=np.uint64)
    expected = [0.5463748595192425, 0.5989236783455444, 0.2634924021404329, 0.6024976591943584]
    assert fake_unit(7, LATENCY, numbers) == pytest.approx(expected, abs=1e-15)


def test_the_product_of_128_bits_is_that_of_whole_numbers() -> None:
    draw = random.Random(1)  # noqa: S311 - seeded on purpose
    pairs = [(draw.getrandbits(64), draw.getrandbits(64)) for _ in range(1000)] + [(MASK, MASK), (0, MASK)]
    a, b = (np.array(side, dtype=np.uint64) for side in zip(*pairs, strict=True))
    assert fold(a, b).tolist() == [(x * y & MASK) ^ (x * y >> 64) for x, y in pairs]


def test_due_times_are_the_engines() -> None:
    """The figures stand in crates/engine/tests/due_times.rs too, made by the engine's own schedule."""
    constant = due_times(7, {"kind": "constant", "rate": 3000.0}, 1000, 5)
    assert constant.tolist() == [1_000, 334_333, 667_667, 1_001_000, 1_334_333]
    poisson = due_times(7, {"kind": "poisson", "rate": 10_000.0}, 1000, 100_000)
    assert poisson[[0, 1, 2, 99_999]].tolist() == [235_665, 249_183, 286_121, 9_980_832_297]


def test_gaps_are_exponential() -> None:
    gaps = -np.log(1 - engine_unit(3, 8, np.arange(100_000, dtype=np.uint64)))
    assert gaps.mean() == pytest.approx(1, abs=0.02)
    assert gaps.std() == pytest.approx(1, abs=0.02)


def test_percentiles_are_ranks_of_the_sorted_values() -> None:
    values = np.random.default_rng(1).permutation(np.arange(1, 1001, dtype=np.int64)) * 1000
    assert percentiles(values) == {"p50": 500, "p90": 900, "p99": 990, "p99.9": 999}
    assert percentiles(values[:0]) == {}


def test_a_stalled_server_lets_a_queue_grow_and_drain() -> None:
    """1 op/ms, 0.5 ms of work, one at a time, standing still from 10 ms to 20 ms."""
    law = OneStall(500, at_ms=10, stall_ms=10)
    due = np.arange(40, dtype=np.int64) * MS
    responses = queue(due, law, 1, 0, 1) / MS
    assert responses[:10] == pytest.approx([0.5] * 10)
    # at 10 ms: work is done at 20.5, then each half a millisecond later while they fall due each millisecond
    assert responses[10:20] == pytest.approx([10.5 - 0.5 * k for k in range(10)])
    assert responses[31:] == pytest.approx([0.5] * 9)


def test_without_a_cap_a_stall_is_what_each_operation_waits() -> None:
    law = OneStall(500, at_ms=10, stall_ms=10)
    due = np.arange(40, dtype=np.int64) * MS
    responses = queue(due, law, 1, 0, 1000) / MS
    assert responses[10:20] == pytest.approx([10.5 - k for k in range(10)])


def test_work_is_as_the_laws_say() -> None:
    numbers = np.arange(100_000, dtype=np.uint64)
    lognormal = Lognormal(500, 0.5).work(5, numbers) / 1e3
    assert np.median(lognormal) == pytest.approx(500, rel=0.01)
    assert np.log(lognormal).std() == pytest.approx(0.5, rel=0.01)
    slow = np.count_nonzero(Bimodal(1, 2, 0.02).work(5, numbers) == 2000)
    assert slow == pytest.approx(2000, abs=200)
    assert Constant(7).work(5, numbers[:2]).tolist() == [7000, 7000]


def test_stalls_and_ramps_by_hand() -> None:
    """As the tests of crates/fakes/src/law.rs."""
    periodic = PeriodicStall(1000, every_ms=100, stall_ms=10)
    came = [0, 99.5, 105, 150, 300]
    done = [periodic.done(int(ms * MS), MS) / MS for ms in came]
    assert done == [1, 110.5, 111, 151, 311]
    ramp = Ramp(100, 300, over_ms=10)
    assert [ramp.done(ms * MS, 0) - ms * MS for ms in (0, 5, 10, 99)] == [100_000, 200_000, 300_000, 300_000]
