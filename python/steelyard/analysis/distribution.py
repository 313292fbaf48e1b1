"""Latency distributions: from a summary's dictionary or from a histogram, and the spectrum of a histogram."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

from steelyard.results.histograms import mean, percentiles

QUANTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p999": 99.9, "p9999": 99.99}
"""Field name (docs/format.md, phase summary) -> percentile."""

SPECTRUM_STEPS_PER_DECADE = 16
"""Points of a spectrum for each tenfold of 1/(1-q): smooth at 1,000 pixels, small on disk."""


@dataclass(frozen=True)
class Distribution:
    """One distribution of times, in nanoseconds; `None` where nothing was recorded."""

    count: int
    mean_ns: float | None = None
    min_ns: float | None = None
    p50_ns: float | None = None
    p90_ns: float | None = None
    p95_ns: float | None = None
    p99_ns: float | None = None
    p999_ns: float | None = None
    p9999_ns: float | None = None
    max_ns: float | None = None


EMPTY = Distribution(count=0)


def from_summary(facts: Mapping[str, Any] | None) -> Distribution:
    """A distribution as the engine wrote it in a phase summary."""
    if not facts or not facts.get("count"):
        return EMPTY
    times = {name: facts.get(name) for name in Distribution.__dataclass_fields__ if name != "count"}
    return Distribution(count=int(facts["count"]), **times)


def from_histogram(histogram: HdrHistogram | None) -> Distribution:
    """A distribution of a (merged) histogram of nanoseconds."""
    if histogram is None or not histogram.get_total_count():
        return EMPTY
    at = percentiles(histogram, list(QUANTILES.values()))
    return Distribution(
        count=int(histogram.get_total_count()),
        mean_ns=mean(histogram),
        min_ns=float(histogram.get_min_value()),
        max_ns=float(histogram.get_max_value()),
        **{f"{name}_ns": value for name, value in zip(QUANTILES, at, strict=True)},
    )


def spectrum_quantiles(count: int) -> NDArray[np.float64]:
    """Quantiles 0 <= q < 1 at even steps of log 1/(1-q), as far as `count` samples can tell them apart."""
    decades = np.log10(max(count, 1))
    steps = int(np.ceil(decades * SPECTRUM_STEPS_PER_DECADE)) + 1
    return 1.0 - np.logspace(0, -decades, steps)


def spectrum(histogram: HdrHistogram) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(quantiles, values in nanoseconds) of a histogram, for a percentile spectrum."""
    quantiles = spectrum_quantiles(int(histogram.get_total_count()))
    return quantiles, np.array(percentiles(histogram, [float(q * 100) for q in quantiles]))
