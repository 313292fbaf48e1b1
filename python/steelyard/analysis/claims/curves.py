"""Claims on how a metric goes with a factor: trend, order, threshold, peak, shape.

A line is a set of cells that differ in the factor only; a claim holds when it holds on all its lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.claims.pooling import contradiction, geometric_mean, most
from steelyard.analysis.claims.verdict import Answer, Evidence, Finding, figure, said, sign, unanimous
from steelyard.analysis.evidence import Cell, Found, Key, Sample, versus
from steelyard.analysis.stats.fits import Comparison, compare
from steelyard.analysis.stats.models import LATENCY, THROUGHPUT
from steelyard.analysis.stats.peak import peak as find_peak
from steelyard.analysis.stats.runs import Interval
from steelyard.analysis.stats.shared import mean_units, share_units
from steelyard.analysis.stats.slopes import Slope, alike, by_ranks, least_squares
from steelyard.analysis.stats.verdicts import LEVEL, holm
from steelyard.spec.checks import Claim, Level, Order, PeakCheck, Shape, Threshold, Trend
from steelyard.spec.levels import level_number, level_text

Floats = NDArray[np.float64]
Line = Mapping[float, Cell]
"""Level of the factor, or its rank -> the cell."""


def lines(cells: Mapping[Key, Cell], factor: str, levels: Sequence[Level] = ()) -> dict[Key, Line]:
    """Cells by line, in the order of the factor; a level that is neither a number nor listed is left out.

    What moves with the factor, as settings that are zipped with it, tells no lines apart."""
    along = {factor, *_moving(cells, factor)}
    ranks = {level_text(level): float(rank) for rank, level in enumerate(levels, start=1)}
    found: dict[Key, dict[float, Cell]] = {}
    for key, cell in cells.items():
        level = dict(key).get(factor)
        place = ranks.get(level_text(level)) if levels else level_number(level)
        if place is not None:
            found.setdefault(tuple(part for part in key if part[0] not in along), {})[place] = cell
    return {key: dict(sorted(line.items())) for key, line in found.items() if len(line) > 1}


def _moving(cells: Iterable[Key], factor: str) -> set[str]:
    """Columns that have another level wherever the factor has, and one for each level of it."""
    points = [dict(key) for key in cells]
    others = {column for point in points for column in point if column != factor}
    levels = len({level_text(point.get(factor)) for point in points})
    return {
        column for column in others
        if all(factor in point and column in point for point in points)
        and len({level_text(point[column]) for point in points}) == levels
        and len({(level_text(point[factor]), level_text(point[column])) for point in points}) == levels
    }  # fmt: skip


def samples(line: Line, metric: str) -> dict[float, Sample]:
    """The levels that have trials to go by."""
    return {place: sample for place, cell in line.items() if (sample := cell.sample(metric))}


def evidence(found: Mapping[Key, Line], metric: str) -> tuple[Evidence, ...]:
    """The figure of every cell that has one."""
    cells = [cell for line in found.values() for cell in line.values()]
    return tuple(figure(cell.name, sample) for cell in cells if (sample := cell.sample(metric)))


def trend(claim: Claim, check: Trend, found: Mapping[Key, Line]) -> Finding:
    """The common slope on logarithms of metric and factor; each line has a level of its own. A slope that
    holds over the whole confirms nothing where two neighbouring levels surely go the other way."""
    told = {key: s for key, line in found.items() if len(s := samples(line, claim.metric)) > 1}
    if not told:
        raise ValueError("no line has trials to go by at two levels")
    apart = [
        (line_name(key), s.interval.estimate, s.p) for key, one in told.items() for s in [slope_of([one])]
    ]
    if check.most:
        turning = _turns(told, check, [effect > 0 for _, effect, _ in apart])
        apart = [  # a line that turns goes neither way
            (name, effect, 1.0 if key in turning else p)
            for key, (name, effect, p) in zip(told, apart, strict=True)
        ]
        counted, words, p = most(apart, check.direction == "up", "lines")
        return Finding(counted, words, None, evidence(found, claim.metric), p)
    if against := contradiction(apart):
        return Finding("inconclusive", f"lines {against}", None, evidence(found, claim.metric))
    slope = slope_of([*told.values()])
    ends = geometric_mean([versus(*_ends(one)) for one in told.values()])
    words = f"slope {said(slope.interval)} (log over log), last level over first {said(ends)}"
    if check.levels:
        words = f"last level over first {said(ends)}"
    answer = sign(slope.interval, check.direction == "up", 0.0)
    turns = _turns(told, check, [check.direction == "up"] * len(told))
    if answer == "confirmed" and turns:
        words = f"{words}; but {next(iter(turns.values()))}"
        return Finding("inconclusive", words, ends, evidence(found, claim.metric))
    return Finding(answer, words, ends, evidence(found, claim.metric), slope.p)


def _turns(
    told: Mapping[Key, Mapping[float, Sample]], check: Trend, upwards: Sequence[bool]
) -> dict[Key, str]:
    """Lines of which two neighbouring levels go another way than their line beyond chance (Holm over all
    pairs), each with the first such pair in words."""
    ways = dict(zip(told, upwards, strict=True))
    pairs = [(key, low, high) for key, line in told.items() for low, high in pairwise(line)]
    steps = [versus(told[key][low], told[key][high]) for key, low, high in pairs]
    sure = holm([step.difference_p() for step in steps]) < LEVEL
    found: dict[Key, str] = {}
    for (key, low, high), step, shown in zip(pairs, steps, sure, strict=True):
        if shown and (step.log_ratio > 0) != ways[key]:
            ends = [level_text(check.levels[int(p) - 1]) if check.levels else f"{p:g}" for p in (low, high)]
            at = f" at {line_name(key)}" if key else ""
            found.setdefault(key, f"{check.factor} {' to '.join(ends)} goes the other way{at}")
    return found


def line_name(key: Key) -> str:
    """A line's point in words."""
    return ", ".join(f"{column} {level}" for column, level in key)


def _ends(line: Mapping[float, Sample]) -> tuple[Sample, Sample]:
    """The first level's and the last level's."""
    return line[min(line)], line[max(line)]


def slope_of(found: Sequence[Mapping[float, Sample]]) -> Slope:
    """The common slope of lines through units, on logarithms.

    Lines that stand on the same starts or loads are one line, of each start's mean over them; where that
    cannot be formed, their slopes' errors are averaged as if lines erred alike.

    Raises:
        ValueError: a level is 0 or below.
    """
    if any(place <= 0 for line in found for place in line):
        raise ValueError("a level of 0 has no logarithm")
    means = all(sample.way == "mean" for line in found for sample in line.values())
    fit = least_squares if means else by_ranks
    with np.errstate(divide="ignore"):
        lines = [_through(line, [np.log(sample.units) for sample in line.values()]) for line in found]
    parts = [[sample.ids for sample in line.values()] for line in found]
    if len(found) < 2 or not share_units(parts):
        return fit(lines)
    if all(line.keys() == found[0].keys() for line in found) and (together := mean_units(parts)):
        return fit([_through(found[0], together)])
    return alike([fit([line]) for line in lines])


def _through(line: Mapping[float, Sample], logs: Sequence[Floats]) -> tuple[Floats, Floats]:
    """x and y of every unit: the level's logarithm, and the figure's."""
    x = [np.full(units.size, math.log(place)) for place, units in zip(line, logs, strict=True)]
    return np.concatenate(x), np.concatenate(logs)


def order(claim: Claim, check: Order, found: Mapping[Key, Line]) -> Finding:
    """Every pair of levels of neighbouring groups, by Holm's correction over all of them."""
    names = [level_text(level) for group in check.groups for level in group]
    ranks = {name: float(rank) for rank, name in enumerate(names, start=1)}
    pairs = [(level_text(low), level_text(high)) for a, b in pairwise(check.groups)
             for low in a for high in b]  # fmt: skip
    contrasts = {}
    for key, line in found.items():
        measured = samples(line, claim.metric)
        for low, high in pairs:
            if {ranks[low], ranks[high]} <= measured.keys():
                contrasts[(key, low, high)] = versus(measured[ranks[low]], measured[ranks[high]])
    if not contrasts:
        raise ValueError("no two levels of neighbouring groups were measured")
    answer, words, chance = all_rise([*contrasts.values()])
    ratios = tuple(Evidence(f"{high} over {low}", c.interval()) for (_, low, high), c in contrasts.items())
    return Finding(answer, words, None, (*evidence(found, claim.metric), *ratios), chance)


def all_rise(found: Sequence[Found]) -> tuple[Answer, str, float]:
    """Whether every ratio lies above 1, by Holm's correction: the answer, the count in words, its chance."""
    plain = [c.difference_p() for c in found]
    chances = holm(plain)
    shown, rising = chances < LEVEL, np.array([c.log_ratio > 0 for c in found])
    answer: Answer = "inconclusive"
    if (shown & ~rising).any():
        answer = "refuted"
    elif shown.all():
        answer = "confirmed"
    # one alone refutes; all must hold
    chance = float(chances[~rising].min()) if answer == "refuted" else max(plain)
    return answer, f"{int((shown & rising).sum())} of {len(found)} pairs in the claimed order", chance


def _points(line: Line, metric: str) -> tuple[Floats, Floats]:
    points = [(x, y) for x, sample in samples(line, metric).items() for y in sample.points]
    if not points:
        raise ValueError("a line has no trials to go by")
    x, y = np.array(points).T
    return x, y


def threshold(claim: Claim, check: Threshold, found: Mapping[Key, Line]) -> Finding:
    """Whether `linear-then-flat` beats `linear` and `logarithmic` on every line, and rises; the plateau or
    the knee."""
    answers: list[Answer] = []
    said_: list[str] = []
    estimates: list[Interval] = []
    for line in found.values():
        fits = compare(
            *_points(line, claim.metric), ("constant", "linear", "logarithmic", "linear-then-flat")
        )
        answers.append(_wins(fits, "linear-then-flat", check.largest_miss))
        bent = next((fit for fit in fits.fits if fit.name == "linear-then-flat"), None)
        if bent and fits.winner == bent.name and bent.parameters["b"].estimate <= 0:
            answers[-1] = "refuted"  # the model bends either way
            said_.append("it falls")
        if bent:
            estimates.append(bent.parameters["a" if check.of == "plateau" else "k"])
            said_.append(f"{check.of} {said(estimates[-1])}, weight {fits.weight('linear-then-flat'):.2f}")
    estimate = estimates[0] if len(estimates) == 1 else None
    return Finding(
        unanimous(answers),
        "; ".join(said_) or "no knee could be fitted",
        estimate,
        evidence(found, claim.metric),
    )


def peak(claim: Claim, _: PeakCheck, found: Mapping[Key, Line]) -> Finding:
    """Whether the curve rises and then falls, on every line; where it is highest."""
    peaks = [
        find_peak(samples(line, claim.metric), versus, lambda sample: sample.interval.estimate)
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
    return Finding(
        unanimous(answers), words, estimate, evidence(found, claim.metric), max(p.chance for p in peaks)
    )


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
    return Finding(
        unanimous([_wins(f, check.shape, check.largest_miss) for f in fits]),
        words,
        None,
        evidence(found, claim.metric),
    )


def _wins(fits: Comparison, name: str, largest_miss: float) -> Answer:
    """Confirmed when the model wins and fits; one that wins and misses is only the least bad. Refuted when
    another wins, unless that is a special case of this one, which bears more of the evidence itself."""
    claimed = next((fit for fit in fits.fits if fit.name == name), None)
    if fits.winner == name and claimed:
        return "confirmed" if claimed.miss <= largest_miss else "inconclusive"
    special = claimed is not None and fits.winner in claimed.model.special_cases
    if fits.winner == "undecided" or (special and fits.weight(name) > fits.weight(fits.winner)):
        return "inconclusive"
    return "refuted"
