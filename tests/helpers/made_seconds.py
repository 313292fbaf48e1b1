"""Made-up phases by second, whose measures are known in closed form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.analysis.windows.slices import BySecond, by_second
from steelyard.results.actions import ActionTimes, How, MilestoneRow

NS = 1_000_000_000
START_NS = 5_000 * NS


def action(
    id: str, start_s: float, end_s: float | None, how: How | None = "done", do: str = "add", **more: object
) -> ActionTimes:
    """One that started and ended so many seconds after the phase began."""
    ended = None if end_s is None else START_NS + round(end_s * NS)
    started = START_NS + round(start_s * NS)
    return ActionTimes(
        id,
        do,
        requested_ns=started,
        started_ns=started,
        ended_ns=ended,
        how=how,
        **more,  # type: ignore[arg-type]
    )


def milestone(id: str, node: str, what: str, at_s: float) -> MilestoneRow:
    """One that was passed so many seconds after the phase began."""
    return MilestoneRow(id, node, what, START_NS + round(at_s * NS))


def level(times_ms: Sequence[float], operations: int = 1000) -> BySecond:
    """In each second as many operations, all of the same time."""
    rows = [(float(s), np.array([ms * 1e6]), np.array([float(operations)])) for s, ms in enumerate(times_ms)]
    return by_second(rows, len(rows))


def drawn(times_ms: Sequence[float], operations: int = 1000, seed: int = 1, sigma: float = 0.4) -> BySecond:
    """In each second as many operations, log-normal around a median, in buckets of three digits."""
    rng = np.random.default_rng(seed)
    rows = []
    for second, ms in enumerate(times_ms):
        values = rng.lognormal(np.log(ms * 1e6), sigma, operations)
        step = 10 ** (np.floor(np.log10(values)) - 2)
        held, counts = np.unique(np.ceil(values / step) * step, return_counts=True)
        rows.append((float(second), held, counts.astype(np.float64)))
    return by_second(rows, len(rows))
