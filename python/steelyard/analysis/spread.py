"""How far engines and repetitions lie apart. Percentiles are set side by side, never averaged into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.analysis.summary import Phase

FLUSH = "FLUSH"
"""Sends what others collected: no operation of its own."""


@dataclass(frozen=True)
class EngineSpread:
    """One percentile of one operation, as each engine saw it.

    Attributes:
        by_engine_ns: in nanoseconds, of the engines that had such an operation.
        engines: what each of those is called.
    """

    operation: str
    percentile: str
    by_engine_ns: tuple[float, ...]
    coefficient_of_variation: float
    engines: tuple[str, ...] = ()


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


def engine_spread(phase: Phase, names: Sequence[str]) -> tuple[EngineSpread, ...]:
    """p50, p99 and p99.9 of the response time per engine, with their coefficient of variation.

    Args:
        phase: which.
        names: of its engines, in their order.
    """
    named = list(zip(names, phase.engines, strict=True))
    found = []
    for op in phase.operations:
        rows = [(name, row) for name, engine in named for row in engine if row.name == op.name]
        for label, field in (("p50", "p50_ns"), ("p99", "p99_ns"), ("p99.9", "p999_ns")):
            by = {name: v for name, row in rows if (v := getattr(row.response, field)) is not None}
            if len(by) > 1:
                values = [*by.values()]
                varies = float(np.std(values) / np.mean(values))
                found.append(EngineSpread(op.name, label, tuple(values), varies, tuple(by)))
    return tuple(found)


APART = {"engines_mean_spread": "mean_ns", "engines_p95_spread": "p95_ns", "engines_p99_spread": "p99_ns"}
"""Figure of a trial (`spec.metrics`) -> the one of the service time that engines are compared by."""


def engines_apart(phase: Phase) -> dict[str, float | None]:
    """Coefficients of variation over engines: of throughput, and of service times (of the operation of which
    they lie farthest apart). None with fewer than two engines."""
    kinds = [op.name for op in phase.operations if op.name != FLUSH]
    by_engine = [{row.name: row for row in engine if row.name in kinds} for engine in phase.engines]
    found = {"engines_throughput_spread": _varies([sum(r.rate_per_s for r in e.values()) for e in by_engine])}
    for name, field in APART.items():
        told = [_varies([getattr(e[kind].service, field) for e in by_engine if kind in e]) for kind in kinds]
        found[name] = max((one for one in told if one is not None), default=None)
    return found


def _varies(values: Sequence[float | None]) -> float | None:
    """Over all engines; None where there is one, or nothing happened at any."""
    known = [value for value in values if value is not None]
    return float(np.std(known) / np.mean(known)) if len(known) > 1 and any(known) else None


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
