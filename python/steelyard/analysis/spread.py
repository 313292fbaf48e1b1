"""How far engines and repetitions lie apart. Percentiles are set side by side, never averaged into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

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
    """One figure over repetitions of the same settings."""

    count: int
    mean: float
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
                found.append(EngineSpread(op.name, label, tuple(values), float(stats.variation(values))))
    return tuple(found)


def repeated(values: Sequence[float | None]) -> Repeated | None:
    """Mean, least, most and coefficient of variation (sample) over repetitions; None when no repetition has
    the figure."""
    known = np.asarray([v for v in values if v is not None], dtype=np.float64)
    if not known.size:
        return None
    mean = float(known.mean())
    varies = float(known.std(ddof=1) / mean) if known.size > 1 and mean else None
    return Repeated(int(known.size), mean, float(known.min()), float(known.max()), varies)
