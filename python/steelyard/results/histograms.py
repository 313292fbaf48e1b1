"""HdrHistogram logs as the engine writes them: one line per interval and tag."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

_LINE = re.compile(r"Tag=([^,]+),([\d.]+),([\d.]+),[\d.]+,(\S+)")


def parse_line(line: str) -> tuple[str, float, HdrHistogram] | None:
    """(tag, start in seconds since the phase began, histogram of ns) of a line; None if it is no such."""
    match = _LINE.fullmatch(line.strip())
    if match is None:
        return None
    try:
        return match[1], float(match[2]), HdrHistogram.decode(match[4])
    except Exception:  # hdrh raises whatever its decoder trips over
        return None


def read_log(
    file: Path, tag: str | None = None, ending: str | None = None
) -> Iterator[tuple[str, float, HdrHistogram]]:
    """What `parse_line` makes of every line of a log, or of those of one tag, or of tags with an ending
    such as `.all`.

    A last line cut short, as a killed engine leaves it, is left out.
    """
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        if tag is not None and not line.startswith(f"Tag={tag},"):
            continue
        if ending is not None and not line.partition(",")[0].endswith(ending):
            continue
        if parsed := parse_line(line):
            yield parsed


def read_totals(folder: Path, phase: str, only: str | None = None) -> dict[str, HdrHistogram]:
    """Tag -> histogram over a whole phase, of one tag `only` if one is named; from the log of its seconds
    when the phase never ended."""
    totals = folder / f"{phase}.totals.hdr"
    seconds = folder / f"{phase}.hdr"
    found: dict[str, HdrHistogram] = {}
    for file in (totals, seconds):
        if not file.is_file():
            continue
        for tag, _, histogram in read_log(file, only):
            if tag in found:
                found[tag].add(histogram)
            else:
                found[tag] = histogram
        if found:
            break
    return found


def mean(histogram: HdrHistogram) -> float:
    """The mean by the middle of each bucket in use; the library's own walks all the empty ones, slowly."""
    lows, widths, counts = _used(histogram)
    return float(np.average(lows + widths // 2, weights=counts))


def percentiles(histogram: HdrHistogram, asked: Sequence[float]) -> list[float]:
    """The values at these percentiles (0 to 100) of a histogram that holds something.

    What the library's own `get_value_at_percentile` finds, which walks all buckets one by one for each.
    """
    sums = np.cumsum(np.ctypeslib.as_array(histogram.counts))
    targets = [histogram.get_target_count_at_percentile(percentile) for percentile in asked]
    lows = [histogram.get_value_from_index(int(at)) for at in np.searchsorted(sums, targets)]
    ends = (histogram.get_lowest_equivalent_value, histogram.get_highest_equivalent_value)
    return [float(ends[bool(percentile)](low)) for percentile, low in zip(asked, lows, strict=True)]


def highest(histogram: HdrHistogram) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(highest value of each bucket in use, in nanoseconds, counts): what percentiles are read from."""
    lows, widths, counts = _used(histogram)
    return (lows + widths - 1).astype(np.float64), counts


def held(histogram: HdrHistogram) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(values in nanoseconds, counts) of the buckets in use."""
    lows, _, counts = _used(histogram)
    return lows.astype(np.float64), counts


def _used(histogram: HdrHistogram) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """(lowest values, widths, counts) of the buckets in use, all at once: the library asks for each.

    The first half row of buckets has the width of the second one, each later row twice that of the one before
    (HdrHistogram's `valueFromIndex`).
    """
    counts = np.ctypeslib.as_array(histogram.counts)
    at = np.flatnonzero(counts)
    half = histogram.sub_bucket_half_count_magnitude
    row = at >> half
    shift = np.maximum(row - 1, 0) + histogram.unit_magnitude
    place = (at & ((1 << half) - 1)) + np.where(row > 0, 1 << half, 0)
    return place << shift, np.int64(1) << shift, counts[at].astype(np.float64)
