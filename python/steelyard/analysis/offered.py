"""Whether the load was driven as asked: the offered rate kept, whose fault a backlog is, clients kept busy.

A rate is judged by completions per second while operations were still falling due. The mean of the whole
phase would not do: one operation that takes ten seconds at the end makes it ten seconds longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.summary import Saturation

RATE_KEPT = 0.98
"""Cells of two systems are compared where both reach the offered rate within 2 %."""
SIGMAS = 3.0
"""Poisson arrivals scatter by themselves; three standard deviations below the rate are no shortfall."""
TOLERANCE = 0.05
"""A closed loop keeps every client busy but for start, end and its own work; past 5 % something else took the
time."""


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


@dataclass(frozen=True)
class Little:
    """Little's law as a check of a closed loop: clients = throughput x mean response.

    Attributes:
        clients: operations meant to be in flight.
        found: throughput x mean response.
        deviation: |clients - found| / clients.
    """

    clients: float
    found: float
    deviation: float

    @property
    def holds(self) -> bool:
        """Whether the deviation is within the tolerance."""
        return self.deviation <= TOLERANCE


def little(clients: float, throughput_per_s: float, mean_response_s: float) -> Little:
    """Compare the clients of a closed loop with throughput x mean response."""
    found = throughput_per_s * mean_response_s
    return Little(clients=clients, found=found, deviation=abs(clients - found) / clients)
