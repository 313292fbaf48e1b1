"""What servers and machine did in a phase, one figure for each name of `spec.metrics.INSIDE`.

A paper gives reasons for what it measured: these figures bear them out or not. What no server told is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from statistics import fmean

import polars as pl

from steelyard.analysis.balance import Spread, spread
from steelyard.analysis.cost import CPU, NETWORK
from steelyard.analysis.counters import Window, nodes
from steelyard.analysis.inside import BLOCK_CACHE
from steelyard.analysis.summary import Phase

NEARLY_ALL = 0.8
"""Of the operations: what begins before a cut of the warm-up, in its second, is not among those of a node."""
REQUESTS = tuple(f"server_client_{kind}_total" for kind in ("reads", "writes", "range", "multi"))


@dataclass(frozen=True)
class Around:
    """What one phase is read from.

    Attributes:
        window: the samples of its time.
        serving: nodes that hold data.
        operations: completed in the phase.
        seconds: from its start to its last answer, as the window.
        cores: of the machine; None where nobody said.
        quota: cores that the serving nodes may use together; None where one has no limit.
        coordinated: attempts that the client sent to each node; empty where its driver names none.
    """

    window: Window
    serving: tuple[str, ...]
    operations: int
    seconds: float
    cores: float | None
    quota: float | None
    coordinated: tuple[float, ...] = ()

    def all(self, *metrics: str) -> float | None:
        """Increase a second of counters, over all nodes."""
        return self.window.rate_of_all(self.serving, *metrics)

    def per_op(self, *metrics: str) -> float | None:
        """Increase of counters of all nodes for each operation."""
        rate = self.all(*metrics)
        return None if rate is None or not self.operations else rate * self.seconds / self.operations

    def levels(self, read: Callable[[str], float | None]) -> list[float]:
        """One figure of each node that has it."""
        return [value for name in self.serving if (value := read(name)) is not None]

    def machine_share(self, metric: str) -> float | None:
        """A counter of seconds of the machine, as a share of its cores."""
        rate = self.window.rate("machine", metric)
        return None if rate is None or not self.cores else rate / self.cores


Read = Callable[[Around], float | None]


def _nodes(fold: Callable[[list[float]], float], metric: str) -> Read:
    """A fold over nodes: of a counter's rate, or of a level's mean."""

    def read(around: Around) -> float | None:
        of = around.window.rate if metric.endswith("_total") else around.window.mean
        return _folded(fold, around.levels(lambda name: of(name, metric)))

    return read


def _folded(fold: Callable[[list[float]], float], found: list[float]) -> float | None:
    return fold(found) if found else None


def _most(*metrics: str) -> Read:
    """The highest level of any node, of the first metric that is told."""

    def read(around: Around) -> float | None:
        for metric in metrics:
            if found := around.levels(lambda name, m=metric: around.window.highest(name, m)):  # type: ignore[misc]
                return max(found)
        return None

    return read


def _of_the_worst(percentile: str) -> Read:
    """Of a percentile that each node tells of itself: the median sample of each, and the highest node's."""

    def read(around: Around) -> float | None:
        return _folded(max, around.levels(lambda name: around.window.median(name, percentile)))

    return read


def _hits(part: str, *whole: str) -> Read:
    def read(around: Around) -> float | None:
        hits, asked = around.all(part), around.all(*whole)
        return None if hits is None or not asked else hits / asked

    return read


HELD = ("server_live_disk_bytes", "server_memtable_data_bytes")
"""A node's data: files, and what waits in memory to become one. What that takes there, of Cassandra twice as
much and more, is another figure (`server_memtable_bytes`)."""
PAGE_CACHE = "page_cache_bytes"
"""Of a node's control group: pages of files that its own processes were the first to ask for."""


def _held(around: Around) -> list[float]:
    """Bytes of data on each node that tells of them."""
    return around.levels(
        lambda name: sum(told) if (told := [v for m in HELD if (v := around.window.mean(name, m))]) else None
    )


def _rates(*counters: str) -> Callable[[Around], list[float]]:
    """Of each node how fast counters grow."""
    return lambda around: around.levels(lambda name: around.window.rate(name, *counters))


def _requests(around: Around) -> list[float]:
    """As the client sent them, else as servers count: what these tell is renewed every few seconds, so that
    a short run lies between two readings. The client's are not all where it buffers, and are of other nodes
    than the window's where one joined or was replaced."""
    told, sent = _rates(*REQUESTS)(around), around.coordinated
    there = max(len(told), len(_rates(CPU)(around)))
    if not sent or len(sent) > there or sum(sent) < NEARLY_ALL * around.operations:
        return told
    return [*sent, *[0.0] * (there - len(sent))]


SHARED: Mapping[str, Callable[[Around], list[float]]] = {
    "requests": _requests,
    "replica": _rates("server_local_reads_total", "server_local_writes_total"),
    "cpu": _rates(CPU),
    "data": _held,
}
"""What nodes share -> each node's part."""


def _apart(parts: Callable[[Around], list[float]], figure: Callable[[Spread], float]) -> Read:
    """How far the nodes' parts lie apart."""

    def read(around: Around) -> float | None:
        found = spread(parts(around))
        return figure(found) if found else None

    return read


def _cached(around: Around) -> float | None:
    """Page cache of all nodes over the data in their files; None where either is not told."""
    cached = around.levels(lambda name: around.window.mean(name, PAGE_CACHE))
    files = sum(around.levels(lambda name: around.window.mean(name, HELD[0])))
    return sum(cached) / files if cached and files else None


def _network(around: Around) -> float | None:
    """Of the nodes where each has a network of its own, else all that passed the machine's interfaces."""
    if (own := around.per_op(*NETWORK)) is not None:
        return own
    rate = around.window.rate("machine", NETWORK[0])
    return None if rate is None or not around.operations else rate * around.seconds / around.operations


def _cpu_share(around: Around) -> float | None:
    used, may = around.all(CPU), around.quota or around.cores
    return None if used is None or not may else used / may


READ: Mapping[str, Read] = {
    "server_cpu_cores": lambda a: a.all(CPU),
    "server_cpu_share": _cpu_share,
    "machine_busy_share": lambda a: a.machine_share(CPU),
    "machine_iowait_share": lambda a: a.machine_share("cpu_iowait_seconds_total"),
    "throttled_share": lambda a: _folded(fmean, a.levels(a.window.held_back)),
    "gc_share": _nodes(fmean, "server_gc_seconds_total"),
    "requests_per_op": lambda a: a.per_op(*REQUESTS),
    "replica_reads_per_op": lambda a: a.per_op("server_local_reads_total"),
    "replica_writes_per_op": lambda a: a.per_op("server_local_writes_total"),
    "network_bytes_per_op": _network,
    "disk_read_bytes_per_op": lambda a: a.per_op("disk_read_bytes_total"),
    "disk_write_bytes_per_op": lambda a: a.per_op("disk_write_bytes_total"),
    "disk_writes_per_op": lambda a: a.per_op("disk_writes_total"),
    "sstables": _nodes(sum, "server_sstables"),
    "sstables_per_read_p50": _of_the_worst("server_sstables_per_read_p50"),
    "sstables_per_read_p99": _of_the_worst("server_sstables_per_read_p99"),
    "page_cache_bytes": _nodes(sum, PAGE_CACHE),
    "page_cache_share": _cached,
    "stored_bytes": lambda a: sum(_held(a)) or None,
    "compacted_bytes_per_s": lambda a: a.all("server_compaction_bytes_total"),
    "compactions_pending": _most("server_compactions_pending"),
    "requests_waiting": _most("server_calls_pending", "server_native_pending"),
    "reads_waiting": _most("server_read_stage_pending"),
    "writes_waiting": _most("server_mutation_stage_pending"),
    "key_cache_hit_share": _hits("server_key_cache_hits_total", "server_key_cache_requests_total"),
    "block_cache_hit_share": _hits(BLOCK_CACHE[0], *BLOCK_CACHE),
    **{f"{name}_imbalance": _apart(parts, lambda s: s.max_over_mean) for name, parts in SHARED.items()},
    **{
        f"{name}_variation": _apart(parts, lambda s: s.coefficient_of_variation)
        for name, parts in SHARED.items()
    },
}


def reasons(
    system: pl.DataFrame,
    phase: Phase,
    masters: Collection[str] = (),
    cores: float | None = None,
    quotas: Mapping[str, float | None] | None = None,
    *,
    coordinators: pl.DataFrame | None = None,
) -> dict[str, float | None]:
    """Every figure, None where it is not known.

    Args:
        system: rows of system.parquet; may be empty.
        phase: whose window and operations are used.
        masters: nodes that serve no data.
        cores: of the machine.
        quotas: cores that each node may use, by its name; None of one without a limit.
        coordinators: rows of coordinators.parquet.
    """
    around = _around(system, phase, masters, cores, quotas)
    if coordinators is not None:
        around = replace(around, coordinated=_sent(coordinators, phase))
    return {name: read(around) for name, read in READ.items()}


def by_second(
    metric: str,
    system: pl.DataFrame,
    phase: Phase,
    masters: Collection[str] = (),
    cores: float | None = None,
    *,
    quotas: Mapping[str, float | None] | None = None,
) -> pl.DataFrame:
    """One of `spec.metrics.LEVELS` in each whole second of a phase that was sampled: `second`, `y`.

    A counter's growth between two samples is spread evenly over the seconds between them. The arguments are
    those of `reasons`.
    """
    around = _around(system, phase, masters, cores, quotas)
    found = [
        (second, READ[metric](replace(around, window=around.window.within(second, second + 1))))
        for second in range(int(phase.seconds))
    ]
    told = pl.DataFrame(found, {"second": pl.Int64, "y": pl.Float64}, orient="row")
    return told.drop_nulls()


def _around(
    system: pl.DataFrame,
    phase: Phase,
    masters: Collection[str],
    cores: float | None,
    quotas: Mapping[str, float | None] | None,
) -> Around:
    window = Window(system, phase.start_ns, phase.end_ns)
    serving = tuple(name for name in nodes(system) if name not in masters)
    limits = [limit for name in serving if (limit := (quotas or {}).get(name)) is not None]
    quota = sum(limits) if len(limits) == len(serving) else None
    return Around(window, serving, phase.total.count, phase.elapsed_s, cores, quota)


def _sent(coordinators: pl.DataFrame, phase: Phase) -> tuple[float, ...]:
    """Attempts that each node was sent in a phase, of those that were sent any."""
    of = coordinators.filter(
        pl.col("phase") == phase.name, pl.col("t_ns").is_between(phase.start_ns, phase.end_ns)
    )
    return tuple(map(float, of.group_by("coordinator").agg(pl.col("attempts").sum())["attempts"]))
