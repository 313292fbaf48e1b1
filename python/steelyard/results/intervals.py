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
CLIENT = "client"
"""Whether the load was kept in the second, and if not by whose fault."""
LATER = ("on_wire", "run_wait_ns", "late_max_ns")
"""Numbers that series of earlier releases do not have."""
LAG = ("lag_p99_ns", "lag_max_ns")
"""How long answers lay unread in the second; known where the kernel stamps their arrival."""
VERDICTS = ("stale", "lost", "not_yet", "corrupt", "foreign")

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "phase": pl.String,
    "second": pl.Int64,
    "t_ns": pl.Int64,
    "op": pl.String,
    **dict.fromkeys(COUNTS, pl.Int64),
    TENTHS: pl.List(pl.Int64),
    **dict.fromkeys(LATER, pl.Int64),
    "late_mean_ns": pl.Float64,
    **dict.fromkeys(LAG, pl.Int64),
    CLIENT: pl.String,
    **dict.fromkeys(VERDICTS, pl.Int64),
    "count": pl.Int64,
    **{
        f"{clock}_{point}_ns": pl.Float64 if point == "mean" else pl.Int64
        for clock in CLOCKS
        for point in ("mean", *POINTS)
    },
}


TOTAL_ONLY = (*COUNTS, TENTHS, *LATER, "late_mean_ns", *LAG, CLIENT, *VERDICTS)

COORDINATOR_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "phase": pl.String,
    "second": pl.Int64,
    "t_ns": pl.Int64,
    "coordinator": pl.String,
    "attempts": pl.Int64,
    "ok": pl.Int64,
    "failed": pl.Int64,
    "failures": pl.String,
    "service_mean_ns": pl.Float64,
    "service_p99_ns": pl.Int64,
}


def read_series(folder: Path, phases: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of every phase's series in an engine's folder, in the order of time.

    A last line cut short, as a killed engine leaves it, is left out.

    Args:
        folder: the engine's folder.
        phases: the phases to read; none = all there are.
    """
    rows = [row for name in _names(folder, phases) for row in _phase(folder / f"{name}.series.ndjson", name)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row").sort("t_ns", maintain_order=True)


def read_coordinators(folder: Path, phases: Sequence[str] = ()) -> pl.DataFrame:
    """Attempts of each coordinator in each second, of every phase's series in an engine's folder.

    Args:
        folder: the engine's folder.
        phases: the phases to read; none = all there are.
    """
    rows = [
        (name, second["second"], second["t_ns"], node, *_share(said))
        for name in _names(folder, phases)
        for second in _lines(folder / f"{name}.series.ndjson")
        for node, said in (second.get("coordinators") or {}).items()
    ]
    return pl.DataFrame(rows, schema=COORDINATOR_SCHEMA, orient="row").sort("t_ns", maintain_order=True)


def _share(said: dict[str, Any]) -> Iterator[Any]:
    failed, service = said.get("failed") or {}, said.get("service") or {}
    yield from (
        said.get("attempts"),
        said.get("ok"),
        sum(failed.values()),
        json.dumps(failed, sort_keys=True),
    )
    yield from (service.get("mean_ns"), service.get("p99_ns"))


def _names(folder: Path, phases: Sequence[str]) -> Sequence[str]:
    return phases or [p.name.removesuffix(".series.ndjson") for p in folder.glob("*.series.ndjson")]


def write_intervals(engine: Path, path: Path) -> pl.DataFrame:
    """Make intervals.parquet from an engine's folder, and coordinators.parquet beside it where there are any;
    returns the intervals' rows."""
    frame, coordinators = read_series(engine), read_coordinators(engine)
    with replacing(path) as beside:
        frame.write_parquet(beside)
    if coordinators.height:
        with replacing(path.with_name("coordinators.parquet")) as beside:
            coordinators.write_parquet(beside)
    return frame


def _phase(file: Path, phase: str) -> Iterator[tuple[Any, ...]]:
    for seconds in _lines(file):
        ops: dict[str, Any] = seconds.get("ops", {})
        head = (phase, seconds["second"], seconds["t_ns"])
        counts = [_number(seconds.get(name)) for name in COUNTS]
        total = ops.get(TOTAL, {"count": seconds.get("done")})
        yield (*head, TOTAL, *counts, seconds.get(TENTHS), *_told(seconds), *_distributions(total))
        for op, values in ops.items():
            if op != TOTAL:
                yield (*head, op, *(None for _ in TOTAL_ONLY), *_distributions(values))


def _told(row: dict[str, Any]) -> Iterator[Any]:
    """What a second tells of its client, and its verdicts; nothing where an earlier release wrote it."""
    yield from (row.get(name) for name in LATER)
    looked = row.get("late_count")
    yield row["late_sum_ns"] / looked if looked else None
    lag = row.get("lag") or {}
    yield from (lag.get(name.removeprefix("lag_")) for name in LAG)
    yield row.get(CLIENT)
    verdicts = row.get("verdicts") or {}
    yield from (verdicts.get(name) for name in VERDICTS)


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
