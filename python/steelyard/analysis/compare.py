"""B against A, figure by figure and cell by cell: ratios with intervals, words, and what is still needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.analysis.metrics import Metric
from steelyard.analysis.stats import percentiles as pc
from steelyard.analysis.stats.power import more_runs
from steelyard.analysis.stats.runs import CONFIDENCE, FEW, Contrast, Interval, Runs, contrast, mean
from steelyard.analysis.stats.verdicts import Word, verdicts
from steelyard.spec.gate import Gate

SHARE_MARGIN = 0.001
"""Of the share of successes: one failure in a thousand operations already shows at p99.9."""


Found = Contrast | pc.Extremes


@dataclass(frozen=True)
class Sample:
    """One figure of one cell on one side.

    Attributes:
        runs: its value for each run.
        merged: histograms of a percentile, when there are ten runs or more.
    """

    runs: Runs
    merged: pc.Merged | None = None


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


@dataclass(frozen=True)
class Pair:
    """What is to be compared: one figure of one cell."""

    cell: str
    metric: Metric
    a: Sample
    b: Sample


def compare(pairs: Sequence[Pair], margin: float, floors: Mapping[str, float] | None = None) -> list[Row]:
    """Judge all pairs as one family.

    Args:
        pairs: at least one run on each side, all values above zero.
        margin: relative difference that does not matter.
        floors: noise floor by metric column: the margin is at least this.
    """
    found = [_contrast(pair) for pair in pairs]
    margins = [max(_margin(pair.metric, margin), (floors or {}).get(pair.metric.column, 0)) for pair in pairs]
    words = verdicts(found, [pair.metric.better for pair in pairs], margins)
    parts = zip(pairs, found, words, margins, strict=True)
    return [
        _row(pair, one, word, limit, _more(pair, one, limit, len(pairs)) if word == "open" else None)
        for pair, one, word, limit in parts
    ]


def _margin(metric: Metric, margin: float) -> float:
    return min(margin, SHARE_MARGIN) if metric.unit == "share" else margin


def _contrast(pair: Pair) -> Found:
    a, b, quantile = pair.a, pair.b, pair.metric.quantile
    if quantile is None:
        return contrast(a.runs, b.runs)
    if a.merged and b.merged and min(len(a.runs.values), len(b.runs.values)) >= pc.LEAST_RUNS:
        return pc.merged_contrast(a.merged, b.merged, quantile)
    return pc.Extremes(np.exp(a.runs.logs()), np.exp(b.runs.logs()), a.runs.units()[1] or b.runs.units()[1])


def _row(pair: Pair, found: Found, word: Word, margin: float, more: int | None) -> Row:
    return Row(
        cell=pair.cell,
        metric=pair.metric,
        a=_side(pair.a, pair.metric),
        b=_side(pair.b, pair.metric),
        ratio=found.interval(),
        word=word,
        margin=margin,
        more=more,
        few=min(found.counts) < FEW,
        by=_how(pair.metric, found),
    )


def _how(metric: Metric, found: Found) -> str:
    if isinstance(found, pc.Extremes):
        return "extremes"
    return "t on logs" if metric.quantile is None else "bootstrap"


def _side(sample: Sample, metric: Metric) -> Interval:
    if metric.quantile is None:
        return mean(sample.runs)
    if sample.merged is None:
        return pc.least_and_greatest(sample.runs.values)
    return pc.bounds(sample.merged, sample.runs.values, metric.quantile)


def _more(pair: Pair, found: Found, margin: float, family: int) -> int | None:
    """For extremes: as many as the bootstrap needs at least, whatever the scatter between runs says."""
    if isinstance(found, Contrast):
        return more_runs(found, margin, family)
    runs = more_runs(contrast(pair.a.runs, pair.b.runs), margin, family)
    return None if runs is None else max(runs, pc.LEAST_RUNS - min(found.counts))


def noise_floors(cells: Sequence[Mapping[str, Runs]], runs: int) -> dict[str, float]:
    """How far apart means of so many runs of one and the same thing lie, in 95 of 100 pairs.

    Args:
        cells: A/A trials: for each cell the runs of every metric column.
        runs: repetitions on each side of the comparison it is for.

    Returns:
        Metric column -> relative difference; left out where fewer than two runs tell of it.
    """
    found = {}
    for column in {column for cell in cells for column in cell}:
        logs = [cell[column].logs() for cell in cells if column in cell]
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
    return replace(ratio, estimate=1 / ratio.estimate, low=low, high=high)
