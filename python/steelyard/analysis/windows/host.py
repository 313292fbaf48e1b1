"""Seconds in which the machine, and not the action, may have been felt."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from steelyard.analysis.counters import rates, samples
from steelyard.analysis.windows.spans import Seconds

BUSY = 0.95
"""Share of the cores: above it, whoever wants one waits for it."""
STOLEN = 0.01
"""One percent of the CPU taken by other guests already moves p99 of sub-millisecond operations."""


@dataclass(frozen=True)
class Host:
    """Seconds that were sampled in a window, and of them those with the host busy, or robbed of CPU."""

    sampled_s: float
    busy_s: float
    stolen_s: float


def host(system: pl.DataFrame, start_ns: int, within: Seconds, cores: int | None) -> Host | None:
    """Seconds of a window with the host over 95 % busy, or over 1 % stolen.

    Args:
        system: rows of system.parquet (docs/format.md).
        start_ns: when the phase began.
        within: seconds since then.
        cores: of the machine.

    Returns:
        None where the machine was not sampled, or its cores are not known.
    """
    if not cores:
        return None
    first, end = start_ns / 1e9 + within.first, start_ns / 1e9 + within.end
    busy = _above(system, "cpu_seconds_total", BUSY * cores, first, end)
    stolen = _above(system, "cpu_steal_seconds_total", STOLEN * cores, first, end)
    if busy is None:
        return None
    return Host(busy[0], busy[1], stolen[1] if stolen else 0.0)


def _above(
    system: pl.DataFrame, metric: str, border: float, first: float, end: float
) -> tuple[float, float] | None:
    """(seconds sampled, those of them with a rate above the border); None where nothing was sampled."""
    at, values = samples(system, "machine", metric)
    if at.size < 2:
        return None
    seen, found = rates(at, values)
    lasted = (at[1:] - at[:-1])[at[1:] > at[:-1]]
    inside = (seen > first) & (seen <= end)
    return float(lasted[inside].sum()), float(lasted[inside & (found > border)].sum())
