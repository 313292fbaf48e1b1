"""When as many operations succeed as before an action, for good: whatever they cost by then, and whatever was
not done meanwhile."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from steelyard.analysis.windows.losses import Floats
from steelyard.analysis.windows.milestones import Elapsed
from steelyard.analysis.windows.spans import Windows

LEAST_SHARE = 0.9
"""Of what succeeded before: less is missed."""
STRETCH_S, LEAST_OPERATIONS = 5, 1000
"""What succeeds in a second scatters by chance, in so many seconds and operations by no tenth."""


def recovered(counts: Mapping[str, Floats], windows: Windows, *, closed: bool) -> Elapsed | None:
    """How long after an action's start the last stretch of seconds ends in which fewer than nine tenths of
    the operations succeed that would have, had it gone on as before.

    Args:
        counts: as of `losses.series`.
        windows: around the action.
        closed: whether the loop is closed; in an open one what is expected goes with what is due, which
            changes where the load does.

    Returns:
        0 s where no stretch was so; censored where the last one is; None when nothing is known of before, or
        too little of afterwards.
    """
    before = slice(windows.before.first, windows.before.end)
    rest = slice(windows.rest.first, windows.rest.end)
    ok, expected = counts["ok"], _expected(counts, before, closed=closed)
    if expected is None:
        return None
    usual = float(expected[rest].mean()) if expected[rest].size else 0.0
    length = max(STRETCH_S, math.ceil(LEAST_OPERATIONS / usual)) if usual else 0
    if not 0 < length <= len(windows.rest):
        return None
    wanted = LEAST_SHARE * expected[rest]
    short = ok[rest] < wanted
    summed = np.convolve(ok[rest] - wanted, np.ones(length), "valid")
    low = np.flatnonzero(summed < 0)
    if not low.size:
        return Elapsed(0.0)
    if low[-1] == summed.size - 1:
        return Elapsed(windows.rest.end - windows.start_s, reached=False)
    within = np.flatnonzero(short[low[-1] : low[-1] + length])
    return Elapsed(windows.rest.first + int(low[-1] + within[-1]) + 1 - windows.start_s)


def _expected(counts: Mapping[str, Floats], before: slice, *, closed: bool) -> Floats | None:
    """What would succeed in each second if all went on as before; None where nothing did before."""
    ok = counts["ok"][before]
    if not ok.sum():
        return None
    if closed:
        return np.full(counts["ok"].size, float(ok.mean()))
    due = float(counts["due"][before].sum())
    return counts["due"] * float(ok.sum()) / due if due else None
