"""Ratios between two sides at matched cells: a geometric mean with its interval, and equality."""

from __future__ import annotations

import math
from collections.abc import Sequence

from steelyard.analysis.claims.cells import Cell, Key, Trials, interval, versus
from steelyard.analysis.claims.verdict import Evidence, Finding, sign
from steelyard.analysis.stats.percentiles import Extremes
from steelyard.analysis.stats.runs import Contrast, Interval, mean
from steelyard.spec.checks import Claim, Equality, Ratio, Side

REACHED = 0.02
"""A target is reached when the mean throughput is within this share of it."""

Pair = tuple[Cell, Cell]
"""Numerator and denominator."""


def matched(claim: Claim, check: Ratio | Equality, trials: Trials) -> list[Pair]:
    """Cells that both sides have; what the sides' own conditions name does not count for matching."""
    apart = {*check.numerator.where, *check.denominator.where}
    both = [
        trials.where(claim.where, side.where).cells(apart) for side in (check.numerator, check.denominator)
    ]
    pairs = [(cell, both[1][key]) for key, cell in both[0].items() if key in both[1]]
    if not isinstance(check, Ratio) or check.cells == "all":
        return pairs
    return _reached(pairs, check) if check.cells == "reached" else _plateaus(pairs, check)


def _reached(pairs: Sequence[Pair], check: Ratio) -> list[Pair]:
    return [pair for pair in pairs if all(_reaches(cell, check) for cell in pair)]


def _reaches(cell: Cell, check: Ratio) -> bool:
    target = dict(cell.key).get(check.target)
    runs = cell.runs(check.throughput)
    return bool(runs.values) and target is not None and mean(runs).estimate >= (1 - REACHED) * float(target)


def _plateaus(pairs: Sequence[Pair], check: Ratio) -> list[Pair]:
    """For each line of targets: each side's cell of highest throughput, be it at another target."""
    lines: dict[Key, list[Pair]] = {}
    for pair in pairs:
        line = tuple(part for part in pair[0].key if part[0] != check.target)
        lines.setdefault(line, []).append(pair)
    return [
        (_highest([p[0] for p in line], check), _highest([p[1] for p in line], check))
        for line in lines.values()
    ]


def _highest(cells: Sequence[Cell], check: Ratio) -> Cell:
    runs = {n: cell.runs(check.throughput) for n, cell in enumerate(cells)}
    return cells[max(runs, key=lambda n: mean(runs[n]).estimate if runs[n].values else 0.0)]


def metrics(claim: Claim, check: Ratio | Equality) -> tuple[str, str]:
    """Each side's metric."""
    sides: tuple[Side, Side] = check.numerator, check.denominator
    return sides[0].metric or claim.metric, sides[1].metric or claim.metric


def geometric_mean(found: Sequence[Contrast | Extremes]) -> Interval:
    """Of ratios of cells, about these cells: errors of means add in squares; where a cell has only its least
    and greatest ratio, all ends are averaged, as if every cell erred the same way."""
    plain = [c for c in found if isinstance(c, Contrast)]
    count, given = min(min(c.counts) for c in found), next((c.given for c in found if c.given), "")
    if len(plain) < len(found):
        ends = [c.interval() for c in found]
        low = math.exp(sum(math.log(i.low) for i in ends) / len(ends)) if all(i.low for i in ends) else 0.0
        high = math.exp(sum(math.log(i.high) for i in ends) / len(ends))
        return Interval(
            math.exp(sum(math.log(i.estimate) for i in ends) / len(ends)), low, high, count, given
        )
    log_ratio = sum(c.log_ratio for c in plain) / len(plain)
    squares = [c.error**2 for c in plain]
    parts = sum(s**2 / c.freedom for s, c in zip(squares, plain, strict=True))
    freedom = sum(squares) ** 2 / parts if parts and math.isfinite(parts) else plain[0].freedom
    error = math.sqrt(sum(squares)) / len(plain)
    return Contrast(log_ratio, error, freedom, (count, count), given).interval()


def _compared(
    claim: Claim, check: Ratio | Equality, pairs: Sequence[Pair]
) -> tuple[Interval, tuple[Evidence, ...]]:
    above, below = metrics(claim, check)
    found, evidence = [], []
    usable = [(a, b) for a, b in pairs if a.runs(above).values and b.runs(below).values]
    if not usable:
        raise ValueError("no cell has trials to go by on both sides")
    for numerator, denominator in usable:
        one = versus(denominator.runs(below), numerator.runs(above), above)
        found.append(one)
        evidence += [
            Evidence(_where(check.numerator, numerator), interval(numerator.runs(above), above), above),
            Evidence(_where(check.denominator, denominator), interval(denominator.runs(below), below), below),
            Evidence(f"ratio at {numerator.name}", one.interval()),
        ]
    return geometric_mean(found), tuple(evidence)


def _where(side: Side, cell: Cell) -> str:
    return ", ".join([*(f"{c} {v}" for c, v in side.where.items()), *([cell.name] if cell.key else [])])


def ratio(claim: Claim, check: Ratio, pairs: Sequence[Pair]) -> Finding:
    """Whether the ratio lies on the claimed side of 1, and how large it is."""
    estimate, evidence = _compared(claim, check, pairs)
    words = f"ratio {said(estimate)} over {len(pairs)} matched cell{'s' if len(pairs) > 1 else ''}"
    return Finding(sign(estimate, check.upwards), words, estimate, evidence)


def equality(claim: Claim, check: Equality, pairs: Sequence[Pair]) -> Finding:
    """Whether the ratio lies within the margin around 1."""
    estimate, evidence = _compared(claim, check, pairs)
    low, high = 1 / (1 + check.margin), 1 + check.margin
    outside = estimate.low > high or estimate.high < low
    answer = "confirmed" if estimate.within(low, high) else "refuted" if outside else "inconclusive"
    return Finding(answer, f"ratio {said(estimate)}, margin {check.margin:.0%}", None, evidence)  # type: ignore[arg-type]


def said(estimate: Interval) -> str:
    """`0.41 [0.38, 0.44]`."""
    return f"{estimate.estimate:.3g} [{estimate.low:.3g}, {estimate.high:.3g}]"
