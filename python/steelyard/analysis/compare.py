"""B against A, figure by figure and cell by cell: ratios with intervals, words, and what is still needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.analysis.evidence import Found, Sample, versus
from steelyard.analysis.metrics import Metric
from steelyard.analysis.stats.percentiles import LEAST_UNITS, Extremes
from steelyard.analysis.stats.power import more_runs
from steelyard.analysis.stats.runs import CONFIDENCE, FEW, Contrast, Interval, Runs, contrast
from steelyard.analysis.stats.verdicts import Word, verdicts
from steelyard.spec.gate import Gate

SHARE_MARGIN = 0.001
"""Of the share of successes: one failure in a thousand operations already shows at p99.9."""


@dataclass(frozen=True)
class Row:
    """One figure of one cell, B against A.

    Attributes:
        cell: the cell in words; empty when there is only one.
        a, b: each side with its interval.
        ratio: B/A with its 95 % interval.
        word: the verdict after correction; `open` where the runs are too few.
        margin: the relative difference that does not matter.
        more: further repetitions on each side that would settle an open question with 80 % chance; None when
            nothing is open, or more than a thousand are needed, or the scatter is not known.
        few: fewer than six repetitions on a side.
        by: how the ratio was found: `t on logs`, `bootstrap`, `extremes`.
        lost: which trials a side lost through the system itself, so that nothing is judged; else empty.
    """

    cell: str
    metric: Metric
    a: Interval
    b: Interval
    ratio: Interval
    word: Word
    margin: float
    more: int | None
    few: bool
    by: str
    lost: str = ""


@dataclass(frozen=True)
class Pair:
    """What is to be compared: one figure of one cell."""

    cell: str
    metric: Metric
    a: Sample
    b: Sample
    lost: str = ""
    """As of `Row`."""


def compare(pairs: Sequence[Pair], margin: float, floors: Mapping[str, float] | None = None) -> list[Row]:
    """Judge all pairs as one family.

    Args:
        pairs: what is compared, cell by cell.
        margin: relative difference that does not matter.
        floors: noise floor by metric column: the margin is at least this.
    """
    found = [versus(pair.a, pair.b) for pair in pairs]
    margins = [max(_margin(pair.metric, margin), (floors or {}).get(pair.metric.column, 0)) for pair in pairs]
    words = verdicts(found, [pair.metric.better for pair in pairs], margins)
    words = ["open" if pair.lost else word for pair, word in zip(pairs, words, strict=True)]
    parts = zip(pairs, found, words, margins, strict=True)
    return [
        _row(pair, one, word, limit, _more(pair, one, limit, len(pairs)) if word == "open" else None)
        for pair, one, word, limit in parts
    ]


def _margin(metric: Metric, margin: float) -> float:
    return min(margin, SHARE_MARGIN) if metric.unit == "share" else margin


def _row(pair: Pair, found: Found, word: Word, margin: float, more: int | None) -> Row:
    return Row(
        cell=pair.cell,
        metric=pair.metric,
        a=pair.a.interval,
        b=pair.b.interval,
        ratio=found.interval(),
        word=word,
        margin=margin,
        more=more,
        few=min(found.counts) < FEW,
        by=_how(pair.metric, found),
        lost=pair.lost,
    )


def _how(metric: Metric, found: Found) -> str:
    if isinstance(found, Extremes):
        return "extremes"
    return "t on logs" if metric.quantile is None else "bootstrap"


def _more(pair: Pair, found: Found, margin: float, family: int) -> int | None:
    """For extremes: as many as the bootstrap needs at least, whatever the scatter between units says."""
    if pair.lost:
        return None
    if isinstance(found, Contrast):
        return more_runs(found, margin, family)
    if min(found.a.min(), found.b.min()) <= 0:
        return None  # nothing is known of the scatter of figures that are zero now and then
    units = contrast(Runs(found.a.tolist()), Runs(found.b.tolist()))
    runs = more_runs(units, margin, family)
    return None if runs is None else max(runs, LEAST_UNITS - min(found.counts))


def noise_floors(cells: Sequence[Mapping[str, Sample]], runs: int) -> dict[str, float]:
    """How far apart means of so many runs of one and the same thing lie, in 95 of 100 pairs.

    Args:
        cells: A/A trials: for each cell the sample of every metric column.
        runs: repetitions on each side of the comparison it is for.

    Returns:
        Metric column -> relative difference; left out where fewer than two runs tell of it.
    """
    found = {}
    for column in {column for cell in cells for column in cell}:
        units = [cell[column].units for cell in cells if column in cell]
        logs = [np.log(values) for values in units if values.min() > 0]
        freedom = sum(values.size - 1 for values in logs)
        if freedom < 1:
            continue
        squares = sum(float(values.var(ddof=0)) * values.size for values in logs)
        pooled = Contrast(0.0, math.sqrt(squares / freedom * 2 / runs), freedom, (runs, runs))
        found[column] = math.expm1(pooled.half_width(CONFIDENCE))
    return found


@dataclass(frozen=True)
class GateResult:
    """What became of a gate in one cell."""

    gate: Gate
    row: Row
    failed: bool
    reason: str


def judge_gate(gate: Gate, row: Row) -> GateResult:
    """Whether a gate fails on one row. One that the runs cannot decide fails, and says so."""
    if row.lost:
        return GateResult(gate, row, True, f"cannot be judged: {row.lost}")
    ratio = row.ratio if _worse_is_up(row) else _inverse(row.ratio)
    if not math.isfinite(ratio.high) or ratio.low <= 0:
        return GateResult(gate, row, True, "cannot be judged: the repetitions are too few to bound the ratio")
    up, down = 1 + gate.bound, 1 / (1 + gate.bound)
    beyond = {
        "worse": (ratio.low > up, ratio.high > up, ratio.estimate > up and row.word == "worse"),
        "better": (ratio.high < down, ratio.low < down, ratio.estimate < down and row.word == "better"),
    }
    surely, possibly, shown = (
        beyond[gate.way]
        if gate.way != "different"
        else tuple(any(pair) for pair in zip(*beyond.values(), strict=True))
    )
    failed = {"surely": surely, "possibly": possibly, "": shown}[gate.sure]
    return GateResult(gate, row, failed, "")


def _worse_is_up(row: Row) -> bool:
    return row.metric.better == "lower"


def _inverse(ratio: Interval) -> Interval:
    low = 1 / ratio.high
    high = 1 / ratio.low if ratio.low else math.inf
    estimate = 1 / ratio.estimate if ratio.estimate else math.inf
    return replace(ratio, estimate=estimate, low=low, high=high)
