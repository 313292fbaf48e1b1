"""Systems beside each other: for every variant and level what each one did, and what their ratio is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from steelyard.analysis.evidence import Found, versus
from steelyard.analysis.stats.runs import FEW
from steelyard.analysis.stats.verdicts import Word, verdicts
from steelyard.report.formatting import NONE, digits, plain
from steelyard.report.model import FIGURES
from steelyard.report.study.points import PointReport, factors
from steelyard.report.tables.base import Table

COMPARED: dict[str, Literal["higher", "lower"]] = {"ok/s": "higher", "p99, ms": "lower"}
"""Which of the figures, and which way each is better."""
MARGIN = 0.03
"""A difference of 3 % does not matter."""
Row = tuple[PointReport, PointReport]


def beside(found: Sequence[PointReport]) -> Table | None:
    """One row for each variant and level at which both systems were run; None unless there are two."""
    systems = list(dict.fromkeys(point.system for point in found))
    if len(systems) != 2:
        return None
    rows = _rows(found, systems)
    names = factors(found)
    variants = any(a.variant for a, _ in rows)
    words = _words(rows)
    return Table(
        "Side by side",
        (*(["variant"] if variants else []), *names, *(f"{s} {n}" if s else "ratio" for n in COMPARED
          for s in (*systems, ""))),
        [
            (
                *([a.variant] if variants else []),
                *(plain(a.levels.get(name, NONE)) for name in names),
                *(cell for name in COMPARED for cell in _cells(name, (a, b), words)),
            )
            for a, b in rows
        ],
        words=len(names) + variants,
        note=_note(systems, rows),
        breaks=frozenset(n for n in range(1, len(rows)) if rows[n][0].variant != rows[n - 1][0].variant),
    )  # fmt: skip


def _rows(found: Sequence[PointReport], systems: Sequence[str]) -> list[Row]:
    cells: dict[tuple[str, str], dict[str, PointReport]] = {}
    for point in found:
        cells.setdefault((point.variant, repr(dict(point.levels))), {})[point.system] = point
    return [(of[systems[0]], of[systems[1]]) for of in cells.values() if len(of) == 2]


def _contrast(name: str, row: Row) -> Found | None:
    first, second = (point.sample(FIGURES[name]) for point in row)
    return versus(first, second) if first and second else None


def _judged(row: Row, found: Found) -> bool:
    """Whether there are trials enough of each, and none was lost through the system itself."""
    return min(found.counts) >= FEW and not any(one.by == "system" for p in row for one in p.cell.losses)


def _words(rows: Sequence[Row]) -> dict[tuple[str, int], Word]:
    """The word for each figure and row, all judged as one family; those with too few trials are left out."""
    judged = {
        (name, id(row[0])): found
        for name in COMPARED
        for row in rows
        if (found := _contrast(name, row)) is not None and _judged(row, found)
    }
    ways = [COMPARED[name] for name, _ in judged]
    return dict(zip(judged, verdicts(list(judged.values()), ways, [MARGIN] * len(judged)), strict=True))


def _cells(name: str, row: Row, words: dict[tuple[str, int], Word]) -> list[str]:
    means = [interval.estimate if (interval := p.interval(FIGURES[name])) else None for p in row]
    found = _contrast(name, row)
    if found is None:
        return [*map(digits, means), NONE]
    word = words.get((name, id(row[0])))
    ratio = digits(found.interval().estimate)
    return [*map(digits, means), f"{ratio} {word}" if word else ratio]


def _note(systems: Sequence[str], rows: Sequence[Row]) -> str:
    note = f"Ratio: {systems[1]} over {systems[0]}; more ok/s is better, a lower p99 is."
    few = sum(
        not all(_judged(row, one) for name in COMPARED if (one := _contrast(name, row))) for row in rows
    )
    if few:
        note += (
            f" A ratio without a word is not judged: {few} of {len(rows)} rows have fewer than {FEW} trials "
            "of each that count (or starts, where trials shared them), so that chance may have made the "
            "difference, or trials that a system lost itself."
        )
    return note
