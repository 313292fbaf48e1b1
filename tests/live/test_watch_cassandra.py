"""Watching real Cassandra: the metrics are there, move under writes, and operations work."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Sequence
from typing import Any

import pytest
from watching import await_value, freeze

from steelyard.watch import Sampler, ask
from steelyard.watch.target import WatchTarget

pytestmark = pytest.mark.live

ROWS = 500
MOVING = ("server_client_writes_total", "server_local_writes_total", "server_memtable_data_bytes")
ALWAYS = [
    "heap_used_bytes",
    "heap_max_bytes",
    "gc_seconds_total",
    "gc_count_total",
    "compactions_pending",
    "compaction_bytes_total",
    "compactions_completed_total",
    "memtable_bytes",
    "memtable_data_bytes",
    "memtable_flushes_total",
    "flushes_pending",
    "sstables",
    "sstables_per_read_p50",
    "sstables_per_read_p99",
    "live_disk_bytes",
    "bloom_false_positives_total",
    "key_cache_hits_total",
    "key_cache_requests_total",
    "row_cache_hits_total",
    "client_reads_total",
    "client_writes_total",
    "client_range_total",
    "local_reads_total",
    "local_writes_total",
    "read_stage_pending",
    "mutation_stage_pending",
    "native_pending",
    "dropped_total",
    "timeouts_total",
    "unavailables_total",
    "hints_total",
    "hints_replayed_total",
    "hints_in_progress",
    "streams_active",
    "streaming_in_bytes_total",
    "streaming_out_bytes_total",
    "commitlog_pending",
    "commitlog_bytes",
]


class Cql:
    """Just enough of CQL's native protocol (version 4) to run statements."""

    def __init__(self, host: str) -> None:
        self._socket = socket.create_connection((host, 9042), 10)
        self._call(0x01, struct.pack(">HH", 1, 11) + b"CQL_VERSION" + struct.pack(">H", 5) + b"3.0.0")

    def run(self, statement: str) -> None:
        text = statement.encode()
        self._call(0x07, struct.pack(">I", len(text)) + text + struct.pack(">HB", 1, 0))

    def close(self) -> None:
        self._socket.close()

    def _call(self, opcode: int, body: bytes) -> None:
        self._socket.sendall(struct.pack(">BBhBI", 4, 0, 0, opcode, len(body)) + body)
        _, _, _, answered, length = struct.unpack(">BBhBI", self._exactly(9))
        answer = self._exactly(length)
        assert answered in (0x02, 0x08), answer

    def _exactly(self, count: int) -> bytes:
        received = b""
        while len(received) < count:
            received += self._socket.recv(count - len(received))
        return received


def watched(targets: Sequence[WatchTarget]) -> WatchTarget:
    target = targets[0]
    assert target.agent is not None, "the testbed loaded no agent"
    if target.namespace is not None:
        pytest.skip("this test speaks CQL itself and does not enter namespaces")
    return target


def ask_one(target: WatchTarget, command: str) -> Any:
    assert target.agent is not None
    return ask(target.agent, command, timeout_s=60, namespace=target.namespace)


def test_metrics_move_under_writes_and_flush_works(cassandra3: Any) -> None:
    target = watched(cassandra3.targets())
    assert target.agent is not None
    sampler = Sampler(cassandra3.targets(), dict, os.getpid(), cassandra3.host.pids)
    client = Cql(target.agent[0])
    client.run(
        "create keyspace if not exists watched"
        " with replication = {'class': 'SimpleStrategy', 'replication_factor': 3}"
    )
    client.run("create table if not exists watched.t (k int primary key, v text)")
    ask_one(target, "operation flush")  # what other tests wrote: memtables grow by ours alone
    before = ask_one(target, "metrics")["metrics"]
    sampler.start()
    for number in range(ROWS):
        client.run(f"insert into watched.t (k, v) values ({number}, '{'x' * 500}')")  # noqa: S608 - our own words
    written = before["server_client_writes_total"] + ROWS
    wanted = {"server_client_writes_total": written, "server_memtable_data_bytes": 500 * ROWS}
    for name, least in {**dict.fromkeys(MOVING, 1.0), **wanted}.items():
        await_value(sampler, target.name, name, least)
    assert not [name for name in ALWAYS if sampler.latest(target.name, f"server_{name}") is None]
    data = sampler.latest(target.name, "server_memtable_data_bytes") or 0
    assert data < 600 * ROWS < (sampler.latest(target.name, "server_memtable_bytes") or 0)
    flushes = sampler.latest(target.name, "server_memtable_flushes_total") or 0
    ask_one(target, "operation flush watched")
    await_value(sampler, target.name, "server_memtable_flushes_total", flushes + 1)
    await_value(sampler, target.name, "server_sstables", 1)
    sampler.stop()
    client.run("drop keyspace watched")
    client.close()


def test_status(cassandra3: Any) -> None:
    target = watched(cassandra3.targets())
    status = ask_one(target, "operation status")["value"]
    assert status["OperationMode"] == "NORMAL"
    assert len(status["LiveNodes"]) == len(cassandra3.targets())
    assert status["ReleaseVersion"][0].isdigit()


def test_a_frozen_node_does_not_stop_the_sampling(cassandra3: Any) -> None:
    frozen = cassandra3.targets()[-1]
    sampler = Sampler(cassandra3.targets(), dict, os.getpid(), cassandra3.host.pids)
    sampler.start()
    freeze(sampler, frozen, cassandra3.targets()[0], cassandra3.host.pids(frozen))
    sampler.stop()
