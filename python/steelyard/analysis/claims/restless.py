"""Runs that did not come to rest: a verdict on them stands where it does not hang on how far they wander.

A mean over such a run depends on its length. How much is seen in its parts: each figure of a cell is moved
up and down by twice as far as a quarter of one of its runs lies from the whole, or as far as its last eighth
lies, all of them in every combination. A verdict that is the same each time does not hang on the length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from steelyard.analysis.claims.objections import Judged
from steelyard.analysis.evidence import Cell, Trials
from steelyard.analysis.evidence.cells import NO_REST
from steelyard.spec.checks import Equality, Order, Shape, Threshold, Value
from steelyard.spec.metrics import LOAD, is_of_timeline, needs_rest

QUARTERS, EIGHTHS = 4, 8
FAR = 2.0
MOST = 5
"""Figures of which every combination is judged: 32 of them."""


@dataclass(frozen=True)
class Restless:
    """A figure of a cell whose runs did not come to rest.

    Attributes:
        trials: numbers of those that count.
        unsteady: those of them that came to no steady state.
        metric: what is asked of it.
        factor: by which it is moved.
    """

    trials: frozenset[int]
    unsteady: frozenset[int]
    metric: str
    factor: float


def restless(cells: Judged) -> list[Restless]:
    """Figures of cells that did not come to rest; none where it is not known of each how far it wanders (of
    percentiles, CPU, bytes), or of too many."""
    asked = {(_trials(cell), metric): cell for cell, metric in cells if needs_rest(metric)}
    found = [_measured(cell, metric) for (_, metric), cell in asked.items() if cell.restless]
    known = [one for one in found if one]
    return known if len(known) == len(found) <= MOST else []


def moved(trials: Trials, figures: Sequence[Restless]) -> Iterator[Trials]:
    """The trials, each of these figures moved up or down: every combination."""
    for signs in product((1, -1), repeat=len(figures)):
        other = trials
        for one, sign in zip(figures, signs, strict=True):
            other = other.moved(one.trials, one.metric, one.factor**sign)
        yield other


def same_cells(one: Judged, other: Judged) -> bool:
    """Whether both are the same figures: cells that are chosen by throughput may be others with another."""
    return _figures(one) == _figures(other)


def corners_tell(check: object, direction: str) -> bool:
    """Whether a verdict that is the same with all figures moved is so in between, too.

    A refutation of these is for one of several opposite reasons; the evidence of a model goes up and down.
    """
    if isinstance(check, (Shape, Threshold)):
        return False
    several = (
        isinstance(check, Equality)
        or (isinstance(check, Value) and check.below is not None and check.above is not None)
        or (isinstance(check, Order) and len(check.groups) > 2)
    )
    return direction == "confirmed" or not several


def words(figures: Sequence[Restless], alike: bool) -> str:
    """What is said beside a verdict that stands.

    Args:
        alike: whether its size does, too.
    """
    unsteady = len(frozenset[int]().union(*(one.unsteady for one in figures)))
    trials = len(frozenset[int]().union(*(one.trials for one in figures)))
    size = "" if alike else ", the size is not"
    return (
        f"{unsteady} of {trials} trials came to no steady state; the direction is the same{size} with what "
        f"is found of them multiplied or divided by up to {max(one.factor for one in figures):.2f}, which "
        "is farther than they wander"
    )


def _figures(cells: Judged) -> set[tuple[frozenset[int], str]]:
    return {(_trials(cell), metric) for cell, metric in cells}


def _trials(cell: Cell) -> frozenset[int]:
    return frozenset(int(row["trial"]) for row in cell.counting)


def _measured(cell: Cell, metric: str) -> Restless | None:
    unsteady = frozenset(int(row["trial"]) for row in cell.counting if row.get("steady") == NO_REST)
    far = [_wander(cell.seconds(trial, metric)) for trial in unsteady] if _is_mean(metric) else [None]
    known = [one for one in far if one is not None]
    if len(known) < len(far):
        return None
    return Restless(_trials(cell), unsteady, metric, float(np.exp(max(known))))


def _wander(seconds: Sequence[float]) -> float | None:
    """How far a run may go on from its mean, as a logarithm; None where nothing tells."""
    if len(seconds) < EIGHTHS:
        return None
    series = np.asarray(seconds, dtype=np.float64)
    levels = np.array([part.mean() for part in np.array_split(series, QUARTERS)])
    last = series[-max(len(series) // EIGHTHS, 1) :].mean()
    if min(levels.min(), last) <= 0:
        return None
    far = np.abs(np.log(levels / series.mean())).max()
    return float(max(FAR * far, abs(np.log(last / series.mean()))))


def _is_mean(metric: str) -> bool:
    """Whether seconds of a run have a level of it: its throughput, or the mean of a latency."""
    if metric.startswith(LOAD) or is_of_timeline(metric):
        return False
    return metric == "ok_per_s" or metric.endswith(("_service_mean_ns", "_response_mean_ns"))
