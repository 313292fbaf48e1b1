"""Charts of the machine and the nodes over the whole trial, with its phases and events as rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from steelyard.analysis.counters import HELD_BACK, PERIODS, Floats, engines, nodes, rates, samples
from steelyard.report.chart import Chart, Rows
from steelyard.report.charts.base import Lines, line_chart
from steelyard.report.charts.events import EVENTS_NOTE, events, rounded_s
from steelyard.report.charts.thin import bin_seconds, rounded
from steelyard.report.formatting import clean
from steelyard.report.model import TrialReport

MIB = float(1 << 20)


@dataclass(frozen=True)
class Measure:
    """One system chart: metrics summed per source: rates of counters, levels, or a share of others (`of`)."""

    key: str
    title: str
    unit: str
    metrics: tuple[str, ...]
    note: str = ""
    scale: float = 1.0
    level: bool = False
    of: tuple[str, ...] = ()


DISK = ("disk_read_bytes_total", "disk_write_bytes_total")
NETWORK = ("network_receive_bytes_total", "network_send_bytes_total")
REQUESTS = ("server_client_reads_total", "server_client_writes_total", "server_client_range_total",
            "server_client_multi_total")  # fmt: skip
WAITING = ("server_native_pending", "server_calls_pending")
COMPACTED, PENDING = ("server_compaction_bytes_total",), ("server_compactions_pending",)
RUNNING = ("server_compactions_running",)
FLUSHES, MEMTABLES = ("server_flushes_pending",), ("server_memtable_bytes",)
BLOCKED, SYNC = ("server_updates_blocked_seconds_total",), ("server_wal_sync_max_whole_ms",)
CACHE = ("server_block_cache_hits_total", "server_block_cache_misses_total")
MOVING, LACKING = ("server_regions_in_transition",), ("server_hdfs_under_replicated_blocks",)
SHARE = "share of time"
MEASURES = (
    Measure("cpu", "CPU", "cores", ("cpu_seconds_total",), "Of servers, engine, lab, and all together."),
    Measure("memory", "Memory", "MiB", ("memory_bytes",), "Resident.", 1 / MIB, level=True),
    Measure("disk", "Disk", "MiB/s", DISK, "Read and written.", 1 / MIB),
    Measure("network", "Network", "MiB/s", NETWORK, "Both directions, loopback included.", 1 / MIB),
    Measure("requests", "Requests of clients", "per s", REQUESTS, "As each server counts them."),
    Measure("waiting", "Waiting requests", "requests", WAITING, "Without a thread yet.", level=True),
    Measure("gc", "Garbage collection", "ms per s", ("server_gc_seconds_total",), "In collections.", 1000.0),
    Measure("memtables", "Memtables", "MiB", MEMTABLES, "Written and not yet flushed.", 1 / MIB, level=True),
    Measure("flushes", "Pending flushes", "tasks", FLUSHES, "Waiting.", level=True),
    Measure("blocked", "Writes held back", SHARE, BLOCKED, "Until a flush has made room."),
    Measure("compactions", "Pending compactions", "tasks", PENDING, "Waiting.", level=True),
    Measure("compacting", "Compactions", "tasks", RUNNING, "Under way.", level=True),
    Measure("compacted", "Compaction", "MiB/s", COMPACTED, "Bytes compacted.", 1 / MIB),
    Measure("log", "Slowest WAL sync", "ms", SYNC, "Of each second, in whole milliseconds.", level=True),
    Measure("cache", "Block cache hits", "share", CACHE[:1], "Of all blocks looked for.", of=CACHE),
    Measure("regions", "Regions", "regions", ("server_regions",), "Served by each node.", level=True),
    Measure("moving", "Regions in transition", "regions", MOVING, "As masters see it.", level=True),
    Measure("lacking", "Under-replicated blocks", "blocks", LACKING, "Of HDFS.", level=True),
    Measure(
        "throttled", "Throttled", "share", (HELD_BACK,), "Of the periods of the CPU quota.", of=(PERIODS,)
    ),
)


def system_charts(trial: TrialReport) -> list[Chart]:
    """The charts of what was sampled; a measure that no source has makes none."""
    system = trial.system
    if not system.height:
        return []
    origin = _origin(trial)
    order = [*nodes(system), *engines(system), "lab", "others", "machine"]
    seen = system["t_ns"]
    within = float(seen.min()) / 1e9 - 1, float(seen.max()) / 1e9 + 1  # type: ignore[arg-type]
    told = events(trial, origin, within)
    found = [_chart(system, measure, order, origin, told) for measure in MEASURES]
    return [chart for chart in found if chart is not None]


def _origin(trial: TrialReport) -> float:
    """Second 0: the first phase's start, or the first sample."""
    starts = [p.phase.start_ns for p in trial.phases if p.phase.start_ns]
    first = min(starts) if starts else int(trial.system["t_ns"].min() or 0)  # type: ignore[arg-type]
    return first / 1e9


def _chart(
    system: pl.DataFrame, measure: Measure, order: list[str], origin: float, told: Rows
) -> Chart | None:
    rows: Rows = []
    for source in order:
        at, values = _series(system, source, measure)
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
        events=told,
    )
    note = measure.note + (f" {EVENTS_NOTE}" if told else "")
    return Chart(f"system-{measure.key}", measure.title, note.strip(), "system", lambda: line_chart(lines))


def _series(system: pl.DataFrame, source: str, measure: Measure) -> tuple[Floats, Floats]:
    """What is drawn of a source; of a share the seconds in which there was anything to have a share of."""
    at, values = _summed(system, source, measure.metrics, level=measure.level)
    if not measure.of:
        return at, values
    _, whole = _summed(system, source, measure.of, level=measure.level)
    some = whole > 0
    return at[some], values[some] / whole[some]


def _summed(
    system: pl.DataFrame, source: str, metrics: tuple[str, ...], *, level: bool
) -> tuple[Floats, Floats]:
    """One series per source: the sum of its metrics, on the times of the first one that was sampled."""
    series = [samples(system, source, metric) for metric in metrics]
    known = [(t, v) if level else rates(t, v) for t, v in series if t.size > 1]
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
