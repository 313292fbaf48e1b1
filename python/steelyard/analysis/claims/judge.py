"""From claims and trials to verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from steelyard.analysis.claims import curves, ratios
from steelyard.analysis.claims.looks import ONE_TEST, Looks
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
    histograms: Histograms = no_histograms, looks: Looks = ONE_TEST,
) -> list[Verdict]:  # fmt: skip
    """A verdict for every claim, all of them being judged as one family.

    Args:
        claims: in the order in which they are to be shown.
        trials: one row per trial (see `analysis.evidence`).
        factors: the columns that are factors of the study.
        small: the small form, which may claim direction only.
        histograms: where percentiles are merged from; without them they go by order statistics of the runs.
        looks: those that were taken at the study, this one the last; none when its plan was kept.

    Raises:
        InputError: a claim names a metric, factor or column that the trials do not have.
    """
    found = Trials(trials, tuple(factors), histograms)
    return _as_family([_one(claim, found, small) for claim in claims], looks)


def _as_family(verdicts: list[Verdict], looks: Looks) -> list[Verdict]:
    """By Holm's correction, of chances over all looks: what is no more than one of so many claims at one of
    so many looks comes to by chance decides nothing."""
    known_ = [place for place, verdict in enumerate(verdicts) if verdict.chance is not None]
    corrected = holm(
        [looks.chance(verdicts[place].points, verdicts[place].chance or 0.0) for place in known_]
    )
    for place, p in zip(known_, corrected, strict=True):
        one = verdicts[place]
        if one.direction in ("confirmed", "refuted") and p >= LEVEL:
            reason = (
                f"{one.direction} if it stood alone (p = {one.chance:.2g}), but "
                f"{_sharers(len(known_), looks)} one error rate"
            )
            size_ = one.size if one.size == "not claimed" else "inconclusive"
            verdicts[place] = replace(
                one, direction="inconclusive", size=size_, reasons=(*one.reasons, reason)
            )
    return verdicts


def _sharers(claims: int, looks: Looks) -> str:
    """`9 claims share`, `9 claims and all looks share`: what has one error rate together."""
    of_claims = f"{claims} claims" if claims > 1 else ""
    of_looks = "all looks" if looks else ""
    return " and ".join(filter(None, (of_claims, of_looks))) + " share"


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
    return _once((cell, reason) for cell, _ in cells for reason in cell.against(bool(claim.unsteady)))


def _few(cells: Judged) -> tuple[str, ...]:
    """Cells that have too few repetitions."""
    return _once((cell, reason) for cell, metric in cells for reason in cell.few(metric))


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
    """The finding is shown also where it decides nothing, if it can be computed at all.

    Args:
        reasons: what speaks against judging, however many repetitions there are.
    """
    curable = not reasons
    reasons = (*reasons, *_few(cells))
    return replace(
        _of_finding(claim, reasons, check, small),
        left_out=_left_out(cells),
        points=frozenset[int]().union(*(cell.points for cell, _ in cells)),
        lacking=max(cell.lacking(metric) for cell, metric in cells),
        curable=curable,
    )


def _of_finding(claim: Claim, reasons: tuple[str, ...], check: Callable[[], Finding], small: bool) -> Verdict:
    try:
        found = check()
    except (ValueError, ZeroDivisionError) as error:
        return nothing(claim, small, *reasons, f"cannot be computed: {error}")
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
        chance=found.chance,
    )


def nothing(claim: Claim, small: bool, *reasons: str) -> Verdict:
    """A claim on which nothing was measured."""
    size_ = "not claimed" if small or claim.paper is None else "inconclusive"
    return Verdict(claim.id, "inconclusive", size_, "nothing to judge", None, claim.paper, (), reasons)  # type: ignore[arg-type]
