"""Whose fault a backlog is: the client's (in flight below the cap) or the server's (cap reached)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.summary import Saturation


def saturation(backlog: NDArray[np.float64], in_flight: NDArray[np.float64], cap: int | None) -> Saturation:
    """Seconds in which a backlog grew below the in-flight cap, and seconds with a backlog at the cap.

    Args:
        backlog: due and not started, at the end of each second.
        in_flight: most operations in flight in each second.
        cap: most that were allowed; without it no second can be judged.
    """
    if not backlog.size or cap is None:
        return Saturation(max_backlog=int(backlog.max(initial=0)))
    grew = np.diff(backlog, prepend=0.0) > 0
    full = in_flight >= cap
    return Saturation(
        seconds_saturated=float(np.count_nonzero(grew & ~full)),
        seconds_cap_reached=float(np.count_nonzero((backlog > 0) & full)),
        max_backlog=int(backlog.max()),
    )
