"""The lines of one section for each measurement type of YCSB, all from the histograms of the engine."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from hdrh.histogram import HdrHistogram

from steelyard.ycsb.choices import Choices
from steelyard.ycsb.java import LONG_MAX

Row = tuple[str, str, float]
Log = Iterable[tuple[str, float, HdrHistogram]]


@dataclass(frozen=True)
class Section:
    """One section of the output.

    Attributes:
        name: as printed.
        tag: of its histograms in the engine's logs.
        histogram: latencies (ns) over the whole phase; None = nothing was measured.
        returns: YCSB's status -> how many operations ended with it.
    """

    name: str
    tag: str
    histogram: HdrHistogram | None
    returns: Mapping[str, int] = field(default_factory=dict)


US, MS = 1_000, 1_000_000
"""Nanoseconds of a microsecond and of a millisecond."""


def whole_us(ns: float) -> int:
    """The nearest microsecond: a histogram's edges lie a little beside what was measured."""
    return int(ns / US + 0.5)


def least_us(histogram: HdrHistogram | None) -> int:
    """The least latency; of none YCSB says the greatest number there is."""
    return whole_us(histogram.get_min_value()) if histogram and histogram.get_total_count() else LONG_MAX


def most_us(histogram: HdrHistogram | None) -> int:
    """The greatest latency."""
    return whole_us(histogram.get_max_value()) if histogram else 0


def mean_us(histogram: HdrHistogram | None) -> float:
    """The mean latency; NaN of none."""
    if not (histogram and histogram.get_total_count()):
        return math.nan
    return float(histogram.get_mean_value()) / US


def percentile_us(histogram: HdrHistogram | None, percentile: float) -> int:
    """A percentile of the latencies."""
    if not (histogram and histogram.get_total_count()):
        return 0
    return whole_us(min(histogram.get_value_at_percentile(percentile), histogram.get_max_value()))


def pairs_ns(histogram: HdrHistogram | None) -> Iterator[tuple[int, int]]:
    """(latency, count) of every latency that was seen."""
    if histogram:
        for item in histogram.get_recorded_iterator():
            yield int(item.value_iterated_to), int(item.count_added_in_this_iter_step)


def percentiled(section: Section, choices: Choices) -> Iterator[Row]:
    """Measurement type `hdrhistogram`."""
    name, histogram = section.name, section.histogram
    yield from _head(section)
    for word in choices.percentiles:
        yield name, f"{_ordinal(word)}PercentileLatency(us)", percentile_us(histogram, float(word))
    yield from _returns(section)
    if choices.verbose:
        for us, count in _by_unit(histogram, US).items():
            yield name, str(us), float(count)


def bucketed(section: Section, choices: Choices) -> Iterator[Row]:
    """Measurement type `histogram`: whole milliseconds, an overflow above."""
    name, histogram = section.name, section.histogram
    operations, average, *extremes = _head(section)
    count, mean = operations[2], average[2]
    squares = sum(n * (ns / US - mean) ** 2 for ns, n in pairs_ns(histogram))
    yield from (operations, average)
    yield name, "LatencyVariance(us)", squares / count if count else math.nan
    yield from extremes
    for percent in (95, 99):
        us = percentile_us(histogram, percent)
        if choices.exact:
            yield name, f"{percent}thPercentileLatency(us)", us
        elif us // 1000 < choices.buckets:
            yield name, f"{percent}thPercentileLatency(us)", us // 1000 * 1000
    yield from _returns(section)
    if choices.verbose:
        by_ms = _by_unit(histogram, MS)
        for ms in range(choices.buckets):
            yield name, str(ms), by_ms.get(ms, 0)
        yield name, f">{choices.buckets}", sum(n for ms, n in by_ms.items() if ms >= choices.buckets)


def series(section: Section, log: Log, choices: Choices) -> Iterator[Row]:
    """Measurement type `timeseries`: the mean of each granule of the run."""
    yield from _head(section)
    yield from _returns(section)
    means = _granules(log, section.tag, choices.granularity_ms)
    for granule in range(max(means, default=-1) + 1):
        yield section.name, str(granule * choices.granularity_ms), means.get(granule, math.nan)


def _granules(log: Log, tag: str, granularity_ms: int) -> dict[int, float]:
    """Mean latency (us) of each granule that has one."""
    sums: dict[int, tuple[float, int]] = {}
    for found, second, histogram in log:
        if found == tag and (count := histogram.get_total_count()):
            granule = round(second * 1000) // granularity_ms
            total, n = sums.get(granule, (0.0, 0))
            sums[granule] = (total + mean_us(histogram) * count, n + count)
    return {granule: total / n for granule, (total, n) in sums.items()}


def _head(section: Section) -> Iterator[Row]:
    name, histogram = section.name, section.histogram
    yield name, "Operations", histogram.get_total_count() if histogram else 0
    yield name, "AverageLatency(us)", mean_us(histogram)
    yield name, "MinLatency(us)", least_us(histogram)
    yield name, "MaxLatency(us)", most_us(histogram)


def _returns(section: Section) -> Iterator[Row]:
    for status, count in section.returns.items():
        yield section.name, f"Return={status}", count


def _by_unit(histogram: HdrHistogram | None, unit: int) -> dict[int, int]:
    """Count of each whole unit."""
    counts: dict[int, int] = {}
    for ns, count in pairs_ns(histogram):
        counts[ns // unit] = counts.get(ns // unit, 0) + count
    return counts


def _ordinal(word: str) -> str:
    """`95th`, `1st`, `99.9`: whole numbers have a suffix."""
    value = float(word)
    if not value.is_integer():
        return word
    number = int(value)
    teens = 11 <= number % 100 <= 13
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
