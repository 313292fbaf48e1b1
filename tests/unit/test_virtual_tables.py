"""What a node tells in its virtual tables, under the names that the agent uses; what it does not tell."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from cql_server import Refusal, Script, serving
from watching import await_missing, await_samples

from steelyard.systems.cassandra import virtual_tables
from steelyard.systems.cassandra.cql_probe import LoginRefusedError
from steelyard.systems.cassandra.login import Login
from steelyard.systems.cassandra.virtual_tables import CqlSession, VirtualTables, requests, streams
from steelyard.watch import Sampler
from steelyard.watch.inquiry import NothingToldError
from steelyard.watch.target import WatchTarget

VIEWS = "system_views."
LATENCIES = [(b"system", b"local", 900), (b"system_auth", b"roles", 90), (b"y", b"a", 7), (b"y", b"b", 2)]
TABLES: dict[str, Any] = {
    VIEWS + "thread_pools": [
        (b"ReadStage", 3, 5), (b"MutationStage", 1, 6), (b"Native-Transport-Requests", 0, 8),
        (b"MemtableFlushWriter", 2, 1), (b"CompactionExecutor", 1, 9),
    ],
    VIEWS + "sstable_tasks": [(b"a",), (b"b",)],
    VIEWS + "streaming": [(b"s", b"start", 10, 20), (b"t", b"success", 1, 2)],
    VIEWS + "caches": [(b"chunks", 1, 2), (b"keys", 30, 40), (b"rows", 0, 0)],
    VIEWS + "clients": [(1,), (2,), (3,)],
    **{
        f"{VIEWS}{name}_latency": LATENCIES
        for name in ("coordinator_read", "coordinator_write", "coordinator_scan", "local_read", "local_write")
    },
}  # fmt: skip
TOLD = {
    "read_stage_pending": 5, "mutation_stage_pending": 6, "native_pending": 8, "flushes_pending": 3,
    "compactions_running": 2, "streams_active": 1, "streaming_in_bytes_total": 11,
    "streaming_out_bytes_total": 22, "key_cache_hits_total": 30, "key_cache_requests_total": 40,
    "row_cache_hits_total": 0, "connections": 3, "client_reads_total": 9, "client_writes_total": 9,
    "client_range_total": 9, "local_reads_total": 9, "local_writes_total": 9,
}  # fmt: skip


def told(session: CqlSession) -> dict[str, float]:
    """What it answers in time."""
    return {name: value for one in session.ask() if not one.late for name, value in one.values.items()}


@dataclass
class Slow(Script):
    """The same, with so many seconds before the next answers of a table, by its name."""

    waits: dict[str, list[float]] = field(default_factory=dict)

    def answer(self, opcode: int, body: bytes) -> tuple[int, bytes]:
        answered = super().answer(opcode, body)
        if self.asked and (left := self.waits.get(self.asked[-1])):
            time.sleep(left.pop(0))
        return answered


def test_what_a_node_tells() -> None:
    script = Script(TABLES)
    with serving(script) as place:
        session = VirtualTables(place).open()
        assert told(session) == {f"server_{name}": value for name, value in TOLD.items()}
        script.asked.clear()
        assert "server_client_reads_total" not in told(session)
        session.close()
    assert script.asked == [VIEWS + name for name in ("thread_pools", "sstable_tasks", "streaming")]
    assert session.lacking == virtual_tables.UNTOLD


def test_tables_that_are_slow_together_are_each_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Together they take longer than one may, and each has room for what a busy machine holds up."""
    monkeypatch.setattr("steelyard.watch.inquiry.LATE_S", 3.0)
    with serving(Slow(TABLES, waits={VIEWS + "caches": [1.6], VIEWS + "clients": [1.6]})) as place:
        session = VirtualTables(place).open()
        assert told(session) == {f"server_{name}": value for name, value in TOLD.items()}
        session.close()


def test_a_table_that_is_late_is_lost_alone_and_asked_for_again() -> None:
    late = VIEWS + "local_read_latency"
    script = Slow(TABLES, waits={late: [1.2, 1.2]})
    with serving(script) as place:
        session = VirtualTables(place).open()
        for times in (1, 2, 2):  # two that are late on end: its turn comes with the others
            found = told(session)
            assert ("server_local_writes_total" in found) == (times == script.asked.count(late) == 1)
            assert "server_local_reads_total" not in found
            assert script.asked.count(late) == times
        session.close()


def test_a_table_that_a_release_lacks_is_asked_for_once() -> None:
    script = Script({name: rows for name, rows in TABLES.items() if not name.endswith("streaming")})
    with serving(script) as place:
        session = VirtualTables(place).open()
        assert "server_streams_active" not in told(session)
        told(session)
        session.close()
    assert script.asked.count(VIEWS + "streaming") == 1
    assert session.lacking["streaming"] == "table system_views.streaming does not exist"


@pytest.mark.parametrize(
    ("refusal", "why"),
    [
        (Refusal(0x2200, "keyspace system_views does not exist"), "as Cassandra has from 4.0 on .keyspace"),
        (Refusal(0x2100, "User bench has no SELECT permission"), "GRANT SELECT ON KEYSPACE system_views"),
    ],
)
def test_that_there_is_nothing_to_be_had_is_said(refusal: Refusal, why: str) -> None:
    with serving(Script(dict.fromkeys(TABLES, refusal))) as place:
        session = VirtualTables(place).open()
        with pytest.raises(NothingToldError, match=why):
            told(session)
        session.close()


def test_an_overloaded_server_is_asked_again() -> None:
    tables = TABLES | {VIEWS + "thread_pools": Refusal(0x1001, "overloaded")}
    with serving(Script(tables)) as place:
        session = VirtualTables(place).open()
        for _ in range(2):
            with pytest.raises(OSError, match="overloaded"):
                told(session)
        session.close()


def test_a_password_is_shown(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret\n")
    login = Login("bench", tmp_path / "password")
    with serving(Script(TABLES, password="secret"), login) as place:
        VirtualTables(place).open().close()
    with (
        serving(Script(TABLES, password="another"), login) as place,
        pytest.raises(LoginRefusedError),
    ):
        VirtualTables(place).open()


def number(value: int) -> bytes:
    return value.to_bytes(8)


def test_streams_that_are_forgotten_stay_counted() -> None:
    read = streams()
    first = [[b"a", b"start", number(5), number(1)]]
    second = [[b"b", b"START", number(3), None]]
    received = [read(rows)["server_streaming_in_bytes_total"] for rows in (first, first, second, [])]
    assert received == [5, 5, 8, 8]
    assert read(second)["server_streams_active"] == 1


def test_requests_of_a_table_that_was_dropped_stay_counted() -> None:
    read = requests("n")
    both = [[b"ks", b"t", number(5)], [b"ks", b"u", number(7)]]
    anew = [[b"ks", b"t", number(6)], [b"ks", b"u", number(2)]]
    assert [read(rows)["n"] for rows in (both, both[:1], anew)] == [12, 12, 15]


def test_a_sampler_asks_each_node_itself() -> None:
    old = dict.fromkeys(TABLES, Refusal(0x2200, "keyspace system_views does not exist"))
    with serving(Script(TABLES)) as first, serving(Script(TABLES)) as second, serving(Script(old)) as third:
        targets = [
            WatchTarget(name, inquiries=(VirtualTables(place),), outside=True)
            for name, place in zip(("a", "b", "c"), (first, second, third), strict=True)
        ]
        sampler = Sampler(targets, dict, os.getpid(), lambda _: [], 0.05)
        sampler.start()
        for name in ("a", "b"):
            await_samples(sampler, name, "server_compactions_running", 3)
        await_missing(sampler, "c.server_*", "it has no virtual tables")
        sampler.stop()
    assert sampler.latest("a", "server_client_reads_total") == TOLD["client_reads_total"]


def test_a_node_that_refuses_connections_is_named() -> None:
    with serving(Script(TABLES)) as place:
        pass
    sampler = Sampler(
        [WatchTarget("gone", inquiries=(VirtualTables(place),), outside=True)],
        dict,
        os.getpid(),
        lambda _: [],
        0.05,
    )
    sampler.start()
    await_missing(sampler, "gone.server_*", "never answered: [Errno 111] Connection refused")
    sampler.stop()
