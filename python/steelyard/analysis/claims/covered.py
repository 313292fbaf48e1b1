"""What a claim speaks of and a form of the study leaves out, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steelyard.analysis.evidence import Cell
from steelyard.spec.checks import Claim, Sided, Where, levels_of
from steelyard.spec.levels import level_number, level_text


def uncovered(claim: Claim, judged: Sequence[tuple[Cell, str]]) -> str:
    """What of the range that the claim speaks of no trial of this form has."""
    levels = [level for cell, _ in judged if (level := dict(cell.key).get(claim.factor)) is not None]
    return _out_of_range(claim, levels)


def _out_of_range(claim: Claim, levels: Sequence[Any]) -> str:
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


def left_out(claim: Claim, rows: Sequence[Mapping[str, Any]]) -> str:
    """Levels that the claim names and a form lacks, or what of its range lies beyond the form's, in words;
    empty where it has all. Of a condition that names several levels one is enough.

    Args:
        claim: of any form of the study.
        rows: column -> level, of each trial or point of the form, planned ones included.
    """
    found: dict[str, list[str]] = {}
    for column, levels in (*_conditions(claim), *_along(claim)):
        wanted = [level_text(level) for level in levels]
        if {level_text(row[column]) for row in rows if column in row}.isdisjoint(wanted):
            found.setdefault(column, []).extend(wanted)
    if found:
        told = [f"{column} {', '.join(dict.fromkeys(levels))}" for column, levels in found.items()]
        return f"{' and '.join(told)} left out"
    along = [row[claim.factor] for row in rows if claim.factor in row and _fits(claim, row)]
    return _out_of_range(claim, along) if claim.covers else ""


def _fits(claim: Claim, levels: Mapping[str, Any]) -> bool:
    """Whether a trial or a point of these levels is among those that the claim speaks of."""
    return all(
        level_text(levels.get(column)) in map(level_text, _listed(said))
        for column, said in claim.where.items()
    )


def _listed(said: Any) -> tuple[Any, ...]:
    """One level, or several, as several."""
    return said if isinstance(said, tuple) else (said,)


def _conditions(claim: Claim) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """(column, levels) of all that the claim and its sides ask of trials."""
    sides = (claim.check.numerator, claim.check.denominator) if isinstance(claim.check, Sided) else ()
    asked: tuple[Where, ...] = (claim.where, *(side.where for side in sides))
    for where in asked:
        for column, said in where.items():
            yield column, _listed(said)


def _along(claim: Claim) -> list[tuple[str, tuple[Any, ...]]]:
    """The same of the levels of its factor that a claim names, each for itself; numbers in `covers` are the
    ends of a range."""
    words = any(level_number(level) is None for level in claim.covers)
    said = [*_each(levels_of(claim.check)), *((claim.factor, level) for level in claim.covers if words)]
    return [(factor, (level,)) for factor, level in said]


def _each(where: Where) -> Iterator[tuple[str, Any]]:
    for factor, said in where.items():
        for level in _listed(said):
            yield factor, level
