"""The figures of a trial by name: what claims and figures of a study may ask for.

Latencies are `OP_CLOCK_FIGURE_ns`, such as `read_service_p99_ns`; how many there were of an operation is
`OP_count`, and how many of them succeeded `OP_ok`; everything else is named here. A name with `load_` before
it is the same figure of the load phase.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

OPS = ("total", "read", "update", "insert", "scan", "delete", "read_modify_write", "flush")
CLOCKS = ("response", "service", "all")
FIGURES = ("mean", "min", "p50", "p95", "p99", "p999", "max")
LOAD = "load_"
_LATENCY = re.compile(
    rf"(?P<op>{'|'.join(OPS)})_(?P<clock>{'|'.join(CLOCKS)})_(?P<figure>{'|'.join(FIGURES)})_ns"
)
COUNTS = {"count": "operations", "ok": "successes"}
"""Of one kind of operation."""
_COUNT = re.compile(rf"(?P<op>{'|'.join(OPS[1:])})_(?P<what>{'|'.join(COUNTS)})")


@dataclass(frozen=True)
class Named:
    """What a figure is called by people, and its unit: `ns`, `us`, `s`, `/s`, `B`, `B/s`, `share`, `cores` or
    none."""

    words: str
    unit: str


CLIENT = {
    "ok_per_s": Named("throughput", "/s"),
    "run_per_s": Named("throughput, connecting included", "/s"),
    "steady_per_s": Named("steady throughput", "/s"),
    "seconds": Named("time of the phase", "s"),
    "run_s": Named("run time, connecting included", "s"),
    "around_s": Named("starting the client and connecting", "s"),
    "outside_s": Named("run time outside operations", "s"),
    "outside_share": Named("share of the run time outside operations", "share"),
    "search_per_s": Named("highest rate found", "/s"),
    "ok_share": Named("share of successes", "share"),
    "client_cpu_us": Named("client CPU per operation", "us"),
    "client_cpu_cores": Named("client CPU", "cores"),
    "engines_throughput_spread": Named("throughput over the engines, coefficient of variation", ""),
    "engines_mean_spread": Named("mean service time over the engines, coefficient of variation", ""),
    "engines_p95_spread": Named("p95 service time over the engines, coefficient of variation", ""),
    "engines_p99_spread": Named("p99 service time over the engines, coefficient of variation", ""),
}
"""What the client measures."""

INSIDE = {
    "server_cpu_us": Named("server CPU per operation", "us"),
    "server_cpu_cores": Named("server CPU", "cores"),
    "server_cpu_share": Named("server CPU, of what the nodes may use", "share"),
    "machine_busy_share": Named("host's CPU busy", "share"),
    "machine_iowait_share": Named("host's CPU waiting for disks", "share"),
    "throttled_share": Named("periods of their CPU quota in which nodes were held back", "share"),
    "gc_share": Named("time in garbage collection", "share"),
    "requests_per_op": Named("requests coordinated per operation", ""),
    "replica_reads_per_op": Named("replicas read per operation", ""),
    "replica_writes_per_op": Named("replicas written per operation", ""),
    "network_bytes_per_op": Named("network bytes per operation", "B"),
    "disk_read_bytes_per_op": Named("bytes read from disk per operation", "B"),
    "disk_write_bytes_per_op": Named("bytes written to disk per operation", "B"),
    "disk_writes_per_op": Named("writes to disk per operation", ""),
    "sstables": Named("files of data", ""),
    "sstables_per_read_p50": Named("files per read, median (of the worst node, over time the median)", ""),
    "sstables_per_read_p99": Named("files per read, p99 (of the worst node, over time the median)", ""),
    "page_cache_bytes": Named("page cache charged to the nodes' control groups", "B"),
    "page_cache_share": Named("page cache charged to the nodes, of the data they store", "share"),
    "stored_bytes": Named("data on all nodes, in files and memtables", "B"),
    "compacted_bytes_per_s": Named("compacted", "B/s"),
    "compactions_pending": Named("compactions pending, most", ""),
    "requests_waiting": Named("requests waiting at a node, most", ""),
    "reads_waiting": Named("reads waiting for a thread at a node, most", ""),
    "writes_waiting": Named("writes waiting for a thread at a node, most", ""),
    "key_cache_hit_share": Named("key cache hits", "share"),
    "block_cache_hit_share": Named("block cache hits", "share"),
    "requests_imbalance": Named("requests coordinated by the busiest node over the mean", ""),
    "replica_imbalance": Named("reads and writes as replica of the busiest node over the mean", ""),
    "cpu_imbalance": Named("CPU of the busiest node over the mean", ""),
    "data_imbalance": Named("data on the fullest node over the mean", ""),
    "requests_variation": Named("requests coordinated, coefficient of variation over nodes", ""),
    "replica_variation": Named("reads and writes as replica, coefficient of variation over nodes", ""),
    "cpu_variation": Named("CPU, coefficient of variation over nodes", ""),
    "data_variation": Named("data, coefficient of variation over nodes", ""),
}
"""What servers and machine did meanwhile: a paper's reasons are checked against these."""

PARTS = frozenset({
    "outside_share", "ok_share", "machine_busy_share", "machine_iowait_share", "throttled_share", "gc_share",
    "key_cache_hit_share", "block_cache_hit_share",
})  # fmt: skip
"""Shares that are parts of a whole."""

LEVELS = frozenset({
    "server_cpu_cores", "machine_busy_share", "machine_iowait_share", "throttled_share", "gc_share",
    "sstables", "page_cache_bytes", "page_cache_share", "stored_bytes", "compactions_pending",
    "requests_waiting", "reads_waiting", "writes_waiting",
})  # fmt: skip
"""Of these what is known of each second too: not what is of all operations of a phase, what servers tell when
a compaction has ended, or what hangs on quotas that change."""

CENSORED = {
    "scaling_s": Named(
        "time from the first action's start to the last one's end, those left out that take it back", "s"
    ),
    "join_s": Named(
        "time until every node that was added does its share (HBase: serves its first region)", "s"
    ),
    "recovered_s": Named("time from the first action's start until as much succeeds as before it", "s"),
    "steady_again_s": Named("time from the first action's start until the run is steady again", "s"),
    "stabilise_s": Named("time from the last action's end until the run is steady again", "s"),
}
"""Times that may not come within the run: then they are known to be longer, and not by how much."""

TIMELINE = {
    **CENSORED,
    "excess_s": Named("response time beyond that before the action, summed over operations", "s"),
    "impact_s": Named("the same less the control's", "s"),
    "impact_share": Named("operations above the control's p99, less the control's own", "share"),
    "worst_window_p99_ns": Named("highest p99 of a thousand operations in a row, all attempts", "ns"),
    "window_spread": Named("coefficient of variation of the p99 of every thousand operations", ""),
    "outside_bound_s": Named("seconds with a p99 above the bound", "s"),
    "lost_operations": Named("operations due and not yet done, summed over seconds", ""),
    "stale_reads": Named("stale reads from the first action on", ""),
    "lost_reads": Named("reads of lost records from the first action on", ""),
    "not_yet_reads": Named("reads of records not yet acknowledged from the first action on", ""),
    "impact_stale_reads": Named("stale reads, less the control's in the same seconds", ""),
    "impact_lost_reads": Named("reads of lost records, less the control's in the same seconds", ""),
    "moved_bytes": Named("bytes moved by actions", "B"),
    "moved_over_least": Named("bytes moved over the least that had to move", ""),
    "hints_stored": Named("writes kept for nodes that did not take them, from the first action on", ""),
    "hints_replayed": Named("kept writes handed over, from the first action on", ""),
    "remote_share": Named("of the files that added nodes read, what lay on others alone in the end", "share"),
    "capacity_gain": Named("highest rate after the actions over that before", ""),
    "capacity_gain_share": Named("gain in capacity, of the ideal one", "share"),
    "host_busy_s": Named("seconds with the host over 95 % busy while an action was felt", "s"),
    "host_stolen_s": Named("seconds with over 1 % of the CPU stolen while an action was felt", "s"),
}
"""What actions on the cluster cost (analysis/windows)."""
PROVISION = {
    "under_nodes": Named("nodes too few for the load, on average", ""),
    "over_nodes": Named("nodes more than the load needs, on average", ""),
    "under_share": Named("share of time with too few nodes for the load", "share"),
    "over_share": Named("share of time with more nodes than the load needs", "share"),
}
"""How supply follows demand under a controller (analysis/provision)."""
BEYOND = "_beyond"
"""Ends the column that holds how long a censored time was waited for in vain; its own is empty then."""
UNDONE = "actions_undone"
"""The column that tells in words which actions of a trial were not done; empty where all were."""
CONTROL = "control_"
"""A figure of the trial of the same repetition without actions, over the same seconds."""
IMPACT = "impact_"
"""A figure of a trial with actions, less that of its control over the same seconds. Seconds and shares are
never below zero; reads are, where chance gave the control more: only so is their middle zero
without an effect."""
SIGNED = {
    "impact_stale_reads": "compare stale_reads with control_stale_reads",
    "impact_lost_reads": "compare lost_reads with control_lost_reads",
    "capacity_gain_share": "take capacity_gain",
}
"""Figures that may be zero or below, and what can be taken instead where that cannot be: in ratios."""
COUNTED = re.compile(
    rf"(?:{CONTROL}|{IMPACT})?(?:stale|lost|not_yet)_reads|(?:{CONTROL})?lost_operations|hints_\w+|audit_\w+"
)
"""Counts that are none in one trial and thousands in the next: no mean tells them."""
WINDOWS = ("before", "during", "after")
_OF_WINDOW = (
    "excess_s", "worst_window_p99_ns", "window_spread", "lost_operations", "stale_reads", "lost_reads",
    "not_yet_reads",
)  # fmt: skip
"""Figures that the control has as well."""
_WINDOW = re.compile(
    rf"(?P<op>{'|'.join(OPS)})_(?P<window>{'|'.join(WINDOWS)})(?P<raw>_raw)?"
    r"_(?P<figure>mean_ns|p50_ns|p99_ns)"
)
_RATE = re.compile(rf"(?P<window>{'|'.join(WINDOWS)})_(?P<figure>ok_per_s|failed_share)")
_UNTIL = re.compile(r"until_(?P<what>[a-z][a-z_]*)_s")

AUDIT = {
    "audit_records": Named("records read back after the run", ""),
    "audit_lost": Named("records lost, of those read back after the run", ""),
    "audit_fields_lost": Named("fields lost of other records, read back after the run", ""),
    "audit_stale": Named("fields older than acknowledged, read back after the run", ""),
    "audit_wrong": Named("records or fields lost or older than acknowledged, read back after the run", ""),
    "audit_unread": Named("records that could not be read back after the run", ""),
    "audit_missing": Named("records lost or that could not be read back after the run", ""),
}
"""What `load.audit` found of acknowledged writes: each `audit_NAME` is NAME of the audit's summary;
wrong is lost + fields_lost + stale: an update that was lost leaves the record, with what it held before;
missing is lost + unread."""
LOSSES = frozenset({"audit_lost", "audit_fields_lost", "audit_stale", "audit_wrong"})
"""Those in which no time is: what is unread may only be late."""

PLAIN = CLIENT | INSIDE | TIMELINE | PROVISION | AUDIT

_STANDING = ("data_imbalance", "data_variation", "stored_bytes", "sstables", *PROVISION, *AUDIT)
"""What lies on the nodes, and what is of the whole run by what it is."""


def named(column: str) -> Named | None:
    """Words and unit of a figure; None when none is called so."""
    if column.startswith(LOAD):
        found = named(column.removeprefix(LOAD))
        return found and Named(f"load: {found.words}", found.unit)
    if column.startswith(CONTROL):
        return _of_control(column.removeprefix(CONTROL))
    if found := _of_window(column):
        return found
    if match := _LATENCY.fullmatch(column):
        op = _operation(match["op"])
        figure = "p99.9" if match["figure"] == "p999" else match["figure"]
        clock = "latency of all attempts" if match["clock"] == "all" else f"{match['clock']} time"
        return Named(f"{op}{clock}, {figure}", "ns")
    if match := _COUNT.fullmatch(column):
        return Named(f"{_operation(match['op'])}{COUNTS[match['what']]}", "")
    return PLAIN.get(column)


def _operation(op: str) -> str:
    return "" if op == "total" else op.upper().replace("_", "-") + " "


def _of_control(column: str) -> Named | None:
    found = TIMELINE[column] if column in _OF_WINDOW else _of_window(column)
    return found and Named(f"without actions: {found.words}", found.unit)


def _of_window(column: str) -> Named | None:
    """Of a window, or until a milestone."""
    if match := _WINDOW.fullmatch(column):
        attempts = "answers, right or not," if match["raw"] else "all attempts"
        words = f"{_operation(match['op'])}latency of {attempts} {match['window']} the action"
        return Named(f"{words}, {match['figure'].removesuffix('_ns')}", "ns")
    if match := _RATE.fullmatch(column):
        figure = CLIENT["ok_per_s"] if match["figure"] == "ok_per_s" else Named("share of failures", "share")
        return Named(f"{figure.words} {match['window']} the action", figure.unit)
    if match := _UNTIL.fullmatch(column):
        return Named(f"time until the last node was '{match['what'].replace('_', ' ')}'", "s")
    return None


def is_of_timeline(column: str) -> bool:
    """Whether a figure is of actions, or of windows around them."""
    own = column.removeprefix(CONTROL)
    return own in TIMELINE or _of_window(own) is not None


def needs_rest(column: str) -> bool:
    """Whether a figure is judged only of runs that came to a steady state.

    What actions did is not of a run at rest: when something was noticed, what failed or was stale, how slow
    the worst thousand were are of the change itself, and stand beside the same seconds of a control, whose
    warm-up is the same. Only of the windows before and after is rest asked.
    """
    own = column.removeprefix(CONTROL)
    if match := _WINDOW.fullmatch(own) or _RATE.fullmatch(own):
        return match["window"] != "during"
    return not (own in TIMELINE or is_until(own) or own in _STANDING)


def is_count(column: str) -> bool:
    """Whether a figure counts what went wrong, or was to be made good: no mean tells it."""
    return COUNTED.fullmatch(column) is not None


def is_signed(column: str) -> bool:
    """Whether a figure may lie below zero: it has no logarithm, and no ratio to another."""
    return column in SIGNED


def bounds_of(column: str) -> tuple[float, float]:
    """Between what a figure must lie: a part of a whole, the busiest over the mean, and all others."""
    own = column.removeprefix(LOAD)
    return 1.0 if own.endswith("_imbalance") else -math.inf, 1.0 if own in PARTS else math.inf


def is_until(column: str) -> bool:
    """Whether a figure is the time until a milestone."""
    return _UNTIL.fullmatch(column) is not None


def is_latency(column: str) -> bool:
    """Whether a figure is one of a latency of the measured phase, which has a histogram."""
    return _LATENCY.fullmatch(column) is not None


def is_by_second(column: str) -> bool:
    """Whether a figure is known of each second: throughput, latencies but the least, and rates and levels
    of servers and machine."""
    if is_latency(column):
        return not column.endswith("_min_ns")
    return column == "ok_per_s" or column in LEVELS


def names(ops: Iterable[str] = OPS) -> list[str]:
    """Every figure there is for these operations, to look for the nearest."""
    latencies = [f"{op}_{clock}_{figure}_ns" for op in ops for clock in CLOCKS for figure in FIGURES]
    windows = [
        f"{op}_{w}{raw}_{figure}_ns"
        for op in ops
        for w in WINDOWS
        for raw in ("", "_raw")
        for figure in ("mean", "p50", "p99")
    ]
    windows += [f"{w}_{figure}" for w in WINDOWS for figure in ("ok_per_s", "failed_share")]
    both = [*windows, *(f"{CONTROL}{name}" for name in (*windows, *_OF_WINDOW))]
    counts = [f"{op}_{what}" for op in ops if op != OPS[0] for what in COUNTS]
    return [*PLAIN, *latencies, *counts, *both, f"{LOAD}ok_per_s", f"{LOAD}run_per_s", f"{LOAD}run_s"]
