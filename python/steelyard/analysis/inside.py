"""What the servers told of themselves in a phase: queues, flushes, compactions, logs, caches, regions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from steelyard.analysis.counters import Window, nodes
from steelyard.analysis.summary import Phase

Read = Callable[[Window, str], float | None]
"""From a window and a source to one figure; None where the source does not tell it."""


@dataclass(frozen=True)
class Inside:
    """One figure of every server that tells it.

    Attributes:
        measure: what it is, with the word for how the phase was summed up.
        unit: `B`, `B/s`, `/s`, `share`, `ms` or empty.
        by_source: node or master -> figure.
    """

    measure: str
    unit: str
    by_source: Mapping[str, float]


def _most(*metrics: str) -> Read:
    """The highest level of the first metric that is told."""

    def read(window: Window, source: str) -> float | None:
        return next((v for m in metrics if (v := window.highest(source, m)) is not None), None)

    return read


def _most_anew(*metrics: str) -> Read:
    return lambda window, source: window.highest_anew(source, *metrics)


def _mean(metric: str) -> Read:
    return lambda window, source: window.mean(source, metric)


def _least(metric: str) -> Read:
    return lambda window, source: window.lowest(source, metric)


def _rate(*metrics: str) -> Read:
    return lambda window, source: window.rate(source, *metrics)


def _ratio(part: str, whole: tuple[str, ...]) -> Read:
    """Increase of one counter over that of others; None while nothing happened."""

    def read(window: Window, source: str) -> float | None:
        of, among = window.rate(source, part), window.rate(source, *whole)
        return None if of is None or not among else of / among

    return read


HELD_BACK, MOVING = "writes held back", "regions in transition, most"
LACKING = "under-replicated blocks, most"
BLOCK_CACHE = ("server_block_cache_hits_total", "server_block_cache_misses_total")
MEASURES: Mapping[str, tuple[Read, str]] = {
    "requests waiting, most": (_most("server_calls_pending", "server_native_pending"), ""),
    "requests dropped": (_rate("server_dropped_total"), "/s"),
    "pending compactions, most": (_most("server_compactions_pending"), ""),
    "compactions running, most": (_most("server_compactions_running"), ""),
    "compacted": (_rate("server_compaction_bytes_total"), "B/s"),
    "pending flushes, most": (_most("server_flushes_pending"), ""),
    "flushed": (_rate("server_flush_bytes_total"), "B/s"),
    "memtables, most": (_most("server_memtable_bytes"), "B"),
    "files of data, most": (_most("server_sstables"), ""),
    HELD_BACK: (_rate("server_updates_blocked_seconds_total"), "share"),
    "WAL syncs": (_rate("server_wal_syncs_total"), "/s"),
    "slowest WAL sync": (_most("server_wal_sync_max_whole_ms"), "ms"),
    "HDFS fsyncs": (_rate("server_hdfs_fsyncs_total"), "/s"),
    "block cache hits": (_ratio(BLOCK_CACHE[0], BLOCK_CACHE), "share"),
    "key cache hits": (
        _ratio("server_key_cache_hits_total", ("server_key_cache_requests_total",)),
        "share",
    ),
    "store files on this node": (_mean("server_local_files_share"), "share"),
    # The master counts them once a minute: what it tells may be of the table's making, before the phase.
    MOVING: (_most_anew("server_regions_in_transition", "server_regions_in_transition_oldest_seconds"), ""),
    "region servers alive, least": (_least("server_region_servers_live"), ""),
    "DataNodes alive, least": (_least("server_hdfs_live_data_nodes"), ""),
    LACKING: (_most("server_hdfs_under_replicated_blocks"), ""),
}
"""What is shown -> (how it is read, its unit). Cassandra and HBase share words where they share a meaning."""


def inside(system: pl.DataFrame, phase: Phase) -> tuple[Inside, ...]:
    """Each measure that any server told of in the phase's window."""
    window = Window(system, phase.start_ns, phase.end_ns)
    names = nodes(system)
    found = []
    for measure, (read, unit) in MEASURES.items():
        by_source = {name: value for name in names if (value := read(window, name)) is not None}
        if by_source:
            found.append(Inside(measure, unit, by_source))
    return tuple(found)
