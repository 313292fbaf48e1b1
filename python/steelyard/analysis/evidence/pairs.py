"""Two cells compared within repetitions: what a repetition does to both does not count."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.evidence.cells import Cell, Row, nested
from steelyard.analysis.evidence.samples import is_percentile
from steelyard.analysis.stats.percentiles import middle, over
from steelyard.analysis.stats.runs import Contrast, Runs, squared_error
from steelyard.analysis.stats.signs import Signs

Floats = NDArray[np.float64]


def within(a: Cell, b: Cell, metric_a: str, metric_b: str) -> Contrast | Signs | None:
    """B over A in the repetitions that both have, on one host; None when there are none.

    A unit is a pair of repetitions, or all pairs of one start or load where both sides shared those. Means
    have Student's t on the logarithms of their ratios, percentiles and zeros the signs of them.

    Raises:
        ValueError: a side has several trials of one repetition: one of them would stand for all.
    """
    rows_a, rows_b = _by_repetition(a, metric_a), _by_repetition(b, metric_b)
    pairs = [(row, rows_b[repetition]) for repetition, row in rows_a.items() if repetition in rows_b]
    pairs = [(of_a, of_b) for of_a, of_b in pairs if of_a.get("host") == of_b.get("host")]
    if not pairs:
        return None
    ratios = [over(float(of_b[metric_b]), float(of_a[metric_a])) for of_a, of_b in pairs]
    starts, loads = (_of_both(pairs, column) for column in ("group", "data"))
    runs = Runs(ratios, starts, loads, nested([of_a for of_a, _ in pairs], "host"))
    places, given = runs.units()
    if is_percentile(metric_a) or is_percentile(metric_b) or not 0 < min(ratios) <= max(ratios) < math.inf:
        values = np.array(ratios)
        return Signs(np.array([_middle(values[of]) for of in places]), given)
    logs = runs.logs()
    count = int(logs.size)
    error = math.sqrt(squared_error(logs))
    return Contrast(
        float(logs.mean()), error, max(count - 1.0, 1.0), (count, count), given, (runs.by_unit(),)
    )


def _by_repetition(cell: Cell, metric: str) -> Mapping[int, Row]:
    found: dict[int, Row] = {}
    for row in cell.counting:
        if row.get(metric) is not None and found.setdefault(int(row["repetition"]), row) is not row:
            raise ValueError(
                f"'{cell.name}' has several trials of repetition {row['repetition']}, and a pair one of each "
                "side: say which is meant in its where"
            )
    return found


def _of_both(pairs: Sequence[tuple[Row, Row]], column: str) -> list[tuple[Any, Any]]:
    """Which start or load both trials of each pair had; nothing where it was not written down."""
    of_a, of_b = (nested(rows, column) for rows in zip(*pairs, strict=True))
    return list(zip(of_a, of_b, strict=True)) if of_a and of_b else []


def _middle(values: Floats) -> float:
    return float(np.median(values)) if np.isinf(values).any() else middle(values)
