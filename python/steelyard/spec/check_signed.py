"""Figures that may lie below zero are refused where a check takes their ratio or their logarithm: both say
nothing of them, and what comes out may have the wrong sign.
"""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.spec.alone import Distribution, Value
from steelyard.spec.checks import Claim
from steelyard.spec.lines import Place
from steelyard.spec.metrics import SIGNED, is_signed
from steelyard.spec.sides import Sided

BOUND = "say a bound on it (kind = 'value' with above or below)"


def signed(claim: Claim) -> Iterator[tuple[Place, str]]:
    """(place within the claim, what is wrong in words) of every figure that its check cannot take."""
    kind = claim.check.kind
    if isinstance(claim.check, Value):
        if is_signed(claim.metric) and claim.sources:
            told = (
                f"a paper's figure of {claim.metric} would be judged by a factor, and it may be zero or below"
            )
            yield ("check",), f"{told}: {BOUND}"
        return
    if not isinstance(claim.check, Distribution):
        for place, metric in _taken(claim):
            told = f"'{kind}' takes ratios or logarithms of {metric}, which may be zero or below"
            yield place, f"{told}: {BOUND}, or {SIGNED[metric]}"
    for number, why in enumerate(claim.why):
        if is_signed(why.metric):
            told = f"a reason is judged by ratios of {why.metric}, which may be zero or below"
            yield ("why", number, "metric"), f"{told}: {SIGNED[why.metric]}"


def _taken(claim: Claim) -> Iterator[tuple[Place, str]]:
    """The signed figures of a check that compares: the claim's own, unless both sides have others, and
    theirs."""
    sides = {}
    if isinstance(claim.check, Sided):
        sides = {"numerator": claim.check.numerator.metric, "denominator": claim.check.denominator.metric}
    if is_signed(claim.metric) and (not sides or None in sides.values()):
        yield ("metric",), claim.metric
    for name, metric in sides.items():
        if metric and is_signed(metric):
            yield ("check", name), metric
