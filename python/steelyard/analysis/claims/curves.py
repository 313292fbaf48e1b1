"""Claims on how a metric goes with a factor: trend, order, threshold, peak, shape.

A line is a set of cells that differ in the factor only; a claim holds when it holds on all its lines.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from scipy import stats

from steelyard.analysis.claims.cells import Cell, Key, interval, versus
from steelyard.analysis.claims.ratios import geometric_mean, said
from steelyard.analysis.claims.verdict import Answer, Evidence, Finding, sign
from steelyard.analysis.stats.fits import Comparison, compare
from steelyard.analysis.stats.models import LATENCY, THROUGHPUT
from steelyard.analysis.stats.peak import peak as find_peak
from steelyard.analysis.stats.percentiles import Extremes
from steelyard.analysis.stats.runs import CONFIDENCE, Contrast, Interval
from steelyard.analysis.stats.verdicts import LEVEL, holm
from steelyard.spec.checks import Claim, Level, Order, PeakCheck, Shape, Threshold, Trend

Line = Mapping[float, Cell]
"""Level of the factor, or its rank -> the cell."""


def lines(cells: Mapping[Key, Cell], factor: str, levels: Sequence[Level] = ()) -> dict[Key, Line]:
    """Cells by line, in the order of the factor; a level that is neither a number nor listed is left out."""
    ranks = {str(level): float(rank) for rank, level in enumerate(levels, start=1)}
    found: dict[Key, dict[float, Cell]] = {}
    for key, cell in cells.items():
        level = dict(key).get(factor)
        place = ranks.get(str(level)) if levels else _number(level)
        if place is not None:
            found.setdefault(tuple(part for part in key if part[0] != factor), {})[place] = cell
    return {key: dict(sorted(line.items())) for key, line in found.items() if len(line) > 1}


def _number(level: object) -> float | None:
    try:
        return float(str(level))
    except ValueError:
        return None


def evidence(found: Mapping[Key, Line], metric: str) -> tuple[Evidence, ...]:
    """The figure of every cell that has one."""
    cells = [cell for line in found.values() for cell in line.values() if cell.runs(metric).values]
    return tuple(Evidence(cell.name, interval(cell.runs(metric), metric), metric) for cell in cells)


def trend(claim: Claim, check: Trend, found: Mapping[Key, Line]) -> Finding:
    """The common slope on logarithms of metric and factor; each line has a level of its own."""
    slope = _slope(found, claim.metric)
    answer = sign(slope, check.direction == "up", 0.0)
    told = [line for line in found.values() if len(_places(line, claim.metric)) > 1]
    ends = geometric_mean([_ends(line, claim.metric) for line in told])
    words = f"slope {said(slope)} (log over log), last level over first {said(ends)}"
    if check.levels:
        words = f"last level over first {said(ends)}"
    return Finding(answer, words, ends, evidence(found, claim.metric))


def _places(line: Line, metric: str) -> list[float]:
    """The levels that have trials to go by."""
    return [place for place, cell in line.items() if cell.runs(metric).values]


def _logs(cell: Cell, metric: str) -> np.ndarray:
    runs = cell.runs(metric)
    return runs.logs() if runs.values else np.zeros(0)


def _ends(line: Line, metric: str) -> Contrast | Extremes:
    places = _places(line, metric)
    return versus(line[places[0]].runs(metric), line[places[-1]].runs(metric), metric)


def _slope(found: Mapping[Key, Line], metric: str) -> Interval:
    """Least squares on units, deviations from each line's mean."""
    xs, ys = [], []
    for line in found.values():
        points = [(math.log(x), y) for x, cell in line.items() for y in _logs(cell, metric)]
        if len({x for x, _ in points}) > 1:
            x, y = np.array(points).T
            xs.append(x - x.mean())
            ys.append(y - y.mean())
    if not xs:
        raise ValueError("no line has trials to go by at two levels")
    x, y = np.concatenate(xs), np.concatenate(ys)
    fit = stats.linregress(x, y)
    freedom = x.size - len(xs) - 1
    error = fit.stderr * math.sqrt((x.size - 2) / freedom)
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * error)
    return Interval(float(fit.slope), float(fit.slope) - half, float(fit.slope) + half, x.size)


def order(claim: Claim, check: Order, found: Mapping[Key, Line]) -> Finding:
    """Every pair of levels of neighbouring groups, by Holm's correction over all of them."""
    names = [str(level) for group in check.groups for level in group]
    ranks = {name: float(rank) for rank, name in enumerate(names, start=1)}
    pairs = [(str(low), str(high)) for a, b in pairwise(check.groups)
             for low in a for high in b]  # fmt: skip
    contrasts = {}
    for key, line in found.items():
        for low, high in pairs:
            if {ranks[low], ranks[high]} <= {*_places(line, claim.metric)}:
                below, above = (line[ranks[level]].runs(claim.metric) for level in (low, high))
                contrasts[(key, low, high)] = versus(below, above, claim.metric)
    if not contrasts:
        raise ValueError("no two levels of neighbouring groups were measured")
    chances = holm([c.difference_p() for c in contrasts.values()])
    rising = [c.log_ratio > 0 for c in contrasts.values()]
    shown = chances < LEVEL
    answer: Answer = "inconclusive"
    if any(told and not up for told, up in zip(shown, rising, strict=True)):
        answer = "refuted"
    elif contrasts and all(shown):
        answer = "confirmed"
    ratios = tuple(Evidence(f"{high} over {low}", c.interval()) for (_, low, high), c in contrasts.items())
    words = f"{sum(map(bool, shown & np.array(rising)))} of {len(contrasts)} pairs in the claimed order"
    return Finding(answer, words, None, (*evidence(found, claim.metric), *ratios))


def _points(line: Line, metric: str) -> tuple[np.ndarray, np.ndarray]:
    points = [(x, math.exp(y)) for x, cell in line.items() for y in _logs(cell, metric)]
    if not points:
        raise ValueError("a line has no trials to go by")
    x, y = np.array(points).T
    return x, y


def threshold(claim: Claim, check: Threshold, found: Mapping[Key, Line]) -> Finding:
    """Whether `linear-then-flat` beats `linear` and `logarithmic` on every line; the plateau or the knee."""
    answers: list[Answer] = []
    said_: list[str] = []
    estimates: list[Interval] = []
    for line in found.values():
        fits = compare(
            *_points(line, claim.metric), ("constant", "linear", "logarithmic", "linear-then-flat")
        )
        answers.append(_wins(fits, "linear-then-flat"))
        bent = next((fit for fit in fits.fits if fit.name == "linear-then-flat"), None)
        if bent:
            estimates.append(bent.parameters["a" if check.of == "plateau" else "k"])
            said_.append(f"{check.of} {said(estimates[-1])}, weight {fits.weight('linear-then-flat'):.2f}")
    estimate = estimates[0] if len(estimates) == 1 else None
    return Finding(
        _all(answers), "; ".join(said_) or "no knee could be fitted", estimate, evidence(found, claim.metric)
    )


def peak(claim: Claim, _: PeakCheck, found: Mapping[Key, Line]) -> Finding:
    """Whether the curve rises and then falls, on every line; where it is highest."""
    peaks = [
        find_peak({place: line[place].runs(claim.metric) for place in _places(line, claim.metric)})
        for line in found.values()
    ]
    answers: list[Answer] = [
        "confirmed"
        if p.answer == "rises then falls"
        else "inconclusive"
        if p.answer == "undecided"
        else "refuted"
        for p in peaks
    ]
    words = "; ".join(
        f"{p.answer}, highest at {p.at:g} (as high: {p.around[0]:g} to {p.around[1]:g})" for p in peaks
    )
    only = peaks[0] if len(peaks) == 1 else None
    estimate = Interval(only.at, *only.around, len(found)) if only else None
    return Finding(_all(answers), words, estimate, evidence(found, claim.metric))


def shape(claim: Claim, check: Shape, found: Mapping[Key, Line]) -> Finding:
    """Which model wins, on every line."""
    names = check.against or (THROUGHPUT if claim.metric.endswith("_per_s") else LATENCY)
    names = tuple(dict.fromkeys((check.shape, *names)))
    fits = [compare(*_points(line, claim.metric), names) for line in found.values()]
    words = "; ".join(
        f"{f.winner}: "
        + ", ".join(f"{fit.name} {fit.weight:.2f} (misses by {fit.miss:.0%})" for fit in f.fits[:3])
        for f in fits
    )
    return Finding(_all([_wins(f, check.shape) for f in fits]), words, None, evidence(found, claim.metric))


def _wins(fits: Comparison, name: str) -> Answer:
    if fits.winner == name:
        return "confirmed"
    return "inconclusive" if fits.winner == "undecided" else "refuted"


def _all(answers: Sequence[Answer]) -> Answer:
    """Confirmed when every line confirms, refuted when one refutes."""
    if "refuted" in answers:
        return "refuted"
    return "confirmed" if answers and set(answers) == {"confirmed"} else "inconclusive"
