"""Whether an offered rate was kept: completions per second while operations were still falling due.

The mean of the whole phase would not do: one operation that takes ten seconds at the end makes it ten seconds
longer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RATE_KEPT = 0.98
"""Cells of two systems are compared where both reach the offered rate within 2 %."""
SIGMAS = 3.0
"""Poisson arrivals scatter by themselves; three standard deviations below the rate are no shortfall."""


def completed_while_due(due: NDArray[np.float64], done: NDArray[np.float64], seconds: float) -> float | None:
    """Operations completed per second while some were due; None when that is under two seconds.

    Args:
        due: operations due in each second.
        done: operations completed in each second.
        seconds: of the whole phase.
    """
    last = int(np.flatnonzero(due > 0).max(initial=0))
    if last < 1:
        return None
    share = min(due[last] / due[:last].mean(), 1.0) if due[:last].any() else 1.0
    return float(done[: last + 1].sum() / min(last + share, seconds))


def kept(completed_per_s: float, target_per_s: float, seconds: float, *, poisson: bool) -> bool:
    """Whether completions are within 2 % of the offered rate, for Poisson arrivals beyond their scatter."""
    scatter = SIGMAS * np.sqrt(target_per_s / seconds) if poisson and seconds > 0 else 0.0
    return bool(completed_per_s >= RATE_KEPT * target_per_s - scatter)
