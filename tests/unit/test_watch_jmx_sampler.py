"""The sampler and servers that answer `/jmx`: kept connections, several servers of a node, and gaps."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

import pytest
from watching import LIMIT_S, SENT_NS, await_samples, times

from steelyard.systems.hbase.beans import ROLES
from steelyard.systems.waiting import wait_until
from steelyard.watch import Sampler
from steelyard.watch.beans import Bean
from steelyard.watch.target import WatchTarget

PERIOD_S = 0.05
GC = "server_gc_count_total"


class Jmx(ThreadingHTTPServer):
    """Answers each `qry` with one bean that has every attribute asked of it, and counts."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        super().__init__(address, Handler)
        self.connections = 0
        self.queries: list[str] = []
        self.going = threading.Event()
        self.going.set()
        self.sockets: list[socket.socket] = []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Jmx

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1
        self.server.sockets.append(self.connection)

    def do_GET(self) -> None:
        self.server.going.wait(10)
        url = urlparse(self.path)
        (query,) = parse_qs(url.query)["qry"]
        self.server.queries.append(query)
        count = len(self.server.queries)
        ends = "DataNode" in query  # a DataNode closes the connection instead of telling a length
        said = {"regionCount": 4, "FsyncCount": count, "GcCount": count, "ritCount": count}
        body = json.dumps({"beans": [said]}).encode()
        self.send_response(200 if url.path == "/jmx" else 404)
        self.send_header(*(("Connection", "close") if ends else ("Content-Length", str(len(body)))))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def serving(server: Jmx) -> Iterator[tuple[str, int]]:
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield "127.0.0.1", server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        for connection in server.sockets:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def node(*servers: tuple[str, str, int]) -> WatchTarget:
    return WatchTarget("node1", jmx=tuple((ROLES[role], host, port) for role, host, port in servers))


def own(_target: WatchTarget) -> list[int]:
    return [os.getpid()]


@pytest.fixture(autouse=True)
def in_quick_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds between questions become periods of these tests."""

    def quick(bean: Bean) -> Bean:
        return replace(bean, every_s=bean.every_s * PERIOD_S)

    for name, role in list(ROLES.items()):
        jvm = quick(role.jvm) if role.jvm else None
        monkeypatch.setitem(ROLES, name, replace(role, beans=tuple(map(quick, role.beans)), jvm=jvm))


def counted(server: Jmx) -> Counter[str]:
    """How often each bean was asked for."""
    return Counter(query.split("=")[-1] for query in server.queries.copy())


def in_turn(region: Jmx) -> bool:
    """Whether beans were asked for as seldom as they should be (at late ticks all are due)."""
    asked = counted(region)
    return asked["???"] >= 10 and 2 <= asked["Server"] < asked["JvmMetrics"] < asked["???"] * 2 / 3


def test_all_servers_of_a_node_speak_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.watch.link.ANSWER_WITHIN_S", LIMIT_S)  # no answer is late here
    monkeypatch.setattr("steelyard.watch.sampler.ANSWER_WITHIN_S", LIMIT_S)
    region, data = Jmx(), Jmx()
    with serving(region) as one, serving(data) as two:
        sampler = Sampler(
            [node(("regionserver", *one), ("datanode", *two))], dict, os.getpid(), own, PERIOD_S
        )
        sampler.start()
        wait_until(lambda: in_turn(region) and len(data.queries) > 2, [], LIMIT_S, "not each in its turn")
        sampler.stop()
    frame = sampler.frame().filter(source="node1")
    assert region.connections == 1
    asked = counted(region)
    assert asked.keys() == {"Server", "???", "JvmMetrics"}
    collections = frame.filter(metric="server_gc_count_total")["value"]
    assert collections.len() == asked["JvmMetrics"]
    assert collections.is_sorted()
    assert data.connections == len(data.queries) >= 3
    assert frame.filter(metric="server_hdfs_fsyncs_total")["value"].to_list() == list(
        range(1, len(data.queries) + 1)
    )


def test_a_server_that_is_gone_is_a_gap_and_its_node_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.watch.link.LONGEST_PAUSE_S", 0.1)
    region, master = Jmx(), Jmx()
    with serving(master) as two:
        with serving(region) as one:
            target = node(("regionserver", *one), ("master", *two))
            sampler = Sampler([target], dict, os.getpid(), own, PERIOD_S)
            sampler.start()
            await_samples(sampler, "node1", GC, 1)
        gone_ns = time.monotonic_ns()
        await_samples(sampler, "node1", "server_regions_in_transition", 10, gone_ns)
        back_ns = time.monotonic_ns()
        with serving(Jmx(one)):
            await_samples(sampler, "node1", GC, 1, back_ns)
            sampler.stop()
    told = times(sampler, "node1", GC)
    assert told.filter((told > gone_ns + SENT_NS) & (told < back_ns)).is_empty()
    assert "no answer to" in sampler.missing["node1.server_* (regionserver)"]
    assert "node1.server_*" not in sampler.missing


def test_a_frozen_server_is_asked_nothing_more_and_holds_up_nobody() -> None:
    region = Jmx()
    region.going.clear()
    with serving(region) as one:
        sampler = Sampler([node(("regionserver", *one))], dict, os.getpid(), own, PERIOD_S)
        sampler.start()
        await_samples(sampler, "machine", "cpu_seconds_total", 14)
        sampler.stop()
        region.going.set()
    assert times(sampler, "node1", "server_regions").is_empty()
    assert len(region.queries) <= 4
    assert "never answered: no answer for" in sampler.missing["node1.server_* (regionserver)"]
