"""From claims and trials to verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from steelyard.analysis.claims import curves, ratios
from steelyard.analysis.claims.verdict import Finding, Verdict, size
from steelyard.analysis.evidence import Cell, Histograms, Trials, known
from steelyard.analysis.evidence.cells import no_histograms
from steelyard.analysis.stats.verdicts import LEVEL, holm
from steelyard.spec.checks import Claim, Equality, Order, Ratio, Trend

CURVES: Mapping[str, Callable[[Claim, Any, Any], Finding]] = {
    "trend": curves.trend,
    "order": curves.order,
    "threshold": curves.threshold,
    "peak": curves.peak,
    "shape": curves.shape,
}


def judge(
    claims: Iterable[Claim], trials: pl.DataFrame, factors: Sequence[str], *, small: bool = False,
    histograms: Histograms = no_histograms,
) -> list[Verdict]:  # fmt: skip
    """A verdict for every claim, all of them being judged as one family.

    Args:
        claims: in the order in which they are to be shown.
        trials: one row per trial (see `analysis.evidence`).
        factors: the columns that are factors of the study.
        small: the small form, which may claim direction only.
        histograms: where percentiles are merged from; without them they go by order statistics of the runs.

    Raises:
        InputError: a claim names a metric, factor or column that the trials do not have.
    """
    found = Trials(trials, tuple(factors), histograms)
    return _as_family([_one(claim, found, small) for claim in claims])


def _as_family(verdicts: list[Verdict]) -> list[Verdict]:
    """By Holm's correction: what is no more than one of so many claims comes to by chance decides nothing."""
    known_ = [place for place, verdict in enumerate(verdicts) if verdict.chance is not None]
    corrected = holm([verdicts[place].chance or 0.0 for place in known_])
    for place, p in zip(known_, corrected, strict=True):
        one = verdicts[place]
        if one.direction in ("confirmed", "refuted") and p >= LEVEL:
            reason = (
                f"{one.direction} if it stood alone (p = {one.chance:.2g}), but {len(known_)} claims share "
                "one error rate"
            )
            size_ = one.size if one.size == "not claimed" else "inconclusive"
            verdicts[place] = replace(
                one, direction="inconclusive", size=size_, reasons=(*one.reasons, reason)
            )
    return verdicts


def _one(claim: Claim, trials: Trials, small: bool) -> Verdict:
    check = claim.check
    if isinstance(check, (Ratio, Equality)):
        return _ratio(claim, check, trials, small)
    known(claim.metric, trials.frame.columns, "metric")
    known(check.factor, trials.frame.columns, "factor")
    levels: tuple[Any, ...] = ()
    if isinstance(check, Trend):
        levels = check.levels
    elif isinstance(check, Order):
        levels = tuple(level for group in check.groups for level in group)
    cells = trials.where(claim.where).cells()
    found = curves.lines(cells, check.factor, levels)
    if not found:
        return nothing(claim, small, f"fewer than two levels of {check.factor} were measured")
    judged = [(cell, claim.metric) for line in found.values() for cell in line.values()]
    reasons = _against(judged, claim)
    reasons += _one_start([tuple(line.values()) for line in found.values()])
    if missing := _unmeasured(found, levels):
        reasons = (*reasons, f"not measured: {missing}")
    return _verdict(claim, judged, reasons, lambda: CURVES[check.kind](claim, check, found), small)


def _unmeasured(found: Mapping[Any, Mapping[float, Cell]], levels: Sequence[Any]) -> str:
    places = {place for line in found.values() for place in line}
    return ", ".join(str(level) for rank, level in enumerate(levels, start=1) if rank not in places)


def _ratio(claim: Claim, check: Ratio | Equality, trials: Trials, small: bool) -> Verdict:
    above, below = ratios.metrics(claim, check)
    for metric in (above, below):
        known(metric, trials.frame.columns, "metric")
    pairs = ratios.matched(claim, check, trials)
    if not pairs:
        return nothing(claim, small, "no cell has both sides" if getattr(check, "cells", "all") == "all" else
                       "no cell in which both sides reach the target within 2 %")  # fmt: skip
    judged = [(cell, m) for pair in pairs for cell, m in zip(pair, (above, below), strict=True)]
    reasons = _against(judged, claim) + _one_start(pairs)
    if isinstance(check, Ratio):
        return _verdict(claim, judged, reasons, lambda: ratios.ratio(claim, check, pairs), small)
    return _verdict(claim, judged, reasons, lambda: ratios.equality(claim, check, pairs), small)


Judged = Sequence[tuple[Cell, str]]
"""Cells, each with the metric that is asked of it."""


def _against(cells: Judged, claim: Claim) -> tuple[str, ...]:
    """What speaks against judging."""
    return _once(
        (cell, reason) for cell, metric in cells for reason in cell.against(metric, bool(claim.unsteady))
    )


def _left_out(cells: Judged) -> tuple[str, ...]:
    """What does not count, and says nothing against judging the rest."""
    return _once((cell, reason) for cell, _ in cells for reason in cell.left_out)


def _once(told: Iterable[tuple[Cell, str]]) -> tuple[str, ...]:
    """Each reason once: of several cells the first is named."""
    found: dict[str, list[str]] = {}
    for cell, reason in told:
        of = found.setdefault(reason, [])
        of += [cell.name] if cell.name not in of else []
    return tuple(
        f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {reason}"
        for reason, names in found.items()
    )


def _one_start(lines: Iterable[Sequence[Cell]]) -> tuple[str, ...]:
    """What speaks against comparing cells of different clusters that were started once each: no two starts of
    the same cluster are alike, and what one of them does differently would count as the cause."""
    for line in lines:
        starts = [cell.starts() for cell in line]
        lone = [cell for cell, own in zip(line, starts, strict=True) if len(own) == 1 < len(cell.rows)]
        if lone and len({*starts}) > 1:
            return (
                f"{lone[0].name}: its trials shared one start of a cluster, and what it is compared with had "
                "another (`starts = 6` in the study gives it six)",
            )
    return ()


def _verdict(
    claim: Claim, cells: Judged, reasons: tuple[str, ...], check: Callable[[], Finding], small: bool
) -> Verdict:
    """The finding is shown also where it decides nothing, if it can be computed at all."""
    try:
        found = check()
    except (ValueError, ZeroDivisionError) as error:
        open_ = nothing(claim, small, *reasons, f"cannot be computed: {error}")
        return replace(open_, left_out=_left_out(cells))
    paper = None if small else claim.paper
    return Verdict(
        id=claim.id,
        direction="inconclusive" if reasons else found.direction,
        size="inconclusive" if reasons and paper else size(found.estimate, paper),
        words=found.words,
        estimate=found.estimate,
        paper=claim.paper,
        evidence=found.evidence,
        reasons=reasons,
        left_out=_left_out(cells),
        chance=found.chance,
    )


def nothing(claim: Claim, small: bool, *reasons: str) -> Verdict:
    """A claim on which nothing was measured."""
    size_ = "not claimed" if small or claim.paper is None else "inconclusive"
    return Verdict(claim.id, "inconclusive", size_, "nothing to judge", None, claim.paper, (), reasons)  # type: ignore[arg-type]
