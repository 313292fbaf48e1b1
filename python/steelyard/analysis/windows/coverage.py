"""Nodes that came and went: while they are not there they use nothing, and their counters stand still."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

NEAR_NS = 2_000_000_000
"""Samples are taken every second: one that is nearer than two to the border of a phase is of its border."""


def covered(system: pl.DataFrame, nodes: Collection[str], start_ns: int, end_ns: int) -> pl.DataFrame:
    """Samples with the counters of some nodes continued, level, to both ends of a phase.

    The mean rate of a node that joined in the last third is over the whole phase then, and not over the part
    of it in which it was sampled; without this it would be left out as hardly sampled.

    Args:
        system: rows of system.parquet (docs/format.md).
        nodes: those on which actions acted.
        start_ns, end_ns: the phase.
    """
    if not system.height or not nodes:
        return system
    own = system.filter(pl.col("source").is_in(list(nodes)) & pl.col("metric").str.ends_with("_total")).sort(
        "t_ns"
    )
    of_each = own.group_by("source", "metric", maintain_order=True)
    late = of_each.first().filter(pl.col("t_ns").is_between(start_ns + NEAR_NS, end_ns))
    early = of_each.last().filter(pl.col("t_ns").is_between(start_ns, end_ns - NEAR_NS))
    added = [
        late.with_columns(pl.lit(start_ns, pl.Int64).alias("t_ns")),
        early.with_columns(pl.lit(end_ns, pl.Int64).alias("t_ns")),
    ]
    return pl.concat([system, *(rows.select(system.columns) for rows in added)])
