"""A phase that never ended, from what its series and histograms kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from steelyard.analysis.distribution import from_histogram
from steelyard.analysis.offered import of_states, saturation
from steelyard.analysis.summary import (
    CLOCKS,
    TOTAL,
    Histograms,
    Operation,
    Phase,
    Saturation,
    is_curve,
    mean_offered,
)
from steelyard.results.intervals import CLIENT

NS = 1e9


def _row(frame: pl.DataFrame, name: str, seconds: float, histograms: Histograms) -> Operation:
    rows = frame.filter(pl.col("op") == name)
    known = {c: int(rows[c].fill_null(0).sum()) for c in ("count", "done", "ok", "failed")}
    done, failed = known["done"] or known["count"], known["failed"]
    times = {clock: from_histogram(histograms.get(f"{name}.{clock}")) for clock in CLOCKS}
    return Operation(
        name=name,
        count=done,
        ok=known["ok"] or done - failed,
        not_yet=0,
        failures={"of unknown kind": failed} if failed else {},
        rate_per_s=done / seconds if seconds else 0.0,
        response=times["response"],
        service=times["service"],
        wait=times["wait"],
        all=times["all"],
    )


def phase_from_series(
    intervals: pl.DataFrame, name: str, histograms: Histograms, plan: Mapping[str, Any] | None = None
) -> Phase:
    """What is known of phase `name` when the engine never wrote its summary.

    Args:
        intervals: rows of intervals.parquet (docs/format.md) of this phase, or of all phases.
        name: the phase.
        histograms: whatever histograms could be read; may be empty, then there are no percentiles.
        plan: this phase's entry in the engine's plan, if known.
    """
    plan = plan or {}
    frame = intervals.filter(pl.col("phase") == name)
    totals = frame.filter(pl.col("op") == TOTAL).sort("second")
    t_ns = totals["t_ns"].to_numpy()
    seconds = float(totals.height)
    start = int(t_ns[0]) if len(t_ns) else 0
    cap = plan.get("in_flight")
    arrivals = plan.get("arrivals") or {"kind": "closed"}
    ops = sorted(set(frame["op"].unique().to_list()) - {TOTAL})
    return Phase(
        name=name,
        kind=str(plan.get("kind", "load" if name == "load" else "run")),
        start_ns=start,
        end_ns=start + int(seconds * NS),
        seconds=seconds,
        total=_row(frame, TOTAL, seconds, histograms),
        operations=tuple(_row(frame, op, seconds, histograms) for op in ops),
        in_flight_cap=cap,
        target_per_s=mean_offered(arrivals.get("rate"), seconds),
        curve=is_curve(arrivals),
        arrivals=str(arrivals.get("kind", "closed")),
        saturation=_saturation(totals, cap),
        complete=False,
        reason="cut short",
    )


def _saturation(totals: pl.DataFrame, cap: int | None) -> Saturation:
    backlog = _floats(totals, "backlog")
    if CLIENT in totals.columns and totals.height and not totals[CLIENT].has_nulls():
        return of_states(totals[CLIENT].to_list(), backlog)
    return saturation(backlog, _floats(totals, "in_flight"), cap)


def _floats(frame: pl.DataFrame, column: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return frame[column].fill_null(0).cast(pl.Float64).to_numpy()
