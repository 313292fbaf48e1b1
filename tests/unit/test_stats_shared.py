"""Cells that stand on the same starts err together: one start is not counted as many."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.analysis.claims.curves import slope_of
from steelyard.analysis.claims.pooling import chance, geometric_mean, pooled
from steelyard.analysis.evidence.samples import Sample, versus
from steelyard.analysis.stats.runs import Contrast, Runs

CELLS, STARTS = 8, 6
MEAN, PERCENTILE = "read_service_mean_ns", "read_service_p99_ns"


def cells(rng: np.random.Generator, metric: str, *, side: int, noise: float = 0.02) -> list[Sample]:
    """Cells of one cluster on the same six starts, which scatter by 10 %; nothing tells them apart."""
    starts = rng.normal(0, 0.1, STARTS)
    keys = [(side, n) for n in range(STARTS)]
    return [
        Sample(metric, Runs(np.exp(starts + rng.normal(0, noise, STARTS)).tolist(), keys, keys))
        for _ in range(CELLS)
    ]


def between(seed: int, metric: str) -> list[Sample]:
    rng = np.random.default_rng(seed)
    return [*zip(cells(rng, metric, side=0), cells(rng, metric, side=1), strict=True)]  # type: ignore[arg-type]


@pytest.mark.parametrize("metric", [MEAN, PERCENTILE])
def test_equal_clusters_are_told_apart_in_no_more_studies_than_the_level_allows(metric: str) -> None:
    told = [chance([versus(a, b) for a, b in between(seed, metric)]) < 0.05 for seed in range(300)]
    assert sum(told) / len(told) <= 0.09, (
        "5 %, and what 300 studies may bring; eight cells as independent: 40 %"
    )


def test_the_interval_of_clusters_that_differ_holds_the_truth() -> None:
    held = []
    for seed in range(300):
        found = [versus(a, b) for a, b in between(seed, MEAN)]
        held.append(not geometric_mean(found).excludes(1.0))
    assert sum(held) / len(held) >= 0.91


def test_a_start_is_one_value_however_many_cells_it_has() -> None:
    found = [versus(a, b) for a, b in between(1, MEAN)]
    assert all(isinstance(one, Contrast) for one in found)
    together = pooled([one for one in found if isinstance(one, Contrast)])
    assert together.freedom <= 2 * (STARTS - 1) + 1e-9
    alone = min(one.error for one in found if isinstance(one, Contrast))
    assert together.error == pytest.approx(alone, rel=0.35), "eight cells on six starts know it no better"


def test_where_a_start_lacks_a_cell_errors_are_averaged() -> None:
    pairs = between(2, MEAN)
    a, b = pairs[0]
    runs = Runs(a.runs.values[:-1], a.runs.starts[:-1], a.runs.loads[:-1])
    found = [versus(Sample(MEAN, runs), b), *(versus(c, d) for c, d in pairs[1:])]
    plain = [one for one in found if isinstance(one, Contrast)]
    assert pooled(plain).error == pytest.approx(np.mean([one.error for one in plain]))
    assert pooled(plain).freedom == min(one.freedom for one in plain)


@pytest.mark.parametrize("metric", [MEAN, PERCENTILE])
def test_lines_on_the_same_starts_have_one_slope(metric: str) -> None:
    """Three cluster sizes, each with starts of its own, eight lines through them."""
    told = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        sizes = {size: cells(rng, metric, side=side) for side, size in enumerate((1.0, 2.0, 4.0))}
        told.append(slope_of([{size: of[n] for size, of in sizes.items()} for n in range(CELLS)]).p < 0.05)
    assert sum(told) / len(told) <= 0.1


def test_runs_of_one_start_are_units_that_no_other_cell_has() -> None:
    one = Sample(MEAN, Runs([1.0, 1.1, 1.2], ["s"] * 3, ["l"] * 3))
    assert one.ids == {}
    assert Sample(MEAN, Runs([1.0, 1.1, 1.2])).ids == {}
