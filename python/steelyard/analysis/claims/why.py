"""A paper's reasons: whether the figure that should bear one out goes the way it must."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from steelyard.analysis.claims.judge import judge
from steelyard.analysis.claims.looks import ONE_TEST, Looks
from steelyard.analysis.claims.verdict import Verdict, unanimous
from steelyard.analysis.evidence.cells import Histograms, Series, Trials, no_histograms, no_series
from steelyard.spec.checks import (
    Check,
    Claim,
    Elsewhere,
    Equality,
    Order,
    Ratio,
    Side,
    Sided,
    SlopeCheck,
    Speedup,
    Trend,
    Why,
)


def bear_out(
    claim: Claim, trials: pl.DataFrame, factors: Sequence[str], histograms: Histograms = no_histograms, *,
    small: bool = False, looks: Looks = ONE_TEST, series: Series = no_series,
) -> list[Verdict]:  # fmt: skip
    """A verdict for each reason of a claim: its figure over the claim's own cells, in the direction expected,
    and at the two other sides where it would fail if it were wrong.

    A reason that no figure of this form can bear out is 'cannot be seen here'.

    Args:
        claim: with its reasons.
        trials, factors, histograms, small, looks, series: as of `judge`.
    """
    there = Trials(trials, tuple(factors), histograms).where(claim.where).frame
    unseen = [_unseen(why, there, small) for why in claim.why]
    asked = {
        (number, place): part
        for number, why in enumerate(claim.why)
        if not unseen[number]
        for place, part in enumerate(_parts(claim, why, number))
    }
    found = judge(asked.values(), trials, factors, histograms=histograms, looks=looks, series=series)
    judged = dict(zip(asked, found, strict=True))
    return [
        Verdict(claim.id, "cannot be seen here", "not claimed", unseen[number])
        if unseen[number]
        else _together(claim, [judged[number, place] for place in range(2) if (number, place) in judged])
        for number in range(len(claim.why))
    ]


def _unseen(why: Why, trials: pl.DataFrame, small: bool) -> str:
    """Why nothing can be seen: as the study says, or because the figure is the same in every trial."""
    if said := why.unseen or (why.unseen_small if small else ""):
        return said
    values = trials[why.metric].drop_nulls().unique()
    if values.is_empty():
        return "no trial of this form has it"
    return f"it is {values[0]:g} in every trial" if values.len() == 1 and trials.height > 1 else ""


def _parts(claim: Claim, why: Why, number: int) -> list[Claim]:
    """The claims that a reason amounts to, each with an id of its own."""
    checks = [_check(claim, why), *([_elsewhere(why.also)] if why.also else [])]
    bare = {"metric": why.metric, "covers": (), "why": ()}
    return [
        claim.model_copy(update={**bare, "id": f"why-{number}-{place}", "check": check})
        for place, check in enumerate(checks)
    ]


def _together(claim: Claim, parts: Sequence[Verdict]) -> Verdict:
    """A reason holds when it holds everywhere it was looked for."""
    first = replace(parts[0], id=claim.id, same_as="")
    if len(parts) == 1:
        return first
    return replace(
        first,
        direction=unanimous([part.direction for part in parts]),
        words=f"{first.words}; where it would fail: {parts[1].direction}, {parts[1].words}",
        evidence=first.evidence + parts[1].evidence,
        reasons=first.reasons + parts[1].reasons,
    )


def _check(claim: Claim, why: Why) -> Check:
    """The claim's check, over the same cells, with the reason's direction; sizes are not claimed."""
    check, up = claim.check, why.expect == "up"
    if isinstance(check, Sided):
        return _sided(check, up)
    if isinstance(check, Order):
        return Order(factor=check.factor, groups=check.groups if up else check.groups[::-1])
    way = {"direction": "up" if up else "down"}
    if isinstance(check, Trend):
        return check.model_copy(update={**way, "paper": None, "papers": {}})
    return Trend.model_validate({"factor": claim.factor, **way})


def _sided(check: Sided, up: bool) -> Ratio:
    """A ratio of the check's sides at the cells that it compares, as it compares them."""
    match = check.match
    if match is not None and isinstance(check, (SlopeCheck, Speedup)):
        match = (*match, check.factor)
    plain = _ratio(check.numerator, check.denominator, up, match)
    if isinstance(check, Ratio):
        kept = {name: getattr(check, name) for name in ("paired", "most", "cells", "target", "throughput")}
        return plain.model_copy(update=kept)
    if isinstance(check, SlopeCheck):  # of a ladder of targets
        kept = {"cells": check.cells, "target": check.factor, "throughput": check.throughput}
        return plain.model_copy(update=kept)
    paired = isinstance(check, (Equality, Speedup)) and check.paired
    return plain.model_copy(update={"paired": paired})


def _elsewhere(also: Elsewhere) -> Ratio:
    return _ratio(also.numerator, also.denominator, also.expect == "up", None)


def _ratio(above: Side, below: Side, up: bool, match: tuple[str, ...] | None) -> Ratio:
    return Ratio(
        numerator=Side(where=above.where),
        denominator=Side(where=below.where),
        match=match,
        direction="above" if up else "below",
    )
