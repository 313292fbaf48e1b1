"""The old names of cassandra.yaml's settings: before 4.1 the unit stood in the name, the value was bare."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

OLD_NAMES: dict[str, str | None] = {
    "commitlog_sync_period": "commitlog_sync_period_in_ms",
    "commitlog_segment_size": "commitlog_segment_size_in_mb",
    "commitlog_total_space": "commitlog_total_space_in_mb",
    "memtable_heap_space": "memtable_heap_space_in_mb",
    "memtable_offheap_space": "memtable_offheap_space_in_mb",
    "key_cache_size": "key_cache_size_in_mb",
    "row_cache_size": "row_cache_size_in_mb",
    "counter_cache_size": "counter_cache_size_in_mb",
    "column_index_size": "column_index_size_in_kb",
    "batch_size_warn_threshold": "batch_size_warn_threshold_in_kb",
    "batch_size_fail_threshold": "batch_size_fail_threshold_in_kb",
    "read_request_timeout": "read_request_timeout_in_ms",
    "range_request_timeout": "range_request_timeout_in_ms",
    "write_request_timeout": "write_request_timeout_in_ms",
    "counter_write_request_timeout": "counter_write_request_timeout_in_ms",
    "cas_contention_timeout": "cas_contention_timeout_in_ms",
    "truncate_request_timeout": "truncate_request_timeout_in_ms",
    "request_timeout": "request_timeout_in_ms",
    "max_hint_window": "max_hint_window_in_ms",
    "file_cache_size": "file_cache_size_in_mb",
    "compaction_throughput": "compaction_throughput_mb_per_sec",
    "stream_throughput_outbound": "stream_throughput_outbound_megabits_per_sec",
    "networking_cache_size": None,
    "allocate_tokens_for_local_replication_factor": None,
}
"""Name since 4.1 -> name before; None where there was no such setting. Of those that were renamed those of
memory, commit log, caches, timeouts and throughput; others go to the server as they are."""
NEW_NAMES = {old: new for new, old in OLD_NAMES.items() if old}
UNITS: dict[str, dict[str, float]] = {
    "_in_ms": {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000},
    "_in_kb": {"KiB": 1, "MiB": 1024},
    "_in_mb": {"MiB": 1, "GiB": 1024},
    "_mb_per_sec": {"MiB/s": 1},
    "_megabits_per_sec": {"MiB/s": 8.388608},
}
"""How an old name ends -> unit of a new value -> how many of the old unit that is."""


def to_old(settings: Mapping[str, Any]) -> dict[str, Any]:
    """These settings in the names and units of before 4.1; those that were not there are left out."""
    named = {OLD_NAMES.get(name, name): value for name, value in settings.items()}
    return {name: _bare(name, value) if name in NEW_NAMES else value for name, value in named.items() if name}


def _bare(name: str, value: Any) -> Any:
    """The number in the unit that an old name has; what is no number with one of its units stays as it is."""
    found = re.fullmatch(r"(\d+) *([A-Za-z/]+)", str(value))
    units = units_of(name)
    return round(int(found[1]) * units[found[2]]) if found and found[2] in units else value


def units_of(name: str) -> dict[str, float]:
    """The units in which a new value of this old name may be said."""
    return next(units for end, units in UNITS.items() if name.endswith(end))
