"""Sides that `match` does not tell apart are refused before the start: several points of one side would stand
against one of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from steelyard.spec.levels import level_text
from steelyard.spec.sides import Sided, Where

Levels = Mapping[str, str]
"""Column -> its level in words, of one point."""


def ambiguous(check: Sided, where: Where, points: Sequence[Levels]) -> Iterator[str]:
    """What is wrong with a comparison whose `match` leaves a side several points at one place, in words.

    Args:
        check: of a claim.
        where: the claim's own condition.
        points: all of the study.
    """
    if check.match is None:
        return
    columns = [*check.match, *([factor] if (factor := getattr(check, "factor", "")) else [])]
    for name, side in (("numerator", check.numerator), ("denominator", check.denominator)):
        places: dict[tuple[str | None, ...], Levels] = {}
        for point in points:
            if not (_meets(point, where) and _meets(point, side.where)):
                continue
            first = places.setdefault(tuple(point.get(column) for column in columns), point)
            if first is not point:
                apart = [column for column in point if first.get(column) != point[column]]
                told = " and ".join(
                    ", ".join(f"{c} {one.get(c, '-')}" for c in apart) for one in (first, point)
                )
                yield f"its {name} has both {told}, which match does not tell apart: say which in its where"
                break


def _meets(point: Levels, where: Where) -> bool:
    return all(
        point.get(column) in {level_text(level) for level in (said if isinstance(said, tuple) else (said,))}
        for column, said in where.items()
    )
