"""Units that several cells have in common: starts and loads on which more than one point was measured.

What a start of the servers does to one cell it does to all cells that were measured on it. Their errors are
then not independent, and to add them in squares would count one start as many.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.stats.runs import Units

Floats = NDArray[np.float64]
Parts = Sequence[Units]
"""The units of each sample that a figure was made from, as A's and B's of a ratio."""


def share_units(cells: Sequence[Parts]) -> bool:
    """Whether two cells have a start or a load in common."""
    return _shared(cells) is not None


def mean_units(cells: Sequence[Parts]) -> list[Floats]:
    """For each sample the mean over all cells of each unit's logarithm; nothing where some unit lacks a
    cell, or a figure of its own."""
    level = _shared(cells)
    if level is None or len({len(parts) for parts in cells}) > 1:
        return []
    found = [mean_over_cells([_by(one, level) for one in samples]) for samples in zip(*cells, strict=True)]
    return [] if any(not units for units in found) else [np.array([*units.values()]) for units in found]


def mean_over_cells(cells: Sequence[Mapping[Hashable, float]]) -> dict[Hashable, float]:
    """Unit -> mean over cells; empty unless all cells have the same units, and know a figure of each."""
    first = cells[0]
    if not first or any(one.keys() != first.keys() for one in cells):
        return {}
    found = {key: sum(one[key] for one in cells) / len(cells) for key in first}
    return {} if any(math.isnan(mean) for mean in found.values()) else found


def _shared(cells: Sequence[Parts]) -> int | None:
    """The place in a unit's name by which cells have units in common: 0 the start, 1 the load."""
    for level in (0, 1):
        seen: set[Hashable] = set()
        for parts in cells:
            own = {key for units in parts for key in _by(units, level)}
            if seen & own:
                return level
            seen |= own
    return None


def _by(units: Units, level: int) -> dict[Hashable, float]:
    """Start, or load -> figure; empty where some unit has several of them."""
    found = {name[level]: figure for name, figure in units.items()}
    return {} if None in found or len(found) < len(units) else found
