"""Systems beside each other: for every variant and level what each one did, and what their ratio is.

A ratio is judged as a claim of it would be: on the same cells and units, by the same tests over all looks
that were taken, and not at all where a claim would be inconclusive. All ratios of the table are one family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from steelyard.analysis.claims.looks import Looks
from steelyard.analysis.claims.objections import Judged, against, few, not_counted, one_start
from steelyard.analysis.evidence import Found, versus
from steelyard.analysis.stats.runs import FEW
from steelyard.analysis.stats.verdicts import Word, words
from steelyard.report.formatting import NONE, clean, digits, plain
from steelyard.report.model import FIGURES
from steelyard.report.study.points import PointReport, factors
from steelyard.report.tables.base import Table

COMPARED: dict[str, Literal["higher", "lower"]] = {"ok/s": "higher", "p99, ms": "lower"}
"""Which of the figures, and which way each is better."""
MARGIN = 0.03
"""A difference of 3 % does not matter."""
Row = tuple[PointReport, PointReport]


@dataclass(frozen=True)
class _Ratio:
    """One figure of one row.

    Attributes:
        figure: its name in `COMPARED`.
        row: both systems' points.
        found: the second over the first; None where one of them has no such figure.
    """

    figure: str
    row: Row
    found: Found | None

    @property
    def judged(self) -> Judged:
        """What a claim of this ratio would rest on."""
        return [(point.cell, FIGURES[self.figure].column) for point in self.row]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why nothing is said of it; none where it is judged."""
        cells = [cell for cell, _ in self.judged]
        return (*against(self.judged), *one_start([cells]), *few(self.judged))

    def over_looks(self, p: float, looks: Looks) -> float:
        """A chance of it at whichever look the study ends."""
        return looks.chance(frozenset[int]().union(*(cell.points for cell, _ in self.judged)), p, FEW)


def beside(found: Sequence[PointReport], looks: Looks) -> Table | None:
    """One row for each variant and level at which both systems were run; None unless there are two.

    Args:
        found: the study's points.
        looks: those that were taken at it; none when its plan was kept.
    """
    systems = list(dict.fromkeys(point.system for point in found))
    if len(systems) != 2:
        return None
    rows = _rows(found, systems)
    names = factors(found)
    variants = any(a.variant for a, _ in rows)
    ratios = [[_ratio(name, row) for name in COMPARED] for row in rows]
    told = _words([one for of_row in ratios for one in of_row], looks)
    return Table(
        "Side by side",
        (*(["variant"] if variants else []), *names, *(f"{s} {n}" if s else "ratio" for n in COMPARED
          for s in (*systems, ""))),
        [
            (
                *([a.variant] if variants else []),
                *(plain(a.levels.get(name, NONE)) for name in names),
                *(cell for one in of_row for cell in _cells(one, told.get(id(one)))),
            )
            for (a, _), of_row in zip(rows, ratios, strict=True)
        ],
        words=len(names) + variants,
        note=_note(systems, ratios),
        breaks=frozenset(n for n in range(1, len(rows)) if rows[n][0].variant != rows[n - 1][0].variant),
    )  # fmt: skip


def _rows(found: Sequence[PointReport], systems: Sequence[str]) -> list[Row]:
    cells: dict[tuple[str, str], dict[str, PointReport]] = {}
    for point in found:
        cells.setdefault((point.variant, repr(dict(point.levels))), {})[point.system] = point
    return [(of[systems[0]], of[systems[1]]) for of in cells.values() if len(of) == 2]


def _ratio(figure: str, row: Row) -> _Ratio:
    first, second = (point.sample(FIGURES[figure]) for point in row)
    return _Ratio(figure, row, versus(first, second) if first and second else None)


def _words(ratios: Sequence[_Ratio], looks: Looks) -> dict[int, Word]:
    """The word for each ratio that is judged, by its identity; all are one family."""
    judged = [(one, one.found) for one in ratios if one.found is not None and not one.reasons]
    found = words(
        [ratio.log_ratio for _, ratio in judged],
        [COMPARED[one.figure] for one, _ in judged],
        [one.over_looks(ratio.difference_p(), looks) for one, ratio in judged],
        [one.over_looks(ratio.equivalence_p(MARGIN), looks) for one, ratio in judged],
    )
    return {id(one): word for (one, _), word in zip(judged, found, strict=True)}


def _cells(one: _Ratio, word: Word | None) -> list[str]:
    intervals = [point.interval(FIGURES[one.figure]) for point in one.row]
    means = [digits(interval.estimate if interval else None) for interval in intervals]
    if one.found is None:
        return [*means, NONE]
    ratio = digits(one.found.interval().estimate)
    return [*means, f"{ratio} {word}" if word else ratio]


def _note(systems: Sequence[str], ratios: Sequence[Sequence[_Ratio]]) -> str:
    """What the ratios are, how they were judged, and why some were not."""
    note = (
        f"Ratio: {systems[1]} over {systems[0]}; more ok/s is better, a lower p99 is; 'equivalent' is within "
        f"{MARGIN * 100:g} %. Judged as claims are, all as one family (Holm, 5 %), apart from claims and "
        "checks."
    )
    found = [one for of_row in ratios for one in of_row if one.found is not None]
    unjudged = [one for one in found if one.reasons]
    if unjudged:
        rows = len({id(one.row) for one in unjudged})
        note += f" A ratio without a word is not judged, in {rows} of {len(ratios)} rows: {_why(unjudged)}."
    judged = [pair for one in found if one not in unjudged for pair in one.judged]
    return note + (f" Trials: {_some(out)}." if (out := not_counted(judged)) else "")


def _why(unjudged: Sequence[_Ratio]) -> str:
    """Each reason once, with the first of the cells that it speaks against."""
    asked = [pair for one in unjudged for pair in one.judged]
    lines = [[cell for cell, _ in one.judged] for one in unjudged]
    own = (reason for one in unjudged for reason in one.reasons)
    return _some((*against(asked), *one_start(lines), *few(asked)) or tuple(own))


def _some(reasons: Sequence[str]) -> str:
    """The first three."""
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    return clean("; ".join(reasons[:3])) + more
