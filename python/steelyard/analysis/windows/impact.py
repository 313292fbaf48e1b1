"""What an action was felt as: excess response time, share of slow operations, worst and spread of slices.

Felt is what lies between its start and the moment from which on the run is steady again (at least its end):
steady at whatever level, so that what an action makes worse for good is not felt for long. Excess is
therefore of all seconds from its start to the end of the run.
Times are of all attempts, a failure counted as at least its timeout: what fails is felt, and leaves the
percentiles of successes as they are. What a control, the same load without the action, did in the same
seconds is taken off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.analysis.windows.milestones import Elapsed
from steelyard.analysis.windows.slices import BySecond
from steelyard.analysis.windows.spans import Seconds, Windows

NS = 1e9


@dataclass(frozen=True)
class Worst:
    """The slice with the highest p99."""

    p99_ns: float
    first: int
    end: int


def felt(windows: Windows, again: Elapsed | None) -> Seconds:
    """The seconds in which an action is felt: until the run is steady again, at least until the action ended;
    to the end of what comes after where that is not known."""
    if again is None or not again.reached:
        return windows.rest
    end = max(windows.during.end, math.ceil(windows.start_s + again.seconds))
    return Seconds(windows.during.first, min(end, windows.rest.end))


def excess_s(latencies: BySecond, before: Seconds, within: Seconds) -> float | None:
    """Response seconds beyond what the same operations would have taken before.

    The sum over slices of max(0, mean - mean before) times operations: an area of extra response time, as
    of Dory et al. (2011, Measuring Elasticity for Cloud Databases), weighted by how many waited.

    Returns:
        Seconds, summed over operations; None where before there were too few operations to compare with.
    """
    held = latencies.merged(before)
    if held.p99_ns is None or held.mean_ns is None:
        return None
    total = 0.0
    for one in latencies.slices(within) or [within]:  # few that waited long are felt as well
        found = latencies.merged(one)
        total += max((found.mean_ns or 0.0) - held.mean_ns, 0.0) * found.count
    return total / NS


def worst(latencies: BySecond, within: Seconds) -> Worst | None:
    """Of at least 1,000 operations each, the slice with the highest p99; None where there are fewer."""
    found = [(latencies.merged(one).p99_ns, one) for one in latencies.slices(within)]
    known = [(p99, one) for p99, one in found if p99 is not None]
    if not known:
        return None
    p99_ns, at = max(known, key=lambda pair: pair[0])
    return Worst(p99_ns, at.first, at.end)


def spread(latencies: BySecond, within: Seconds) -> float | None:
    """How unlike each other the slices are: the coefficient of variation (population) of their p99s, the
    variability while scaling (Kuhlenkamp et al. 2014 tell that over clients); None of fewer than two."""
    found = np.array([p99 for one in latencies.slices(within) if (p99 := latencies.merged(one).p99_ns)])
    return float(found.std() / found.mean()) if found.size > 1 else None


def outside_s(latencies: BySecond, within: Seconds, bound_ns: float) -> float | None:
    """Seconds of the slices whose p99 is above a bound: the time out of the objective; None where there are
    too few operations for one slice."""
    slices = latencies.slices(within)
    if not slices:
        return None
    return float(sum(len(one) for one in slices if (latencies.merged(one).p99_ns or 0.0) > bound_ns))


@dataclass(frozen=True)
class Compared:
    """An action against its control in the same seconds.

    Attributes:
        excess_s, control_excess_s: as of `excess_s`, each against its own time before.
        above, control_above: share of operations above the control's p99 of these seconds: of the control
            about one in a hundred, by what a p99 is. None of fewer than 1,000 operations.
    """

    excess_s: float | None
    control_excess_s: float | None
    above: float | None
    control_above: float | None

    @property
    def impact_s(self) -> float | None:
        """Excess response seconds less the control's own, none below zero: what the action did."""
        return _less(self.excess_s, self.control_excess_s)

    @property
    def impact_share(self) -> float | None:
        """Share of operations above the control's p99 less the control's own, none below zero."""
        return _less(self.above, self.control_above)


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else max(one - other, 0.0)


def compared(own: BySecond, control: BySecond, before: Seconds, within: Seconds) -> Compared:
    """An action's trial against the trial without it: same seed, so the same operations at the same times.

    Args:
        own, control: response times by second since the phase began, in both.
        before, within: the windows of the action's trial, used in both.
    """
    mine, theirs = own.merged(within), control.merged(within)
    border = theirs.p99_ns
    enough = border is not None and mine.p99_ns is not None
    return Compared(
        excess_s(own, before, within),
        excess_s(control, before, within),
        mine.share_above(border) if border is not None and enough else None,
        theirs.share_above(border) if border is not None and enough else None,
    )
