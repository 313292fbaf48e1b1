"""The two Parquet tables of a trial, or what a trial that was cut short left in their place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.results.intervals import SCHEMA, read_coordinators, read_series

SYSTEM_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "t_ns": pl.Int64,
    "source": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
}
SPOOL = "system.spool.ndjson"
"""Samples not yet in system.parquet: one line {`t_ns`, `source`, `values`} for each source and sample."""


def intervals(folder: Path) -> pl.DataFrame:
    """intervals.parquet of a trial's folder, else the engine's series."""
    frame = _parquet(folder / "intervals.parquet")
    if frame is None:
        return read_series(folder / "engine")
    missing = [name for name in SCHEMA if name not in frame.columns]  # written before they were counted
    return frame.with_columns(pl.lit(None, SCHEMA[name]).alias(name) for name in missing).select(*SCHEMA)


def coordinators(folder: Path) -> pl.DataFrame:
    """coordinators.parquet of a trial's folder, else what the engine's series tell; without rows where no
    driver named any."""
    frame = _parquet(folder / "coordinators.parquet")
    return read_coordinators(folder / "engine") if frame is None else frame


def system(folder: Path) -> pl.DataFrame:
    """system.parquet of a trial's folder, else what was spooled of it."""
    frame = _parquet(folder / "system.parquet")
    if frame is not None:
        return frame
    return read_spool(folder / SPOOL)


def read_spool(path: Path) -> pl.DataFrame:
    """The rows of a spool that a crash left behind; a last line that was cut short is left out."""
    return pl.DataFrame(list(_spooled(path)), schema=SYSTEM_SCHEMA, orient="row")


def _parquet(path: Path) -> pl.DataFrame | None:
    """A Parquet file, or None when it is missing or was cut short."""
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError):
        return None


def _spooled(path: Path) -> Iterator[tuple[int, str, str, float]]:
    if not path.is_file():
        return
    for line in path.read_bytes().splitlines():
        try:
            row: dict[str, Any] = json.loads(line)
        except ValueError:
            return
        for metric, value in row["values"].items():
            yield row["t_ns"], row["source"], metric, value
