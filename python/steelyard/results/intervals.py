"""intervals.parquet: one row a second, phase and operation, from the engine's `*.series.ndjson`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.results.disk import replacing

TOTAL = "TOTAL"
COUNTS = ("due", "started", "done", "ok", "failed", "in_flight", "backlog")
CLOCKS = ("response", "service", "wait", "all")
POINTS = ("p50", "p95", "p99", "p999", "max")
TENTHS = "tenths"
"""Operations done in each tenth of the second, by their completion."""

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "phase": pl.String,
    "second": pl.Int64,
    "t_ns": pl.Int64,
    "op": pl.String,
    **dict.fromkeys(COUNTS, pl.Int64),
    TENTHS: pl.List(pl.Int64),
    "count": pl.Int64,
    **{
        f"{clock}_{point}_ns": pl.Float64 if point == "mean" else pl.Int64
        for clock in CLOCKS
        for point in ("mean", *POINTS)
    },
}


def read_series(folder: Path, phases: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of every phase's series in an engine's folder, in the order of time.

    A last line cut short, as a killed engine leaves it, is left out.

    Args:
        folder: the engine's folder.
        phases: the phases to read; none = all there are.
    """
    names = phases or [p.name.removesuffix(".series.ndjson") for p in folder.glob("*.series.ndjson")]
    rows = [row for name in names for row in _phase(folder / f"{name}.series.ndjson", name)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row").sort("t_ns", maintain_order=True)


def write_intervals(engine: Path, path: Path) -> pl.DataFrame:
    """Make intervals.parquet from an engine's folder; returns its rows."""
    frame = read_series(engine)
    with replacing(path) as beside:
        frame.write_parquet(beside)
    return frame


def _phase(file: Path, phase: str) -> Iterator[tuple[Any, ...]]:
    for seconds in _lines(file):
        ops: dict[str, Any] = seconds.get("ops", {})
        head = (phase, seconds["second"], seconds["t_ns"])
        counts = [_number(seconds.get(name)) for name in COUNTS]
        total = ops.get(TOTAL, {"count": seconds.get("done")})
        yield (*head, TOTAL, *counts, seconds.get(TENTHS), *_distributions(total))
        for op, values in ops.items():
            if op != TOTAL:
                yield (*head, op, *(None for _ in COUNTS), None, *_distributions(values))


def _number(value: Any) -> int | None:
    """A count; failures are counted by kind."""
    return sum(value.values()) if isinstance(value, dict) else value


def _distributions(op: dict[str, Any]) -> Iterator[float | None]:
    yield op.get("count")
    for clock in CLOCKS:
        values = op.get(clock) or {}
        mean = values.get("mean_ns")
        yield None if mean is None else float(mean)
        yield from (values.get(f"{point}_ns") for point in POINTS)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    if not file.is_file():
        return
    for line in file.read_bytes().splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            return
        if isinstance(row, dict) and "second" in row and "t_ns" in row:
            yield row
