"""When a run is steady again: the change point from which on its distribution equals the new steady state.

The new steady state is the last half of what comes after an action. Median and p99 of slices of at least
1,000 operations (in a closed loop throughput as well) are cut into level pieces by change points, as warm-up
is (`analysis.steady`, after Barrett et al. 2017), on logarithms, since latencies scatter in proportion. Each
is steady again with the first piece from which on at most a tenth lies at another level, for no longer at a
time than in the last half (else what the action did would pass for an excursion), and the run with the last
of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.stats.changes import change_points, long_run_variance
from steelyard.analysis.windows.milestones import Elapsed
from steelyard.analysis.windows.slices import BySecond
from steelyard.analysis.windows.spans import Seconds, Windows

Floats = NDArray[np.float64]

ALIKE = 0.05
"""As of warm-up: a change of 5 % is as large as effects one measures."""
SIGMAS = 3.0
"""A piece's mean scatters around the level by chance, the more the more neighbours are alike; further away
than this it is another level."""
EXCURSIONS = 0.1
"""Share of the rest that may lie at another level: flushes and compactions belong to a steady state."""
LEAST = 10
"""Slices in the last half of what comes after: with fewer, the level they shall tell is chance."""
QUANTILES = (0.5, 0.99)


def level_again(series: Floats, last: int) -> int | None:
    """The first place from which on a series is at the level of its end.

    Args:
        series: values, none below zero, in the order of time.
        last: from here on to its end lies the new steady state.

    Returns:
        The place, 0 when it never left that level; None when it comes to it later than at `last`, or when
        the series ends at nothing, as the throughput of a closed loop that stands still.
    """
    level = float(np.median(series[last:]))
    if level <= 0:
        return None
    relative = np.log(np.maximum(series, np.finfo(float).tiny) / level)
    scatter = math.sqrt(long_run_variance(1 + relative[last:]))
    borders = [0, *change_points(1 + relative), series.size]
    unlike = np.zeros(series.size, dtype=bool)
    for start, end in pairwise(borders):
        near = max(ALIKE, SIGMAS * scatter / math.sqrt(end - start))
        unlike[start:end] = abs(relative[start:end].mean()) > near
    usual = _longest(unlike[last:])
    for start in borders[:-1]:
        if start > last:
            return None
        rest = unlike[start:]
        if not unlike[start] and rest.mean() <= EXCURSIONS and _longest(rest) <= usual:
            return start
    return None


def _longest(unlike: NDArray[np.bool_]) -> int:
    """How many neighbours at most are at another level."""
    longest = held = 0
    for one in unlike.tolist():
        held = held + 1 if one else 0
        longest = max(longest, held)
    return longest


def steady_again(latencies: BySecond, windows: Windows, done_per_s: Floats | None = None) -> Elapsed | None:
    """How long after an action's start the run is steady again.

    Args:
        latencies: response times by second.
        windows: around the action.
        done_per_s: completions in each second of the phase, where they tell anything: in a closed loop.

    Returns:
        0 s where no change was seen at all; censored at the end of what comes after, when it is reached in
        its last half only, or when the action never ended; None when too little comes after to tell.
    """
    waited = windows.rest.end - windows.start_s
    if not windows.ended:
        return Elapsed(waited, reached=False)
    half = (windows.after.first + windows.after.end) // 2
    slices = latencies.slices(windows.rest)
    found = [_again(_quantiles(latencies, slices, q), slices, half) for q in QUANTILES]
    if done_per_s is not None:
        seconds = [Seconds(s, s + 1) for s in range(windows.rest.first, windows.rest.end)]
        found.append(_again(done_per_s[windows.rest.first : windows.rest.end], seconds, half))
    if None in found:
        return None
    latest = max(second for second in found if second is not None)
    if math.isinf(latest):
        return Elapsed(waited, reached=False)
    return Elapsed(0.0 if latest <= windows.rest.first else latest - windows.start_s)


def _again(series: Floats, slices: Sequence[Seconds], half: int) -> float | None:
    """The second from which on a series is at its level again; inf if not in time, None if nobody can
    tell."""
    last = sum(one.first < half for one in slices)
    if len(slices) - last < LEAST:
        return None
    place = level_again(series, last)
    return math.inf if place is None else float(slices[place].first)


def _quantiles(latencies: BySecond, slices: Sequence[Seconds], share: float) -> Floats:
    return np.array([latencies.merged(one).quantile(share) or 0.0 for one in slices], dtype=np.float64)
