"""How evenly nodes share the work: max/mean and coefficient of variation of requests, data, bytes, CPU."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from steelyard.analysis.counters import Window, nodes
from steelyard.analysis.summary import Phase

MEASURES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "requests of clients": (
        (
            "server_client_reads_total",
            "server_client_writes_total",
            "server_client_range_total",
            "server_client_multi_total",
        ),
        "/s",
    ),
    "local reads and writes": (("server_local_reads_total", "server_local_writes_total"), "/s"),
    "regions": (("server_regions",), ""),
    "data stored": (("server_live_disk_bytes",), "B"),
    "page cache of its own": (("page_cache_bytes",), "B"),
    "network bytes": (("network_receive_bytes_total", "network_send_bytes_total"), "B/s"),
    "disk bytes": (("disk_read_bytes_total", "disk_write_bytes_total"), "B/s"),
    "CPU": (("cpu_seconds_total",), "cores"),
}
"""What is compared -> (the counters whose rates are summed, or the level whose mean is taken; the unit)."""


@dataclass(frozen=True)
class Spread:
    """How far values lie apart: 1.0 and 0 when all are equal."""

    max_over_mean: float
    coefficient_of_variation: float


@dataclass(frozen=True)
class Balance:
    """One measure over the nodes: of counters the mean per second of the phase, of levels the mean."""

    measure: str
    unit: str
    by_node: Mapping[str, float]
    spread: Spread


def spread(values: list[float]) -> Spread | None:
    """max/mean and the coefficient of variation (population); None for fewer than two values or a mean of
    zero."""
    array = np.asarray(values, dtype=np.float64)
    if array.size < 2 or array.mean() == 0:
        return None
    return Spread(float(array.max() / array.mean()), float(array.std() / array.mean()))


def balance(system: pl.DataFrame, phase: Phase, masters: Collection[str] = ()) -> tuple[Balance, ...]:
    """Each measure that at least two nodes report, over the phase's window; masters serve no data."""
    window = Window(system, phase.start_ns, phase.end_ns)
    serving = [name for name in nodes(system) if name not in masters]
    found = []
    for measure, (metrics, unit) in MEASURES.items():
        level = not metrics[0].endswith("_total")
        read = [window.mean(n, metrics[0]) if level else window.rate(n, *metrics) for n in serving]
        by_node = {n: value for n, value in zip(serving, read, strict=True) if value is not None}
        if apart := spread(list(by_node.values())):
            found.append(Balance(measure, unit, by_node, apart))
    return tuple(found)
