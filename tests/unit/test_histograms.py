"""What is read from a histogram at once is what the library finds one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram

from steelyard.results.histograms import held, highest, mean

HOUR_NS = 3600 * 10**9
EDGES = [1, 1023, 1024, 2047, 2048, 2049, 4095, 4096, HOUR_NS]
"""Where buckets become wider, and the ends."""


@pytest.mark.parametrize("least", [1, 1000], ids=["to the nanosecond", "to the microsecond"])
def test_buckets_are_those_of_the_library(least: int) -> None:
    histogram = HdrHistogram(least, HOUR_NS, 3)
    for value in [*EDGES, *np.geomspace(1, HOUR_NS, 500).astype(int).tolist()]:
        assert histogram.record_value(value, 1 + value % 3)
    each = [
        (item.value_iterated_to, item.count_at_value_iterated_to)
        for item in histogram.get_recorded_iterator()
    ]
    assert [*zip(*(column.tolist() for column in highest(histogram)), strict=True)] == each
    lows = held(histogram)[0].tolist()
    assert lows == [histogram.get_lowest_equivalent_value(top) for top, _ in each]
    assert mean(histogram) == pytest.approx(histogram.get_mean_value(), rel=1e-12)
