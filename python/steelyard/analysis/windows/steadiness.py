"""Whether a run on which an action acted was steady: asked of what came before it and what came after."""

from __future__ import annotations

from dataclasses import replace

from steelyard.analysis.steady import Steady

LEAST_S = 5
"""A window shorter than this is none: an action from the run's start on has nothing before it."""


def of_windows(before: Steady | None, after: Steady | None) -> Steady | None:
    """One judgement of a run from those of its windows.

    The worse of the two counts: no steady state, then too short, then steady. A warm-up is one of what comes
    before; what changes at the beginning of what comes after is the action's doing. A mean over both would be
    one of two states, so there is none; of a run with one window (an action at its start) it is that one's.

    Args:
        before, after: of each window; None where it is none.

    Returns:
        None where neither is one.
    """
    both = [(before, "before the action"), (after, "after the action")]
    judged = [(found, where) for found, where in both if found is not None]
    if not judged:
        return None
    alarms = sum(found.false_alarms for found, _ in judged)  # either may be one
    alone = len(judged) == 1
    named = [
        replace(
            found,
            measure=f"{found.measure} {where}",
            alarms=alarms,
            mean=found.mean if alone else None,
            half_width=found.half_width if alone else None,
            batches=found.batches if alone else (),
        )
        for found, where in judged
    ]
    for worse in (False, None):
        if bad := [found for found in named if found.reached is worse]:
            return bad[0]
    drifting = next((found for found in named if found.drift), named[0])
    return replace(
        drifting,
        warm_up_s=before.warm_up_s if before else 0.0,
        intervals=sum(found.intervals for found in named),
    )
