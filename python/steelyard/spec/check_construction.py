"""What holds by construction is no claim: it is refused before anything is measured for it."""

from __future__ import annotations

from steelyard.spec.along import Trend
from steelyard.spec.checks import Claim
from steelyard.spec.sides import Sided

IDENTITIES = {
    frozenset({"run_per_s", "ok_per_s"}): "connecting takes time, so that the rate with it is the lower one",
    frozenset({"ok_per_s", "search_per_s"}): "the run offers a share of the rate that was found",
}
"""Two figures of the same trials -> why the one bounds or sets the other."""
LENGTHS = ("operations", "duration")
"""Factors that are the length of a run."""


def by_construction(claim: Claim) -> str:
    """Why a claim holds whatever is measured; empty for one that can fail."""
    check, reason = claim.check, ""
    if isinstance(check, Sided) and check.numerator.where == check.denominator.where:
        metrics = {side.metric or claim.metric for side in (check.numerator, check.denominator)}
        same = "both sides are the same trials" if len(metrics) == 1 else ""
        reason = same or IDENTITIES.get(frozenset(metrics), "")
    if isinstance(check, Trend) and claim.metric.endswith("run_per_s") and check.factor in LENGTHS:
        reason = "the longer a run, the less of it is connecting"
    return f"no claim, since it holds by construction: {reason}" if reason else ""
