"""Where each claim of a study stands at a look: decided, or after how many further repetitions it may be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from steelyard.analysis.claims.looks import Looks
from steelyard.analysis.claims.verdict import UNCOVERED, Verdict
from steelyard.analysis.stats.sequential import LookAt, further, further_signs
from steelyard.analysis.stats.signs import agreeing
from steelyard.analysis.stats.verdicts import LEVEL


@dataclass(frozen=True)
class Standing:
    """One claim at the last look.

    Attributes:
        claim: its id.
        points: numbers of the points it rests on.
        further: repetitions of each of these points that are to settle it; 0 when it is decided, None when
            no number within the budget would.
        words: the same for people.
        alone, over_looks: as of `Verdict`.
    """

    claim: str
    points: frozenset[int]
    further: int | None
    words: str
    alone: str = ""
    over_looks: float | None = None


NEVER = (UNCOVERED, "not claimed")
"""Words of claims that nothing decides here: their levels are not measured, or they claim no direction."""


def tally(found: Iterable[tuple[int | None, str]]) -> tuple[int, int]:
    """Of claims by their `further` and `words` how many are decided, and how many never will be here."""
    told = list(found)
    never = sum(words in NEVER for _, words in told)
    return sum(further == 0 for further, _ in told) - never, never


def standings(verdicts: Iterable[Verdict], looks: Looks) -> list[Standing]:
    """Where claims stand at the last of these looks, of which there is at least one."""
    told = list(verdicts)
    undecided = [one for one in told if one.direction == "inconclusive" and not one.same_as]
    return [
        replace(_standing(one, looks, max(len(undecided), 1)), alone=one.alone, over_looks=one.over_looks)
        for one in told
    ]


def _standing(one: Verdict, looks: Looks, family: int) -> Standing:
    if one.direction != "inconclusive":
        return Standing(one.id, one.points, 0, one.direction)
    if not one.points or not one.curable:
        return Standing(one.id, one.points, None, one.reasons[0] if one.reasons else "nothing to judge")
    count = _to_settle(one, looks, family)
    words = (
        "to settle: more than the budget's repetitions"
        if count is None
        else f"to settle: {count} more of {_points(one)}"
    )
    return Standing(one.id, one.points, count, f"{_open(one)}; {words}")


def _to_settle(one: Verdict, looks: Looks, family: int) -> int | None:
    """At least what it lacks to be judged; beyond that what its chance foretells."""
    most = looks.taken[-1].most - looks.taken[-1].least(one.points)
    at = looks.at(one.points, one.least)
    if at and one.chance is not None:
        found = _further(one, one.chance, at, looks.taken[-1].most, LEVEL / family)
        count = None if found is None else max(found, one.lacking)
    else:
        count = one.lacking or None
    return count if count is not None and count <= most else None


def _further(one: Verdict, chance: float, at: Sequence[LookAt], most: int, level: float) -> int | None:
    """By the law of its test: of signs where each repetition is a unit, else of a normal figure."""
    count = min((evidence.figure.count for evidence in one.evidence), default=0)
    agree = agreeing(chance, count) if count == at[-1].information else None
    if agree is None:
        return further(chance, at, most, level)
    return further_signs(agree, count, at, most, level)


def _open(one: Verdict) -> str:
    chance = "" if one.chance is None else f" (p = {one.chance:.2g})"
    return f"undecided{chance}"


def _points(one: Verdict) -> str:
    return f"each of {len(one.points)} points" if len(one.points) > 1 else "its point"
