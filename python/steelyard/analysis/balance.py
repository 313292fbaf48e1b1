"""How evenly nodes share the work: max/mean and the coefficient of variation of requests, bytes and CPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import stats

from steelyard.analysis.counters import Window, nodes
from steelyard.analysis.summary import Phase

MEASURES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "requests coordinated": (
        ("server_client_reads_total", "server_client_writes_total", "server_client_range_total"),
        "/s",
    ),
    "reads and writes as replica": (("server_local_reads_total", "server_local_writes_total"), "/s"),
    "network bytes": (("network_receive_bytes_total", "network_send_bytes_total"), "B/s"),
    "disk bytes": (("disk_read_bytes_total", "disk_write_bytes_total"), "B/s"),
    "CPU": (("cpu_seconds_total",), "cores"),
}
"""What is compared -> (the counters whose rates are summed, the unit of the sum)."""


@dataclass(frozen=True)
class Spread:
    """How far values lie apart: 1.0 and 0 when all are equal."""

    max_over_mean: float
    coefficient_of_variation: float


@dataclass(frozen=True)
class Balance:
    """One measure over the nodes, as mean per second of the phase."""

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
    return Spread(float(array.max() / array.mean()), float(stats.variation(array)))


def balance(system: pl.DataFrame, phase: Phase) -> tuple[Balance, ...]:
    """Each measure that at least two nodes report, over the phase's window."""
    window = Window(system, phase.start_ns, phase.end_ns)
    found = []
    for measure, (metrics, unit) in MEASURES.items():
        by_node = {n: r for n in nodes(system) if (r := window.rate(n, *metrics)) is not None}
        if apart := spread(list(by_node.values())):
            found.append(Balance(measure, unit, by_node, apart))
    return tuple(found)
