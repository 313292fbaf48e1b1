"""Writes that coordinators kept for nodes that did not take them (hints), and those handed over since."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from steelyard.analysis.counters import grown, nodes, samples

STORED, REPLAYED = "server_hints_total", "server_hints_replayed_total"


@dataclass(frozen=True)
class Hints:
    """Writes, over all nodes.

    Attributes:
        stored: kept for nodes that did not take them in time.
        replayed: handed over to them, those kept before among them; None where no server tells.
    """

    stored: float
    replayed: float | None


def hints(system: pl.DataFrame, start_ns: int, end_ns: int) -> Hints | None:
    """Between two times, CLOCK_MONOTONIC; None where no server tells of hints.

    Args:
        system: rows of system.parquet (docs/format.md).
        start_ns: the first action's start.
        end_ns: of what is looked at.
    """
    found = {metric: _grown(system, metric, start_ns, end_ns) for metric in (STORED, REPLAYED)}
    stored = found[STORED]
    return None if stored is None else Hints(stored, found[REPLAYED])


def _grown(system: pl.DataFrame, metric: str, start_ns: int, end_ns: int) -> float | None:
    each = [grown(*samples(system, node, metric), start_ns / 1e9, end_ns / 1e9) for node in nodes(system)]
    known = [one for one in each if one is not None]
    return sum(known) if known else None
