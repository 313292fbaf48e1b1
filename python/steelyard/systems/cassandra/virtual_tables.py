"""What a node tells of itself over CQL, in the virtual tables of `system_views` (Cassandra 4.0 and later).

They are local to the node that coordinates: each node is asked itself. Figures have the names of the metrics
agent's where they mean the same. What no virtual table tells, `UNTOLD` says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from steelyard.systems.cassandra.cql_probe import CqlRefusedError, LoginRefusedError, Probe, Row
from steelyard.systems.cassandra.login import CqlPlace
from steelyard.watch.beans import SLOWLY_S
from steelyard.watch.inquiry import Answer, NothingToldError

ASK_S = 5.0
"""The longest wait for a connection, or for an answer."""
SYNTAX, UNAUTHORIZED, INVALID = 0x2000, 0x2100, 0x2200
NEVER = (SYNTAX, UNAUTHORIZED, INVALID)
"""Codes of errors that come again however often one asks: there is no such table, or one may not read it."""
UNTOLD = {
    "heap, garbage collection, memtables, files of data, bytes compacted, pending compactions, commit log, "
    "hints, timeouts": "no virtual table tells them"
}
ENDED_STREAMS = (b"success", b"failure")
Values = dict[str, float]
Key = tuple[bytes | None, ...]


def pools(rows: Sequence[Row]) -> Values:
    """Of name, active_tasks, pending_tasks: what waits for a thread; flushes, also those that run."""
    tasks = {name: (number(active), number(pending)) for name, active, pending in rows}
    waiting = {
        "server_read_stage_pending": b"ReadStage",
        "server_mutation_stage_pending": b"MutationStage",
        "server_native_pending": b"Native-Transport-Requests",
    }
    found = {metric: float(tasks[pool][1]) for metric, pool in waiting.items() if pool in tasks}
    if flushes := tasks.get(b"MemtableFlushWriter"):
        found["server_flushes_pending"] = float(sum(flushes))
    return found


def running(rows: Sequence[Row]) -> Values:
    """Of task_id: compactions, and all else that rewrites or reads whole files (cleanup, validation ...)."""
    return {"server_compactions_running": float(len(rows))}


def caches(rows: Sequence[Row]) -> Values:
    """Of name, hit_count, request_count."""
    told = {name: (number(hits), number(requests)) for name, hits, requests in rows}
    found: Values = {}
    if keys := told.get(b"keys"):
        found |= {"server_key_cache_hits_total": keys[0], "server_key_cache_requests_total": keys[1]}
    if whole := told.get(b"rows"):
        found["server_row_cache_hits_total"] = whole[0]
    return found


class Growth:
    """A counter over things that come and go: what has gone stays counted, so that the sum never falls."""

    def __init__(self) -> None:
        self._last: Mapping[Key, int] = {}
        self._sum = 0

    def __call__(self, counts: Mapping[Key, int]) -> float:
        """The sum, from each one's count; one that fell has begun anew."""
        for key, count in counts.items():
            before = self._last.get(key, 0)
            self._sum += count - before if count >= before else count
        self._last = counts
        return float(self._sum)


def requests(metric: str) -> Callable[[Sequence[Row]], Values]:
    """Of keyspace_name, table_name, count: all of user tables together, as the agent counts them."""
    whole = Growth()

    def read(rows: Sequence[Row]) -> Values:
        of_tables = {(keyspace, table): number(count) for keyspace, table, count in rows}
        return {metric: whole({key: n for key, n in of_tables.items() if of_users(key[0] or b"")})}

    return read


def of_users(keyspace: bytes) -> bool:
    """Whether a keyspace is not one of Cassandra's own."""
    return keyspace != b"system" and not keyspace.startswith(b"system_")


def clients(rows: Sequence[Row]) -> Values:
    """Of port: the connections of CQL clients."""
    return {"server_connections": float(len(rows))}


def streams() -> Callable[[Sequence[Row]], Values]:
    """Of id, status, bytes_received, bytes_sent: how many run, and the bytes of all that were seen."""
    into, out = Growth(), Growth()

    def read(rows: Sequence[Row]) -> Values:
        active = [key for key, status, *_ in rows if (status or b"").lower() not in ENDED_STREAMS]
        return {
            "server_streams_active": float(len(active)),
            "server_streaming_in_bytes_total": into(
                {(key,): number(bytes_in) for key, _, bytes_in, _ in rows}
            ),
            "server_streaming_out_bytes_total": out({(key,): number(sent) for key, *_, sent in rows}),
        }

    return read


def number(cell: bytes | None) -> int:
    """An int or a bigint; 0 for null."""
    return int.from_bytes(cell or b"", signed=True)


@dataclass(frozen=True)
class Table:
    """One virtual table.

    Attributes:
        name: of the table.
        columns: that are asked for, in this order.
        read: makes metrics of its rows.
        every_s: seconds between two questions; 0 for every sample.
    """

    name: str
    columns: str
    read: Callable[[Sequence[Row]], Values]
    every_s: float = 0.0

    @property
    def cql(self) -> str:
        """The question."""
        return f"SELECT {self.columns} FROM system_views.{self.name}"  # noqa: S608 - our own words


def tables() -> tuple[Table, ...]:
    """All that a node is asked for, with the counts of one that is watched."""
    counts = "keyspace_name, table_name, count"
    of_requests = {
        "coordinator_read_latency": "server_client_reads_total",
        "coordinator_write_latency": "server_client_writes_total",
        "coordinator_scan_latency": "server_client_range_total",
        "local_read_latency": "server_local_reads_total",
        "local_write_latency": "server_local_writes_total",
    }
    return (
        Table("thread_pools", "name, active_tasks, pending_tasks", pools),
        Table("sstable_tasks", "task_id", running),
        Table("streaming", "id, status, bytes_received, bytes_sent", streams()),
        Table("caches", "name, hit_count, request_count", caches, SLOWLY_S),
        Table("clients", "port", clients, SLOWLY_S),
        # each answer has the percentiles of every table computed, though only counts are asked for
        *(Table(name, counts, requests(metric), SLOWLY_S) for name, metric in of_requests.items()),
    )


class CqlSession:
    """A connection to one node.

    Args:
        place: the node, and how one gets in.
        asked: the tables, with what was counted by earlier connections.
    """

    def __init__(self, place: CqlPlace, asked: Sequence[Table]) -> None:
        self.lacking: dict[str, str] = dict(UNTOLD)
        self._probe = Probe(place, ASK_S)
        try:
            self._probe.start()
        except BaseException:
            self.close()
            raise
        self._tables = list(asked)
        self._asked_s: dict[str, float] = {}
        self._late: set[str] = set()

    def ask(self) -> Iterator[Answer]:
        """An answer of each table that is due; see `Session`. One that was late is due again at once, unless
        the one before was late, too: its server should not be asked all the time."""
        now_s = time.monotonic()
        for table in self._due(now_s):
            self._asked_s[table.name] = now_s
            answer = self._answer(table)
            if answer is None:
                continue
            if answer.late and table.name not in self._late:
                self._late.add(table.name)
                del self._asked_s[table.name]
            elif not answer.late:
                self._late.discard(table.name)
            yield answer

    def _answer(self, table: Table) -> Answer | None:
        """What a table tells; None if it never will."""
        began_ns = time.monotonic_ns()
        try:
            rows = self._probe.query(table.cql)
        except CqlRefusedError as refusal:
            if isinstance(refusal, LoginRefusedError) or refusal.code not in NEVER:
                raise
            self._drop(table, refusal)
            return None
        came_ns = time.monotonic_ns()
        return Answer(table.name, table.read(rows), came_ns, (came_ns - began_ns) / 1e9)

    def _due(self, now_s: float) -> list[Table]:
        return [t for t in self._tables if now_s - self._asked_s.get(t.name, -t.every_s) >= t.every_s]

    def _drop(self, table: Table, refusal: CqlRefusedError) -> None:
        """Ask for a table no more; raises NothingToldError when none is left."""
        self._tables = [other for other in self._tables if other is not table]
        self.lacking[table.name] = str(refusal)
        if self._tables:
            return
        if refusal.code == UNAUTHORIZED:
            raise NothingToldError(f"{refusal}; GRANT SELECT ON KEYSPACE system_views lets it be asked")
        raise NothingToldError(f"it has no virtual tables, as Cassandra has from 4.0 on ({refusal})")

    def close(self) -> None:
        """End the connection."""
        self._probe.close()


@dataclass(frozen=True)
class VirtualTables:
    """A node that is asked for them; see `Inquiry`."""

    place: CqlPlace

    @property
    def what(self) -> str:
        """See `Inquiry`."""
        return "server_*"

    def open(self) -> CqlSession:
        """Connect and log in."""
        return CqlSession(self.place, self._tables)

    @cached_property
    def _tables(self) -> tuple[Table, ...]:
        """Kept over connections: what is gone from a table in between has been counted."""
        return tables()
