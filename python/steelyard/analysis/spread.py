"""How far engines and repetitions lie apart. Percentiles are set side by side, never averaged into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.analysis.summary import Phase


@dataclass(frozen=True)
class EngineSpread:
    """One percentile of one operation, as each engine saw it, in nanoseconds."""

    operation: str
    percentile: str
    by_engine_ns: tuple[float, ...]
    coefficient_of_variation: float


@dataclass(frozen=True)
class Repeated:
    """One figure over repetitions of the same settings.

    Attributes:
        mean: None for a percentile.
        merged: a percentile of all repetitions together; None for everything else.
    """

    count: int
    mean: float | None
    merged: float | None
    min: float
    max: float
    coefficient_of_variation: float | None


def engine_spread(phase: Phase) -> tuple[EngineSpread, ...]:
    """p50, p99 and p99.9 of the response time per engine, with their coefficient of variation."""
    found = []
    for op in phase.operations:
        rows = [row for engine in phase.engines for row in engine if row.name == op.name]
        for label, field in (("p50", "p50_ns"), ("p99", "p99_ns"), ("p99.9", "p999_ns")):
            values = [v for row in rows if (v := getattr(row.response, field)) is not None]
            if len(values) > 1:
                found.append(
                    EngineSpread(op.name, label, tuple(values), float(np.std(values) / np.mean(values)))
                )
    return tuple(found)


def repeated(values: Sequence[float | None], merged: float | None = None) -> Repeated | None:
    """Mean, least, most and coefficient of variation (sample) over repetitions; None when no repetition has
    the figure. A percentile is given `merged` of all of them and has no mean."""
    known = np.asarray([v for v in values if v is not None], dtype=np.float64)
    if not known.size:
        return None
    mean = float(known.mean())
    varies = float(known.std(ddof=1) / mean) if known.size > 1 and mean else None
    ends = (float(known.min()), float(known.max()))
    return Repeated(int(known.size), None if merged is not None else mean, merged, *ends, varies)
