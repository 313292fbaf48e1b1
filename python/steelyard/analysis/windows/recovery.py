"""When as many operations succeed as before an action, for good: whatever they cost by then, and whatever was
not done meanwhile."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.windows.losses import Floats
from steelyard.analysis.windows.milestones import Elapsed
from steelyard.analysis.windows.spans import Windows

LEAST_SHARE = 0.9
"""Of what succeeded before: less is missed."""
STRETCH_S, LEAST_OPERATIONS = 5, 1000
"""What succeeds in a second scatters by chance; in so many seconds and operations by no tenth."""


def recovered(counts: Mapping[str, Floats], windows: Windows, *, closed: bool) -> Elapsed | None:
    """How long after an action's start the last time ends in which fewer than nine tenths of the operations
    succeed that would have, had it gone on as before.

    A second is short when it lies in a stretch that is, and is so itself: what is caught up in a burst just
    after an outage does not make good for it. Short times are let pass that last no longer than the longest
    before the action: compactions and collections of garbage make such.

    Args:
        counts: as of `losses.series`.
        windows: around the action.
        closed: whether the loop is closed; in an open one what is expected goes with what is due, which
            changes where the load does.

    Returns:
        0 s where no time was so; censored where the last one goes on to the end; None when nothing is known
        of before, or too little of afterwards.
    """
    first, start, end = windows.before.first, windows.rest.first, windows.rest.end
    expected = _expected(counts, slice(first, windows.before.end), closed=closed)
    if expected is None:
        return None
    usual = float(expected[start:end].mean()) if end > start else 0.0
    length = max(STRETCH_S, math.ceil(LEAST_OPERATIONS / usual)) if usual else 0
    if not 0 < length <= end - start:
        return None
    runs = _runs(_short(counts["ok"][first:end], LEAST_SHARE * expected[first:end], length))
    at = start - first
    known = max((min(last, at) - begun for begun, last in runs if begun < at), default=0)
    missed = [(begun, last) for begun, last in runs if last > at and last - max(begun, at) > known]
    if not missed:
        return Elapsed(0.0)
    _, last = missed[-1]
    if last == end - first:
        return Elapsed(end - windows.start_s, reached=False)
    return Elapsed(first + last - windows.start_s)


def _short(ok: Floats, wanted: Floats, length: int) -> NDArray[np.bool_]:
    """The seconds that are below what is wanted, within stretches that are."""
    low = np.convolve(ok - wanted, np.ones(length), "valid") < 0
    within = np.convolve(low, np.ones(length)) > 0
    return within & (ok < wanted)


def _runs(short: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where neighbours begin and end."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], short.astype(int), [0]))))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _expected(counts: Mapping[str, Floats], before: slice, *, closed: bool) -> Floats | None:
    """What would succeed in each second if all went on as before; None where nothing did before."""
    ok = counts["ok"][before]
    if not ok.sum():
        return None
    if closed:
        return np.full(counts["ok"].size, float(ok.mean()))
    due = float(counts["due"][before].sum())
    return counts["due"] * float(ok.sum()) / due if due else None
