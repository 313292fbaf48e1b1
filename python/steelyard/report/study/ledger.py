"""A ledger of what differs in meaning between a study's systems: one word can promise different things.

Every line is read from what was in effect: the testbed's facts, the plan, what the driver found on servers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from steelyard.analysis.counters import Window, nodes
from steelyard.report.formatting import NONE, clean, digits, plain
from steelyard.report.in_effect import master_names, part, quota_cores
from steelyard.report.model import ReportModel, TrialReport
from steelyard.report.tables.base import Table

Line = Callable[["Side"], str | None]
MAJORITY = ("QUORUM", "LOCAL_QUORUM")


class Side:
    """One trial, asked about one line of the ledger after the other.

    Args:
        trial: any trial of the system and variant: what is asked is the same in all of them.
    """

    def __init__(self, trial: TrialReport) -> None:
        self.trial = trial
        self.system = part(trial.manifest, "system")
        self.asked = part(trial.manifest, "trial", "system")
        self.access = part(self.asked, "access")
        self.plan = part(trial.manifest, "plan")
        self.ready = part(trial.manifest, "engine", "ready")
        self.table = part(self.ready, "table")

    @property
    def hbase(self) -> bool:
        """Whether it is HBase; else it speaks CQL, or is a store of our own."""
        return str(self.ready.get("system") or self.system.get("kind")) == "hbase"

    @property
    def cql(self) -> bool:
        """Whether it speaks CQL."""
        return bool(self.ready.get("read_consistency"))

    def setting(self, name: str) -> Any:
        """A server's setting as it was started with; None when it is not known."""
        configuration = part(self.system, "configuration")
        for table in configuration.values():
            if isinstance(table, Mapping) and name in table:
                return table[name]
        return None

    def copies(self, level: str = "") -> int | None:
        """Replicas of a row (CQL), or of a block of the log and the files (HBase); for a level that asks one
        datacenter only, those of that datacenter."""
        if self.hbase:
            return part(self.system, "replication").get("hdfs")
        said = part(self.ready, "replication_in_effect")
        counts = {name: int(v) for name, v in said.items() if name != "class" and str(v).isdigit()}
        if level.upper().startswith("LOCAL_") and len(counts) > 1:
            return counts.get(str(self.ready.get("local_datacenter")))
        return sum(counts.values()) or None

    def needed(self, level: str) -> int | None:
        """Replicas that a consistency level waits for."""
        copies, level = self.copies(level), level.upper()
        fixed = {"ANY": 1, "ONE": 1, "LOCAL_ONE": 1, "TWO": 2, "THREE": 3}
        if level in fixed or copies is None:
            return fixed.get(level)
        return copies // 2 + 1 if level in MAJORITY else copies if level == "ALL" else None


def _acknowledged(side: Side) -> str | None:
    return side.system.get("durability")


def _replicas_written(side: Side) -> str | None:
    copies = side.copies()
    if side.hbase:
        if side.access.get("durability") in ("SKIP_WAL", "ASYNC_WAL"):
            return "one region server's memory; the log follows or is left out"
        return f"one region server, and its log on all {copies} DataNodes of the pipeline" if copies else None
    if not side.cql:
        return None
    level = str(side.ready.get("write_consistency"))
    return f"{level}: {_of(side, level)}; the others are sent it too"


def _read_from(side: Side) -> str | None:
    if side.hbase:
        return "the one region server that holds the row; its answer holds every acknowledged write"
    if not side.cql:
        return None
    read, write = str(side.ready.get("read_consistency")), str(side.ready.get("write_consistency"))
    asked, written = side.needed(read), side.needed(write)
    among = side.copies(read)
    if None in (asked, written, among) or among != side.copies(write):
        return read
    overlap = (asked or 0) + (written or 0) > (among or 0)
    promise = "holds every acknowledged write" if overlap else "may lack an acknowledged write"
    return f"{read}: {_of(side, read)}; with writes at {write} its answer {promise}"


def _of(side: Side, level: str) -> str:
    """How many replicas a level waits for, among how many, and where those are if not everywhere."""
    among = side.copies(level)
    where = f" of {side.ready.get('local_datacenter')}" if among not in (None, side.copies()) else ""
    return f"{side.needed(level) or '?'} of {among or '?'} replicas{where}"


def _retries(side: Side) -> str | None:
    retry = side.plan.get("retry")
    if retry is None:
        return None
    attempt, whole = side.plan.get("attempt_timeout_ms"), side.plan.get("timeout_ms")
    where = "the region is looked up again" if side.hbase else "another node coordinates"
    again = "none" if retry == "none" else f"until the deadline; {where} after a failure"
    return f"{again}; {attempt} ms an attempt, {whole} ms in all" if attempt else again


def _buffering(side: Side) -> str | None:
    if not side.hbase:
        return "none: every write is sent alone" if side.cql else None
    buffered = part(side.ready, "buffering")
    if not buffered:
        return "none: every put is sent alone"
    return f"{buffered.get('bytes')} bytes: the latency of a put is that of a buffer append"


def _scans(side: Side) -> str | None:
    order = side.ready.get("scan_order")
    told = {"token": "by token (a hash of the key): neighbours in a scan are no neighbours by key",
            "key": "by key: a scan reads neighbours"}  # fmt: skip
    return told.get(str(order), order)


def _timestamps(side: Side) -> str | None:
    if side.hbase:
        return "the client's, in milliseconds; within one the server's order decides"
    return "the client's, in microseconds" if side.cql else None


def _spread_of_data(side: Side) -> str | None:
    if side.hbase:
        regions = side.table.get("regions")
        return (
            f"{regions} regions before the load, split by the true distribution of keys" if regions else None
        )
    tokens = side.setting("num_tokens")
    return f"by hash of the key over {tokens} tokens a node" if tokens else None


def _caches(side: Side) -> str | None:
    if side.hbase:
        share = side.setting("hfile.block.cache.size")
        used = (
            "reads fill the block cache"
            if side.ready.get("reads_fill_block_cache")
            else "not filled by reads"
        )
        return f"{used}, {share or 'default'} of the heap"
    caching = side.table.get("caching")
    return f"table: {plain(caching)}; file data: the operating system's page cache" if caching else None


def _compression(side: Side) -> str | None:
    found = side.table.get("compression")
    if side.hbase:
        return plain(found)
    if isinstance(found, Mapping):
        off = str(found.get("enabled", "true")).lower() == "false" or not found.get("class")
        return "none" if off else str(found.get("class")).rsplit(".", 1)[-1]
    return None if found is None else plain(found)


def _memory(side: Side) -> str | None:
    limit = part(side.asked, "limits").get("memory_mib")
    bound = f"; at most {limit} MiB a node in all" if limit else ""
    if side.hbase:
        heaps = {name.removesuffix("_mib").replace("_", " "): mib
                 for name, mib in part(side.asked, "heaps").items() if mib}  # fmt: skip
        told = ", ".join(f"{name} {mib} MiB" for name, mib in heaps.items())
        return f"heaps: {told or 'those of the profile'}{bound}"
    heap = side.asked.get("heap_mib")
    return f"heap: {f'{heap} MiB' if heap else 'that of the profile'}{bound}"


def _cpu(side: Side) -> str | None:
    """Masters are charged where they have their share of the same sum."""
    total = quota_cores(side.trial.manifest)
    if total is None:
        return "no limit"
    in_effect = part(side.system, "limits", "cpu_cores")
    charged = [float(in_effect[name]) for name in master_names(side.trial.manifest) if name in in_effect]
    masters = f", {digits(sum(charged))} of them the masters'" if charged else ""
    return f"{digits(total)} cores in all{masters}"


def _roles(side: Side) -> str | None:
    if not side.hbase:
        return "every node is equal" if side.cql else None
    masters = side.trial.master_cpu_us
    used = f"; they use {digits(masters)} us of CPU an operation" if masters is not None else ""
    where = {
        "dedicated": "on nodes of their own",
        "colocated": "on data nodes",
        "one process": "in one process",
    }
    roles = str(side.system.get("roles"))
    return f"masters (HMaster, NameNode, ZooKeeper) {where.get(roles, roles)}{used}"


def _debt(side: Side) -> str | None:
    """Compactions pending when the measured phase began."""
    if side.trial.measured is None or not side.trial.system.height:
        return None
    start = side.trial.measured.phase.start_ns
    window = Window(side.trial.system, start - 2_000_000_000, start + 1_000_000_000)
    metric = "server_compactions_pending"
    found = [v for name in nodes(side.trial.system) if (v := window.highest(name, metric)) is not None]
    return f"{digits(sum(found))} pending" if found else None


def _clocks(side: Side) -> str | None:
    told = {"socket": "at the socket: when the request was written, when its answer was read",
            "call": "around the driver's call"}  # fmt: skip
    return told.get(str(side.ready.get("clocks")))


LINES: Mapping[str, Line] = {
    "Version": lambda side: side.system.get("version") or side.ready.get("version"),
    "A write is": _acknowledged,
    "Written before the answer": _replicas_written,
    "A read asks": _read_from,
    "Retries": _retries,
    "Client buffering": _buffering,
    "Scan order": _scans,
    "Write timestamps": _timestamps,
    "Data is spread": _spread_of_data,
    "Caches": _caches,
    "Compression": _compression,
    "CPU": _cpu,
    "Memory": _memory,
    "Roles": _roles,
    "Compaction debt at the start": _debt,
    "Latency is measured": _clocks,
}
"""What is asked -> how a side answers; None where it does not know."""


def ledger(model: ReportModel) -> Table | None:
    """What each system and variant of a study means; None when there is only one."""
    sides: dict[str, Side] = {}
    for trial in sorted(model.trials, key=lambda t: int(part(t.manifest, "trial").get("point") or 1)):
        said = part(trial.manifest, "trial")
        name = " ".join(str(said[key]) for key in ("system_name", "variant") if said.get(key))
        if trial.measured is not None and name not in sides:
            sides[clean(name)] = Side(trial)
    if len(sides) < 2:
        return None
    rows = [(what, *(_told(line(side)) for side in sides.values())) for what, line in LINES.items()]
    rows = [row for row in rows if set(row[1:]) != {NONE}]
    return Table(
        "What differs in meaning",
        ("", *sides),
        rows,
        words=1 + len(sides),
        note="Read from what was in effect: the servers' settings, the plan, and what the driver found.",
    )


def _told(answer: Any) -> str:
    return NONE if answer is None else plain(answer)
