"""The figures of a trial by name: what claims and figures of a study may ask for.

Latencies are `OP_CLOCK_FIGURE_ns`, such as `read_service_p99_ns`; everything else is named here. A name with
`load_` before it is the same figure of the load phase.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

OPS = ("total", "read", "update", "insert", "scan", "delete", "read_modify_write", "flush")
CLOCKS = ("response", "service", "all")
FIGURES = ("mean", "p50", "p95", "p99", "p999", "max")
LOAD = "load_"
_LATENCY = re.compile(
    rf"(?P<op>{'|'.join(OPS)})_(?P<clock>{'|'.join(CLOCKS)})_(?P<figure>{'|'.join(FIGURES)})_ns"
)


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
    "search_per_s": Named("highest rate found", "/s"),
    "ok_share": Named("share of successes", "share"),
    "client_cpu_us": Named("client CPU per operation", "us"),
    "client_cpu_cores": Named("client CPU", "cores"),
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
    "sstables": Named("files of data", ""),
    "sstables_per_read_p50": Named("files per read, median (of the worst node, over time the median)", ""),
    "sstables_per_read_p99": Named("files per read, p99 (of the worst node, over time the median)", ""),
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
}
"""What servers and machine did meanwhile: a paper's reasons are checked against these."""

PLAIN = CLIENT | INSIDE

STANDING = ("data_imbalance", "stored_bytes", "sstables")
"""What lies on the nodes: it has no warm-up, and is judged also where a run came to no steady state."""


def named(column: str) -> Named | None:
    """Words and unit of a figure; None when none is called so."""
    if column.startswith(LOAD):
        found = named(column.removeprefix(LOAD))
        return found and Named(f"load: {found.words}", found.unit)
    if match := _LATENCY.fullmatch(column):
        op = "" if match["op"] == "total" else match["op"].upper().replace("_", "-") + " "
        figure = "p99.9" if match["figure"] == "p999" else match["figure"]
        clock = "latency of all attempts" if match["clock"] == "all" else f"{match['clock']} time"
        return Named(f"{op}{clock}, {figure}", "ns")
    return PLAIN.get(column)


def is_latency(column: str) -> bool:
    """Whether a figure is one of a latency of the measured phase, which has a histogram."""
    return _LATENCY.fullmatch(column) is not None


def names(ops: Iterable[str] = OPS) -> list[str]:
    """Every figure there is for these operations, to look for the nearest."""
    latencies = [f"{op}_{clock}_{figure}_ns" for op in ops for clock in CLOCKS for figure in FIGURES]
    return [*PLAIN, *latencies, f"{LOAD}ok_per_s", f"{LOAD}run_per_s", f"{LOAD}run_s"]
