"""A paper's reasons: whether the figure that should bear one out goes the way it must."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from steelyard.analysis.claims.judge import judge
from steelyard.analysis.claims.verdict import Verdict
from steelyard.analysis.evidence.cells import Histograms, no_histograms
from steelyard.spec.checks import Check, Claim, Equality, Order, Ratio, Side, Trend, Why


def bear_out(
    claim: Claim, trials: pl.DataFrame, factors: Sequence[str], histograms: Histograms = no_histograms
) -> list[Verdict]:
    """A verdict for each reason of a claim: its figure over the claim's own cells, in the direction expected.

    Args:
        claim: with its reasons.
        trials, factors, histograms: as of `judge`.
    """
    asked = [claim.model_copy(update={"metric": why.metric, "check": _check(claim, why)})
             for why in claim.why]  # fmt: skip
    return judge(asked, trials, factors, histograms=histograms)


def _check(claim: Claim, why: Why) -> Check:
    """The claim's check with the reason's direction; sizes are not claimed."""
    check, up = claim.check, why.expect == "up"
    if isinstance(check, (Ratio, Equality)):
        sides = {
            "numerator": Side(where=check.numerator.where),
            "denominator": Side(where=check.denominator.where),
        }
        return Ratio(**sides, direction="above" if up else "below")
    if isinstance(check, Order):
        return Order(factor=check.factor, groups=check.groups if up else check.groups[::-1])
    levels = check.levels if isinstance(check, Trend) else ()
    return Trend(factor=check.factor, direction="up" if up else "down", levels=levels)
