"""Which level of a factor wins, and whether that depends on another factor."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from steelyard.analysis.claims.curves import Line, all_rise, evidence, line_name, samples
from steelyard.analysis.claims.verdict import Evidence, Finding
from steelyard.analysis.evidence import Found, Key, Sample, versus
from steelyard.analysis.stats.verdicts import LEVEL, holm
from steelyard.spec.checks import Best, Claim
from steelyard.spec.levels import level_text

Levels = Mapping[str, Sample]
"""Level of the factor in words -> its figure."""


def best(claim: Claim, check: Best, found: Mapping[Key, Line]) -> Finding:
    """Every pair of levels that decides it, by Holm's correction over all of them."""
    levels = {key: one for key, line in found.items() if len(one := _levels(line, claim.metric, check)) > 1}
    if not levels:
        raise ValueError("no line has trials to go by at two levels")
    figures = evidence(found, claim.metric)
    if check.depends_on is not None:
        return _depends(check, levels, figures)
    wins = level_text(check.level)
    if absent := [line_name(key) for key, line in levels.items() if wins not in line]:
        raise ValueError(f"{check.factor} {wins} was not measured at {absent[0] or 'all'}")
    contrasts = {
        (key, other): _beats(check, line[wins], sample)
        for key, line in levels.items()
        for other, sample in line.items()
        if other != wins
    }
    answer, words, chance = all_rise([*contrasts.values()])
    ratios = tuple(
        Evidence(f"how far {wins} is ahead of {other}{_at(key)}", one.interval())
        for (key, other), one in contrasts.items()
    )
    return Finding(answer, f"{wins} wins in {words}", None, (*figures, *ratios), chance)


def _levels(line: Line, metric: str, check: Best) -> Levels:
    return {
        level_text(dict(line[place].key).get(check.factor)): sample
        for place, sample in samples(line, metric).items()
    }


def _at(key: Key) -> str:
    return f", {line_name(key)}" if key else ""


def _beats(check: Best, one: Sample, other: Sample) -> Found:
    """Above 1 when the first is the better."""
    return versus(other, one) if check.want == "highest" else versus(one, other)


def _depends(check: Best, levels: Mapping[Key, Levels], figures: tuple[Evidence, ...]) -> Finding:
    """Confirmed when in every group of lines the winners of two change places beyond chance; refuted when one
    level is ahead of all others on every line.

    Raises:
        ValueError: the factor it is to depend on was not varied.
    """
    contrasts = {
        (key, *pair): _beats(check, line[pair[0]], line[pair[1]])
        for key, line in levels.items()
        for pair in combinations(sorted(line), 2)
    }
    chances = holm([one.difference_p() for one in contrasts.values()])
    ahead: dict[Key, dict[tuple[str, str], float]] = {key: {} for key in levels}
    for ((key, a, b), one), p in zip(contrasts.items(), chances, strict=True):
        ahead[key][(a, b) if one.log_ratio > 0 else (b, a)] = float(p)
    groups: dict[Key, list[Key]] = {}
    for key in levels:
        groups.setdefault(tuple(part for part in key if part[0] != check.depends_on), []).append(key)
    if any(len(keys) < 2 for keys in groups.values()):
        raise ValueError(f"{check.depends_on} has one level")
    crossings = [
        _crossing([(_first(check, levels[key]), ahead[key]) for key in keys]) for keys in groups.values()
    ]
    words = "; ".join(f"{line_name(key) or 'all'}: {_first(check, line)}" for key, line in levels.items())
    text = f"ahead by {check.depends_on}: {words}"
    if max(crossings) < LEVEL:
        return Finding("confirmed", text, None, figures, max(crossings))
    always = _always(ahead)
    if always < LEVEL:
        return Finding("refuted", text, None, figures, always)
    return Finding("inconclusive", text, None, figures, max(crossings))


def _crossing(lines: list[tuple[str, Mapping[tuple[str, str], float]]]) -> float:
    """The least chance at which the winners of two lines change places between them; 1 where none do.

    Args:
        lines: the winner of each, and (ahead, behind) -> chance, corrected over all pairs.
    """
    found = [
        max(one.get((first, second), 1.0), other.get((second, first), 1.0))
        for (first, one), (second, other) in combinations(lines, 2)
        if first != second
    ]
    return min(found, default=1.0)


def _always(ahead: Mapping[Key, Mapping[tuple[str, str], float]]) -> float:
    """The chance at which one level is ahead of all others on every line; 1 where none is."""
    names = {level for line in ahead.values() for pair in line for level in pair}
    found = [
        max(line.get((level, other), 1.0) for line in ahead.values() for other in names - {level})
        for level in names
    ]
    return min(found, default=1.0)


def _first(check: Best, line: Levels) -> str:
    """The level whose figure is the best."""
    pick = max if check.want == "highest" else min
    return pick(line, key=lambda level: line[level].interval.estimate)
