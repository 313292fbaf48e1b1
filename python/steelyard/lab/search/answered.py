"""How much of what fell due in a probe was answered well while it lasted.

What the phase takes beyond its last due time says nothing of the rate: one answer that is 150 ms late would
make a probe of 5 s longer by 3 %. So the seconds of the probe are counted. The first one is left out: what is
outstanding at its end is what a system that keeps up has outstanding at any time, the end of the probe
included, so that the answers of the other seconds are as many as were due in them. How many are outstanding
scatters with the arrivals and service times, as a Poisson count does, and a shortfall of that size is chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIGMAS = 3.0
"""Standard deviations of the count outstanding that are still chance: two in a thousand probes lie beyond."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Answered:
    """Rates a second within the probe.

    Attributes:
        due_per_s: fell due.
        ok_per_s: answered well.
        chance_per_s: how far below `due_per_s` the answers of a system that keeps up may lie by chance.
    """

    due_per_s: float
    ok_per_s: float
    chance_per_s: float


def answered(due: Floats, done: Floats, ok: Floats, probe_s: float) -> Answered:
    """Judge one probe.

    Args:
        due, done, ok: operations that fell due, were answered, and were answered well in each second.
        probe_s: for how long operations fell due.
    """
    last = min(math.ceil(probe_s), due.size)
    first = 1 if last > 1 else 0
    seconds = max(min(probe_s, last) - first, 1e-9)
    outstanding = max(float(due[:first].sum() - done[:first].sum()), 1.0)
    return Answered(
        due_per_s=float(due[first:last].sum()) / seconds,
        ok_per_s=float(ok[first:last].sum()) / seconds,
        chance_per_s=SIGMAS * math.sqrt(outstanding) / seconds,
    )
