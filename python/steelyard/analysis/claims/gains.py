"""What a factor brings: to one side against the other (slope, speed-up), and against the ideal (scaling)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from steelyard.analysis.claims.curves import Line, evidence, line_name, samples, slope_of
from steelyard.analysis.claims.pairs import metrics
from steelyard.analysis.claims.pooling import Compared, chance, contradiction, geometric_mean, pooled
from steelyard.analysis.claims.ratios import of_side
from steelyard.analysis.claims.verdict import Answer, Evidence, Finding, figure, said, sign
from steelyard.analysis.evidence import Cell, Key, Sample, versus, within
from steelyard.analysis.stats.percentiles import Extremes
from steelyard.analysis.stats.quotient import quotient, scaled
from steelyard.analysis.stats.runs import FEW, Contrast, Interval, Units
from steelyard.spec.checks import Claim, Scaling, Sided, SlopeCheck, Speedup
from steelyard.spec.levels import level_text

LinePair = tuple[Line, Line]
"""Numerator and denominator."""


def slope(claim: Claim, check: SlopeCheck, pairs: Sequence[LinePair]) -> Finding:
    """The difference of both sides' slopes on logarithms. What is steeper must rise itself: a line that is
    level rises no more sharply than one that falls."""
    found: list[Contrast] = []
    words: list[str] = []
    measured = []
    for pair in pairs:
        both = [samples(line, metric) for line, metric in zip(pair, metrics(claim, check), strict=True)]
        if any(len(one) < 2 for one in both):
            continue
        above, below = (slope_of([one]) for one in both)
        measured.append(both)
        words.append(f"{said(above.interval)} against {said(below.interval)}")
        one = _difference(above.interval, (above.error, below.error), below.interval,
                          (above.freedom, below.freedom))  # fmt: skip
        found.append(replace(one, parts=_without_figures(both)))
    if not found:
        raise ValueError("no line has trials to go by at two levels on both sides")
    told = [(f"line {n}", one.log_ratio, one.difference_p()) for n, one in enumerate(found, start=1)]
    figures = _figures(claim, check, pairs)
    if against := contradiction(told):
        return Finding("inconclusive", f"lines {against}", None, figures)
    whole = pooled(found)
    half = whole.half_width()
    difference = Interval(whole.log_ratio, whole.log_ratio - half, whole.log_ratio + half, min(whole.counts))
    answer = sign(difference, check.direction == "steeper", 0.0)
    text = f"slopes {'; '.join(words)} {_over(check.factor, measured)}"
    text += f": difference {said(difference)} (log over log)"
    steeper = slope_of([above if difference.estimate > 0 else below for above, below in measured])
    rises = steeper.interval.estimate > 0
    p = max(whole.difference_p(), steeper.p if rises else 1.0)
    if answer != "inconclusive" and not (rises and steeper.interval.excludes(0.0)):
        return Finding("inconclusive", f"{text}; but what is steeper does not rise", None, figures, p)
    return Finding(answer, text, None, figures, p)


def _over(factor: str, lines: Sequence[Sequence[Mapping[float, Sample]]]) -> str:
    """From the least to the greatest level of any line."""
    places = [place for both in lines for one in both for place in one]
    return f"over {factor} {min(places):,.10g} to {max(places):,.10g}"


def _without_figures(lines: Sequence[Mapping[float, Sample]]) -> tuple[Units, ...]:
    """On which starts and loads lines stand; a slope is no mean of single units."""
    return tuple(dict.fromkeys(sample.ids, math.nan) for line in lines for sample in line.values())


def _difference(
    above: Interval, errors: tuple[float, float], below: Interval, freedoms: tuple[float, float]
) -> Contrast:
    """Of two slopes, by Welch and Satterthwaite."""
    squares = [error**2 for error in errors]
    counts = (below.count, above.count)
    if not math.isfinite(sum(squares)):
        return Contrast(above.estimate - below.estimate, math.inf, 1.0, counts)
    parts = sum(s**2 / freedom for s, freedom in zip(squares, freedoms, strict=True))
    freedom = sum(squares) ** 2 / parts if parts else min(freedoms)
    return Contrast(above.estimate - below.estimate, math.sqrt(sum(squares)), freedom, counts)


def _figures(claim: Claim, check: Sided, pairs: Sequence[LinePair]) -> tuple[Evidence, ...]:
    sides = (check.numerator, check.denominator)
    return tuple(
        figure(of_side(side, cell), sample)
        for pair in pairs
        for line, side, metric in zip(pair, sides, metrics(claim, check), strict=True)
        for cell in line.values()
        if (sample := cell.sample(metric))
    )


def speedup(claim: Claim, check: Speedup, pairs: Sequence[LinePair]) -> Finding:
    """Last over first level on one side, over the same on the other. Within repetitions: one side over the
    other at the last level, over the same at the first, which is as much."""
    named = metrics(claim, check)
    found: list[Compared] = []
    words: list[str] = []
    for pair in pairs:
        above, below = (_within if check.paired else _between)(check, pair, named)
        words.append(f"{said(above.interval())} against {said(below.interval())}")
        found.append(quotient(above, below))
    figures = _figures(claim, check, pairs)
    told = [(words[n], one.log_ratio, one.difference_p()) for n, one in enumerate(found)]
    if against := contradiction(told):
        return Finding("inconclusive", f"speed-ups {against}", None, figures)
    estimate = geometric_mean(found)
    sides = "numerator over denominator within repetitions, last level against first:" if check.paired else ""
    text = f"{sides or 'last level over first'} {'; '.join(words)}: ratio {said(estimate)}"
    return Finding(sign(estimate, check.direction == "above"), text, estimate, figures, chance(found))


def _between(check: Speedup, pair: LinePair, named: tuple[str, str]) -> list[Contrast | Extremes]:
    """Last over first level of each side."""
    ends = _shared_ends(check, pair, named)
    both = [[samples(line, m)[place] for place in ends] for line, m in zip(pair, named, strict=True)]
    return [versus(first, last) for first, last in both]


def _within(check: Speedup, pair: LinePair, named: tuple[str, str]) -> list[Contrast]:
    """Numerator over denominator at the last level, and at the first; levels have starts of their own, so
    that errors add.

    Raises:
        ValueError: too few repetitions have both sides, or the metric is a percentile.
    """
    (above, below), (metric, beside) = pair, named
    ends = _shared_ends(check, pair, named)
    found = [within(below[place], above[place], beside, metric) for place in reversed(ends)]
    fewest = min(min(one.counts) if one else 0 for one in found)
    if fewest < FEW:
        raise ValueError(f"{fewest} of {FEW} pairs needed were measured in the same repetitions")
    means = [one for one in found if isinstance(one, Contrast)]
    if len(means) < len(found):
        raise ValueError(f"{metric} has signs only within repetitions, of which no ratio can be made")
    return means


def _shared_ends(check: Speedup, pair: LinePair, named: tuple[str, str]) -> tuple[float, float]:
    """The places of the first and the last level that both sides have."""
    above, below = (samples(line, metric) for line, metric in zip(pair, named, strict=True))
    return _ends({place: pair[0][place] for place in above if place in below}, check)


def _ends(measured: Line, check: Speedup | Scaling) -> tuple[float, float]:
    """The places of the first and the last level.

    Raises:
        ValueError: one of them was not measured.
    """
    if len(measured) < 2:
        raise ValueError("a line has no trials to go by at two levels")
    by_level = {_level(cell, check.factor): place for place, cell in measured.items()}
    ends = []
    for level, outermost in ((check.first, min(measured)), (check.last, max(measured))):
        place = outermost if level is None else by_level.get(level_text(level))
        if place is None:
            raise ValueError(f"{check.factor} {level} was not measured")
        ends.append(place)
    if ends[0] == ends[1]:
        raise ValueError(f"first and last level of {check.factor} are the same")
    return ends[0], ends[1]


def _level(cell: Cell, factor: str) -> str:
    return level_text(dict(cell.key).get(factor))


def scaling(claim: Claim, check: Scaling, found: Mapping[Key, Line]) -> Finding:
    """The share of the ideal that every line reaches together: its efficiency."""
    efficiencies: list[Contrast | Compared] = []
    beside: list[Compared] = []
    names = [line_name(key) or "all trials" for key in found]
    for line in found.values():
        measured = samples(line, claim.metric)
        first, last = (measured[place] for place in _ends({p: line[p] for p in measured}, check))
        times = (check.last or max(measured)) / (check.first or min(measured))
        ratio = versus(first, last) if check.ideal == "linear" else versus(last, first)
        one = scaled(ratio, 1.0 if check.ideal == "constant" else 1 / times)
        efficiencies.append(one)
        beside.append(scaled(one, 1 / check.least))
    estimate = geometric_mean(efficiencies)
    told = [(name, one.log_ratio, one.difference_p()) for name, one in zip(names, beside, strict=True)]
    figures = evidence(found, claim.metric)
    if against := contradiction(told):
        return Finding("inconclusive", f"efficiencies {against}", None, figures)
    answer: Answer = sign(estimate, True, check.least)
    words = f"efficiency {said(estimate)} of the ideal ({check.ideal}), claimed {check.least:g} or more"
    return Finding(answer, words, estimate, figures, chance(beside))
