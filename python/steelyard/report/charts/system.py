"""Charts of the machine and the nodes over the whole trial, with its phases and events as rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from steelyard.analysis.counters import Floats, engines, nodes, rates, samples
from steelyard.report.charts.base import Chart, Lines, Rows, line_chart
from steelyard.report.charts.thin import bin_seconds, rounded
from steelyard.report.model import TrialReport
from steelyard.report.words import clean, plain

MIB = float(1 << 20)


@dataclass(frozen=True)
class Measure:
    """One system chart: metrics summed per source, as rates (counters) or levels."""

    key: str
    title: str
    unit: str
    metrics: tuple[str, ...]
    note: str = ""
    scale: float = 1.0
    level: bool = False


DISK = ("disk_read_bytes_total", "disk_write_bytes_total")
NETWORK = ("network_receive_bytes_total", "network_send_bytes_total")
GC, COMPACTED = ("server_gc_seconds_total",), ("server_compaction_bytes_total",)
PENDING, THROTTLED = ("server_compactions_pending",), ("cpu_throttled_seconds_total",)
MEASURES = (
    Measure(
        "cpu", "CPU", "cores", ("cpu_seconds_total",), "In use by servers, engine, lab, and all together."
    ),
    Measure("memory", "Memory", "MiB", ("memory_bytes",), "Resident.", 1 / MIB, level=True),
    Measure("disk", "Disk", "MiB/s", DISK, "Read and written.", 1 / MIB),
    Measure("network", "Network", "MiB/s", NETWORK, "Both directions, loopback included.", 1 / MIB),
    Measure("gc", "Garbage collection", "ms per s", GC, "Time in collections.", 1000.0),
    Measure("compactions", "Pending compactions", "tasks", PENDING, "Waiting.", level=True),
    Measure("compacted", "Compaction", "MiB/s", COMPACTED, "Bytes compacted.", 1 / MIB),
    Measure("throttled", "Throttled", "share of time", THROTTLED, "Held back by CPU limits."),
)


def system_charts(trial: TrialReport) -> list[Chart]:
    """The charts of what was sampled; a measure that no source has makes none."""
    system = trial.system
    if not system.height:
        return []
    origin = _origin(trial)
    order = [*nodes(system), *engines(system), "lab", "machine"]
    found = [_chart(system, measure, order, origin, _events(trial, origin)) for measure in MEASURES]
    return [chart for chart in found if chart is not None]


def _origin(trial: TrialReport) -> float:
    """Second 0: the first phase's start, or the first sample."""
    starts = [p.phase.start_ns for p in trial.phases if p.phase.start_ns]
    first = min(starts) if starts else int(trial.system["t_ns"].min() or 0)  # type: ignore[arg-type]
    return first / 1e9


def _events(trial: TrialReport, origin: float) -> Rows:
    seen = trial.system["t_ns"]
    low, high = float(seen.min()) / 1e9 - 1, float(seen.max()) / 1e9 + 1  # type: ignore[arg-type]
    rows: Rows = []
    for event in trial.manifest.get("timeline") or ():
        at = float(event.get("t_ns") or 0) / 1e9
        if low <= at <= high:
            detail = plain(event.get("detail"))
            told = clean(event.get("event", "")) + ("" if detail == "-" else f": {detail}")
            rows.append({"x": rounded_s(at - origin), "event": told[:200]})
    return rows


def rounded_s(second: float) -> float:
    """A time to a hundredth of a second."""
    return round(second, 2)


def _chart(
    system: pl.DataFrame, measure: Measure, order: list[str], origin: float, events: Rows
) -> Chart | None:
    rows: Rows = []
    for source in order:
        at, values = _summed(system, source, measure)
        at, values = _thinned(at, values, np.max if measure.level else np.mean)
        rows += [
            {"x": rounded_s(t - origin), "series": clean(source), "y": rounded(v * measure.scale)}
            for t, v in zip(at, values, strict=True)
        ]
    if not any(row["y"] for row in rows):
        return None
    present = [clean(s) for s in order if any(r["series"] == clean(s) for r in rows)]
    lines = Lines(
        rows,
        "seconds since the first phase began",
        measure.unit,
        present,
        hues=[clean(s) for s in order],
        events=events,
    )
    note = measure.note + (" Dotted: what the trial did; point at a rule to read it." if events else "")
    return Chart(f"system-{measure.key}", measure.title, note.strip(), "system", line_chart(lines))


def _summed(system: pl.DataFrame, source: str, measure: Measure) -> tuple[Floats, Floats]:
    """One series per source: the sum of its metrics, on the times of the first one that was sampled."""
    series = [samples(system, source, metric) for metric in measure.metrics]
    known = [(t, v) if measure.level else rates(t, v) for t, v in series if t.size > 1]
    if not known:
        return np.array([]), np.array([])
    at = known[0][0]
    return at, np.sum([np.interp(at, t, v) for t, v in known], axis=0)


def _thinned(at: Floats, values: Floats, fold: Callable[[Floats], float]) -> tuple[Floats, Floats]:
    every = bin_seconds(at.size)
    if every == 1:
        return at, values
    starts = range(0, at.size, every)
    return at[::every], np.array([fold(values[n : n + every]) for n in starts])
