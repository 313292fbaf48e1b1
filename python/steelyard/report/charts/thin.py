"""Long series made short: at most a few hundred points for each line, and never an averaged percentile."""

from __future__ import annotations

import polars as pl

MOST_POINTS = 600
"""About one point for each pixel of a chart on a narrow page."""


def bin_seconds(seconds: int) -> int:
    """Seconds that one point stands for."""
    return max(1, -(-seconds // MOST_POINTS))


def means(frame: pl.DataFrame, columns: list[str], every: int) -> pl.DataFrame:
    """Counts per second as means of each `every` seconds."""
    return _binned(frame, every).agg(pl.col(columns).mean()).sort("second")


def highest(frame: pl.DataFrame, columns: list[str], every: int) -> pl.DataFrame:
    """Percentiles as the highest of each `every` seconds: they cannot be averaged."""
    return _binned(frame, every).agg(pl.col(columns).max()).sort("second")


def _binned(frame: pl.DataFrame, every: int) -> pl.dataframe.group_by.GroupBy:
    return frame.with_columns(pl.col("second") // every * every).group_by("second")


def rounded(value: float) -> float:
    """Four digits that count are what a chart can show."""
    return float(f"{value:.4g}")
