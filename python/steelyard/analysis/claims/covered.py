"""What a claim speaks of and a form of the study leaves out, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

from steelyard.analysis.evidence import Cell, Trials
from steelyard.spec.checks import Claim, Sided, Where, levels_of
from steelyard.spec.levels import level_number, level_text


def uncovered(claim: Claim, judged: Sequence[tuple[Cell, str]]) -> str:
    """What of the range that the claim speaks of no trial of this form has."""
    levels = [level for cell, _ in judged if (level := dict(cell.key).get(claim.factor)) is not None]
    return out_of_range(claim, levels)


def out_of_range(claim: Claim, levels: Sequence[Any]) -> str:
    """What of the range that the claim speaks of lies beyond the levels of its factor that there are."""
    numbers = [number for level in claim.covers if (number := level_number(level)) is not None]
    if len(numbers) < len(claim.covers):
        there = {level_text(level) for level in levels}
        lacking = [level_text(level) for level in claim.covers if level_text(level) not in there]
        return f"{claim.factor} {', '.join(lacking)} left out" if lacking else ""
    measured = [number for level in levels if (number := level_number(level)) is not None]
    if not measured or not numbers or (min(measured) <= min(numbers) and max(measured) >= max(numbers)):
        return ""
    return f"{claim.factor} {_range(measured)} measured, {_range(numbers)} claimed"


def _range(numbers: Sequence[float]) -> str:
    ends = dict.fromkeys((min(numbers), max(numbers)))
    return " to ".join(f"{end:g}" for end in ends)


def left_out(claim: Claim, trials: Trials) -> str:
    """Levels that the claim names and no trial of this form has, or what of its range none has. Of a
    condition that names several levels one is enough.

    Args:
        claim: that cannot be judged.
        trials: all of the form, planned ones included.
    """
    if left := absent(claim, lambda column: {level_text(level) for level in trials.frame[column]}):
        return left
    rows = [row for row in trials.frame.iter_rows(named=True) if fits(claim, row)]
    return out_of_range(claim, [row[claim.factor] for row in rows]) if claim.covers else ""


def fits(claim: Claim, levels: Mapping[str, Any]) -> bool:
    """Whether a trial or a point of these levels is among those that the claim speaks of."""
    wanted = {column: said if isinstance(said, tuple) else (said,) for column, said in claim.where.items()}
    return all(level_text(levels.get(column)) in map(level_text, said) for column, said in wanted.items())


def absent(claim: Claim, there: Callable[[str], Set[str]]) -> str:
    """Levels that the claim names and the form lacks, in words; empty where it has all.

    Args:
        claim: of any form of the study.
        there: column -> the levels that the form has of it, as text.
    """
    found: dict[str, list[str]] = {}
    for column, levels in (*_conditions(claim), *_along(claim)):
        wanted = [level_text(level) for level in levels]
        if there(column).isdisjoint(wanted):
            found.setdefault(column, []).extend(wanted)
    told = [f"{column} {', '.join(dict.fromkeys(levels))}" for column, levels in found.items()]
    return f"{' and '.join(told)} left out" if told else ""


def _conditions(claim: Claim) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """(column, levels) of all that the claim and its sides ask of trials."""
    sides = (claim.check.numerator, claim.check.denominator) if isinstance(claim.check, Sided) else ()
    asked: tuple[Where, ...] = (claim.where, *(side.where for side in sides))
    for where in asked:
        for column, said in where.items():
            yield column, said if isinstance(said, tuple) else (said,)


def _along(claim: Claim) -> list[tuple[str, tuple[Any, ...]]]:
    """The same of the levels of its factor that a claim names, each for itself; numbers in `covers` are the
    ends of a range."""
    words = any(level_number(level) is None for level in claim.covers)
    said = [*_each(levels_of(claim.check)), *((claim.factor, level) for level in claim.covers if words)]
    return [(factor, (level,)) for factor, level in said]


def _each(where: Where) -> Iterator[tuple[str, Any]]:
    for factor, said in where.items():
        for level in said if isinstance(said, tuple) else (said,):
            yield factor, level
