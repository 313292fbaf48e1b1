"""Whose fault a backlog is, as the engine said second by second, or guessed where it did not say yet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.summary import Saturation


def of_states(states: Sequence[str], backlog: NDArray[np.float64]) -> Saturation:
    """What the engine said of each second (docs/format.md: `client`), counted."""
    return Saturation(
        seconds_saturated=float(states.count("saturated")),
        seconds_cap_reached=float(states.count("cap_reached")),
        max_backlog=int(backlog.max(initial=0)),
        seconds_starved=float(states.count("starved")),
    )


def saturation(backlog: NDArray[np.float64], in_flight: NDArray[np.float64], cap: int | None) -> Saturation:
    """Of a series without the engine's own word: seconds in which a backlog grew below the in-flight cap, and
    seconds with a backlog at the cap.

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
