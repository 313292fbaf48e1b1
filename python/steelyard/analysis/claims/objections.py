"""What speaks against judging cells: one rule for claims and for systems side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from steelyard.analysis.evidence import Cell
from steelyard.analysis.evidence.cells import by_accident
from steelyard.spec.metrics import needs_rest

Judged = Sequence[tuple[Cell, str]]
"""Cells, each with the metric that is asked of it."""


def against(cells: Judged, *, unsteady: bool = False, names: Sequence[str] = ()) -> tuple[str, ...]:
    """What speaks against judging, however many repetitions there are.

    Args:
        cells: all that the judgement rests on.
        unsteady: whether trials without a steady state count all the same.
        names: of the cells, where their own do not tell them apart.
    """
    named = _named(cells, names)
    found = once((name, reason) for name, cell, metric in named for reason in cell.against(metric, unsteady))
    asked = {  # by trials: both sides of a matched cell have its key, and may be the same trials
        frozenset(row["trial"] for row in cell.rows): cell
        for cell, metric in cells
        if needs_rest(metric) and not unsteady
    }
    if not found and not by_accident([*asked.values()]):
        bad, trials = (
            sum(of) for of in zip(*((c.restless, len(c.counting)) for c in asked.values()), strict=True)
        )
        return (f"{bad} of {trials} trials: no steady state",)
    return found


def only_restless(cells: Judged) -> bool:
    """Whether nothing speaks against judging but that runs did not come to rest."""
    return not against(cells, unsteady=True) and not any(cell.short for cell, _ in cells)


def few(cells: Judged) -> tuple[str, ...]:
    """Cells that have too few repetitions."""
    return once((name, reason) for name, cell, metric in _named(cells) for reason in cell.few(metric))


def not_counted(cells: Judged, names: Sequence[str] = ()) -> tuple[str, ...]:
    """What does not count, and says nothing against judging the rest; `names` as of `against`."""
    named = _named(cells, names)
    return once((name, reason) for name, cell, metric in named for reason in cell.remarks(metric))


def _named(cells: Judged, names: Sequence[str] = ()) -> list[tuple[str, Cell, str]]:
    own = [cell.name for cell, _ in cells]
    return [(name, *cell) for name, cell in zip(names or own, cells, strict=True)]


def once(told: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Each reason once: of more than two cells the first is named."""
    found: dict[str, list[str]] = {}
    for name, reason in told:
        of = found.setdefault(reason, [])
        of += [name] if name not in of else []
    return tuple(f"{_listed(names)}: {reason}" for reason, names in found.items())


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more"


def one_start(lines: Iterable[Sequence[Cell]]) -> tuple[str, ...]:
    """What speaks against comparing cells of different clusters that were started once each: no two starts of
    the same cluster are alike, and what one of them does differently would count as the cause."""
    for line in lines:
        starts = [cell.starts() for cell in line]
        lone = [cell for cell, own in zip(line, starts, strict=True) if len(own) == 1 < len(cell.rows)]
        if lone and len({*starts}) > 1:
            return (
                f"{lone[0].name}: its trials shared one start of a cluster, and what it is compared with had "
                "another (`starts = 6` in the study gives it six)",
            )
    return ()
