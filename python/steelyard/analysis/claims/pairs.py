"""Which cells of two sides are compared with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.analysis.evidence import Cell, Key, Trials
from steelyard.spec.checks import Claim, Ratio, Side, Sided
from steelyard.spec.levels import level_number, level_text

REACHED = 0.02
"""A target is reached when the mean throughput is within this share of it."""

Pair = tuple[Cell, Cell]
"""Numerator and denominator."""


def both_sides(claim: Claim, check: Sided, trials: Trials) -> tuple[dict[Key, Cell], dict[Key, Cell]]:
    """Each side's cells; what the sides' own conditions name does not tell them apart.

    Raises:
        ValueError: trials of one cell differ in what only the other side names.
    """
    above, below = (
        _side(claim, check, trials, check.numerator),
        _side(claim, check, trials, check.denominator),
    )
    return above, below


def _side(claim: Claim, check: Sided, trials: Trials, side: Side) -> dict[Key, Cell]:
    apart = {*check.numerator.where, *check.denominator.where}
    found = trials.where(claim.where, side.where).cells(apart)
    for column in sorted(apart - {*side.where}):
        for cell in found.values():
            if len(levels := {level_text(row[column]) for row in cell.rows if row[column] is not None}) > 1:
                raise ValueError(
                    f"'{cell.name}' has trials of {column} {', '.join(sorted(levels))} on one side: say "
                    "which one is meant in its where"
                )
    return found


def matched(claim: Claim, check: Sided, trials: Trials) -> list[Pair]:
    """Cells that both sides have.

    Raises:
        ValueError: there are none; or a side has several cells where `match` tells them apart no more.
    """
    above, below = (by_match(side, check.match) for side in both_sides(claim, check, trials))
    pairs = [(cell, below[key]) for key, cell in above.items() if key in below]
    if not pairs:
        raise ValueError("no cell has both sides")
    if not isinstance(check, Ratio) or check.cells == "all":
        return pairs
    return _reached(pairs, check) if check.cells == "reached" else _plateaus(pairs, check)


def by_match(cells: Mapping[Key, Cell], match: Sequence[str] | None) -> dict[Key, Cell]:
    """Cells by what both sides must agree in; None = everything.

    Raises:
        ValueError: several cells agree in it.
    """
    found: dict[Key, Cell] = {}
    for key, cell in cells.items():
        said = tuple(part for part in key if match is None or part[0] in match)
        if said in found:
            raise ValueError(
                f"one side has both '{found[said].name}' and '{cell.name}', which `match` does not tell "
                "apart: say which one is meant in its where"
            )
        found[said] = cell
    return found


def _reached(pairs: Sequence[Pair], check: Ratio) -> list[Pair]:
    found = [pair for pair in pairs if all(reaches(cell, check.target, check.throughput) for cell in pair)]
    if not found:
        raise ValueError("no cell in which both sides reach the target within 2 %")
    return found


def reaches(cell: Cell, target: str, throughput: str) -> bool:
    """Whether a cell reaches its target rate. One without a target, of which each client sends as fast as it
    is answered, has none to reach.

    Args:
        cell: of which it is asked.
        target: the factor that holds the rate.
        throughput: the metric that reaches it.
    """
    rate, sample = level_number(dict(cell.key).get(target)), cell.sample(throughput)
    if rate is None or sample is None:
        return False
    return sample.interval.estimate >= (1 - REACHED) * rate


def _plateaus(pairs: Sequence[Pair], check: Ratio) -> list[Pair]:
    """For each line of targets: each side's cell of highest throughput, be it at another target."""
    lines: dict[Key, list[Pair]] = {}
    for pair in pairs:
        line = tuple(part for part in pair[0].key if part[0] != check.target)
        lines.setdefault(line, []).append(pair)
    return [
        (_highest([p[0] for p in line], check), _highest([p[1] for p in line], check))
        for line in lines.values()
    ]


def _highest(cells: Sequence[Cell], check: Ratio) -> Cell:
    return max(cells, key=lambda cell: s.interval.estimate if (s := cell.sample(check.throughput)) else 0.0)


def metrics(claim: Claim, check: Sided) -> tuple[str, str]:
    """Each side's metric."""
    return check.numerator.metric or claim.metric, check.denominator.metric or claim.metric
