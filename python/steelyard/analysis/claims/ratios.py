"""Ratios between two sides at matched cells: a geometric mean with its interval, and equality."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.analysis.claims.verdict import Answer, Evidence, Finding, sign
from steelyard.analysis.evidence import Cell, Found, Key, Sample, Trials, versus
from steelyard.analysis.stats.runs import Contrast, Interval
from steelyard.analysis.stats.verdicts import LEVEL, holm
from steelyard.spec.checks import Claim, Equality, Ratio, Side
from steelyard.spec.levels import level_number

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
    """A cell without a target, of which each client sends as fast as it is answered, has none to reach."""
    target, sample = level_number(dict(cell.key).get(check.target)), cell.sample(check.throughput)
    if target is None or sample is None:
        return False
    return sample.interval.estimate >= (1 - REACHED) * target


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
    return max(cells, key=lambda cell: s.interval.estimate if (s := cell.sample(check.throughput)) else 0.0)


def metrics(claim: Claim, check: Ratio | Equality) -> tuple[str, str]:
    """Each side's metric."""
    sides: tuple[Side, Side] = check.numerator, check.denominator
    return sides[0].metric or claim.metric, sides[1].metric or claim.metric


def geometric_mean(found: Sequence[Found]) -> Interval:
    """Of ratios of cells, about these cells: errors of means add in squares; where a cell has only its least
    and greatest ratio, all ends are averaged, as if every cell erred the same way."""
    plain = [c for c in found if isinstance(c, Contrast)]
    if len(plain) == len(found):
        return pooled(plain).interval()
    count, given = min(min(c.counts) for c in found), next((c.given for c in found if c.given), "")
    ends = [c.interval() for c in found]
    low = _geometric([i.low for i in ends], 0.0)
    high = _geometric([i.high for i in ends], math.inf)
    return Interval(_geometric([i.estimate for i in ends], 1.0), low, high, count, given)


def _geometric(values: Sequence[float], undecided: float) -> float:
    """The geometric mean; of values among which are both 0 and inf it is not known."""
    if 0.0 in values and math.inf in values:
        return undecided
    return math.exp(sum(math.log(v) if v else -math.inf for v in values) / len(values))


def pooled(found: Sequence[Contrast]) -> Contrast:
    """The mean of log ratios, degrees of freedom by Welch and Satterthwaite."""
    count, given = min(min(c.counts) for c in found), next((c.given for c in found if c.given), "")
    log_ratio = sum(c.log_ratio for c in found) / len(found)
    squares = [c.error**2 for c in found]
    parts = sum(s**2 / c.freedom for s, c in zip(squares, found, strict=True))
    freedom = sum(squares) ** 2 / parts if parts and math.isfinite(parts) else found[0].freedom
    return Contrast(log_ratio, math.sqrt(sum(squares)) / len(found), freedom, (count, count), given)


def chance(found: Sequence[Found]) -> float:
    """Of ratios this far from 1 when all are 1; of cells with only their least and greatest ratio the
    largest."""
    plain = [c for c in found if isinstance(c, Contrast)]
    if len(plain) == len(found):
        return pooled(plain).difference_p()
    return max(c.difference_p() for c in found)


def alike(found: Sequence[Found], margin: float) -> float:
    """Chance of ratios this well inside the margin when the truth lies at its border."""
    plain = [c for c in found if isinstance(c, Contrast)]
    if len(plain) == len(found):
        return pooled(plain).equivalence_p(margin)
    return max(c.equivalence_p(margin) for c in found)


def contradiction(told: Sequence[tuple[str, float, float]]) -> str:
    """What is said when parts of one finding go opposite ways beyond chance (Holm); else nothing.

    Args:
        told: (name, effect, its chance) of each part; an effect above 0 goes up.
    """
    shown = holm([p for _, _, p in told]) < LEVEL
    up = [name for (name, effect, _), sure in zip(told, shown, strict=True) if sure and effect > 0]
    down = [name for (name, effect, _), sure in zip(told, shown, strict=True) if sure and effect < 0]
    if not up or not down:
        return ""
    return f"not pooled, since they contradict each other: up at {'; '.join(up)}, down at {'; '.join(down)}"


@dataclass(frozen=True)
class _Compared:
    """The ratios of matched cells, and the figures beneath them."""

    found: tuple[Found, ...]
    names: tuple[str, ...]
    evidence: tuple[Evidence, ...]

    @property
    def contradiction(self) -> str:
        parts = zip(self.names, self.found, strict=True)
        return contradiction([(name, one.log_ratio, one.difference_p()) for name, one in parts])


def _compared(claim: Claim, check: Ratio | Equality, pairs: Sequence[Pair]) -> _Compared:
    above, below = metrics(claim, check)
    found, names, evidence = [], [], []
    for numerator, denominator in pairs:
        a, b = numerator.sample(above), denominator.sample(below)
        if a is None or b is None:
            continue
        found.append(one := versus(b, a))
        names.append(numerator.name)
        evidence += [
            figure(_where(check.numerator, numerator), a),
            figure(_where(check.denominator, denominator), b),
            Evidence(f"ratio at {numerator.name}", one.interval()),
        ]
    if not found:
        raise ValueError("no cell has trials to go by on both sides")
    return _Compared(tuple(found), tuple(names), tuple(evidence))


def figure(what: str, sample: Sample) -> Evidence:
    """The figure of one cell."""
    return Evidence(what, sample.interval, sample.metric, sample.way)


def _where(side: Side, cell: Cell) -> str:
    return ", ".join([*(f"{c} {v}" for c, v in side.where.items()), *([cell.name] if cell.key else [])])


def ratio(claim: Claim, check: Ratio, pairs: Sequence[Pair]) -> Finding:
    """Whether the ratio lies on the claimed side of 1, and how large it is."""
    compared = _compared(claim, check, pairs)
    if against := compared.contradiction:
        return Finding("inconclusive", f"ratios {against}", None, compared.evidence)
    estimate = geometric_mean(compared.found)
    words = f"ratio {said(estimate)} over {len(pairs)} matched cell{'s' if len(pairs) > 1 else ''}"
    answer = sign(estimate, check.upwards)
    return Finding(answer, words, estimate, compared.evidence, chance(compared.found))


def equality(claim: Claim, check: Equality, pairs: Sequence[Pair]) -> Finding:
    """Whether the ratio lies within the margin around 1."""
    compared = _compared(claim, check, pairs)
    estimate = geometric_mean(compared.found)
    low, high = 1 / (1 + check.margin), 1 + check.margin
    outside = estimate.low > high or estimate.high < low
    answer: Answer = "confirmed" if estimate.within(low, high) else "refuted" if outside else "inconclusive"
    words = f"ratio {said(estimate)}, margin {check.margin:.0%}"
    p = None if outside else alike(compared.found, check.margin)
    if against := compared.contradiction:
        answer, words, p = "inconclusive", f"ratios {against}", None
    return Finding(answer, words, None, compared.evidence, p)


def said(estimate: Interval) -> str:
    """`0.41 [0.38, 0.44]`."""
    return f"{estimate.estimate:.3g} [{estimate.low:.3g}, {estimate.high:.3g}]"
