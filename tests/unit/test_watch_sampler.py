"""The sampler, its links to agents, and its table; the agents are small sockets of this file."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from watching import LIMIT_S, await_missing, await_samples, times

from steelyard.errors import InfrastructureError
from steelyard.results.tables import read_spool
from steelyard.systems.waiting import wait_until
from steelyard.watch import AgentClient, Sampler, ask, host_facts
from steelyard.watch.sampler import next_due
from steelyard.watch.sources import Sources
from steelyard.watch.table import Table
from steelyard.watch.target import WatchTarget

PERIOD_S = 0.05
CPU = "cpu_seconds_total"
METRICS = {"server_heap_used_bytes": 5.0, "server_sstables": 2}
Answer = Callable[[str], str | None]


@contextmanager
def agent(answer: Answer) -> Iterator[tuple[str, int]]:
    """A server of lines; `answer` returns the reply, or None to close the connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve(connection: socket.socket) -> None:
            with connection, connection.makefile() as lines:
                for line in lines:
                    if (reply := answer(line.strip())) is None:
                        return
                    connection.sendall(reply.encode())

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()
        server.shutdown(socket.SHUT_RDWR)


def good(_command: str) -> str:
    return json.dumps({"ok": True, "metrics": METRICS}) + "\n"


def node(name: str, address: tuple[str, int] | None = None) -> WatchTarget:
    return WatchTarget(name, agent=address)


def own(_target: WatchTarget) -> list[int]:
    return [os.getpid()]


def sample(
    targets: list[WatchTarget],
    until: Callable[[Sampler], bool] = lambda sampler: times(sampler, "machine", CPU).len() > 3,
    spool: Path | None = None,
    pids: Callable[[WatchTarget], list[int]] = own,
) -> Sampler:
    sampler = Sampler(targets, lambda: {"engine": os.getppid()}, os.getpid(), pids, PERIOD_S, spool=spool)
    sampler.start()
    wait_until(lambda: until(sampler), [], LIMIT_S, "not sampled enough")
    sampler.stop()
    return sampler


def in_time(sampler: Sampler) -> bool:
    """Whether the usual tick came a period after the one before it."""
    usual = times(sampler, "machine", CPU).diff().median()
    return usual is not None and usual < 1.5 * PERIOD_S * 1e9  # type: ignore[operator]


def test_every_source_is_sampled() -> None:
    with agent(good) as address:
        sampler = sample(
            [node("node1", address), node("node2")],
            lambda sampler: times(sampler, "node1", "server_sstables").len() >= 8 and in_time(sampler),
        )
    frame = sampler.frame()
    assert dict(frame.schema) == {
        "t_ns": pl.Int64,
        "source": pl.String,
        "metric": pl.String,
        "value": pl.Float64,
    }
    assert set(frame["source"]) == {"machine", "engine", "lab", "others", "node1", "node2"}
    ticks = frame.filter(source="machine", metric=CPU).height
    assert 8 <= ticks <= sampler.cost()["seconds"] / PERIOD_S + 2  # the first and the last are taken at once
    assert frame.filter(source="node1", metric="server_sstables").height >= ticks - 2
    assert sampler.latest("node1", "server_heap_used_bytes") == 5.0
    assert sampler.latest("node1", "nothing") is None
    assert 0 < sampler.cost()["cpu_seconds"] < sampler.cost()["seconds"]
    assert sampler.missing["node2.server_*"] == "no agent loaded, and no /jmx known"
    assert "control group" in sampler.missing["node1.disk operations"]


def never_by_itself(targets: list[WatchTarget]) -> Sampler:
    return Sampler(targets, dict, os.getpid(), own, 10 * LIMIT_S)


def await_ticks(sampler: Sampler, least: int) -> None:
    wait_until(lambda: times(sampler, "machine", CPU).len() >= least, [], LIMIT_S, "not sampled")


def test_it_samples_from_the_time_on_that_it_is_told() -> None:
    sampler = never_by_itself([])
    sampler.start()
    await_ticks(sampler, 1)
    soon_ns = time.monotonic_ns() + 50_000_000
    sampler.sample_from(soon_ns)
    await_ticks(sampler, 2)
    sampler.sample_from(soon_ns)  # which is over
    await_ticks(sampler, 3)
    sampler.stop()
    before, told, *_ = times(sampler, "machine", CPU)
    assert before < soon_ns <= told


def test_a_server_that_still_has_time_to_answer_lacks_no_sample_taken_out_of_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("steelyard.watch.link.ANSWER_WITHIN_S", LIMIT_S)
    asked, released = threading.Event(), threading.Event()

    def slow(_command: str) -> str:
        asked.set()
        released.wait(LIMIT_S)
        return good("")

    with agent(slow) as address:
        sampler = never_by_itself([node("node1", address)])
        sampler.start()
        assert asked.wait(LIMIT_S)
        sampler.sample_from(0)
        await_ticks(sampler, 2)
        released.set()
        await_samples(sampler, "node1", "server_sstables", 1)
        sampler.stop()
    assert "node1.server_*" not in sampler.missing


def test_a_server_that_does_not_answer_holds_up_nobody() -> None:
    released = threading.Event()

    def frozen(_command: str) -> str:
        released.wait(LIMIT_S)
        return good("")

    with agent(good) as one, agent(frozen) as two:
        sampler = sample(
            [node("quick", one), node("frozen", two)],
            lambda sampler: (
                times(sampler, "quick", "server_sstables").len() >= 14
                and bool(sampler.missing)
                and in_time(sampler)
            ),
        )
        released.set()
    assert times(sampler, "frozen", "server_sstables").is_empty()
    assert "never answered: no answer for" in sampler.missing["frozen.server_*"]


def test_after_a_freeze_the_late_answer_is_dropped_and_the_next_are_taken() -> None:
    asked: list[float] = []

    def slow_once(_command: str) -> str:
        asked.append(time.monotonic())
        if len(asked) == 1:
            time.sleep(0.7)
        return good("")

    with agent(slow_once) as address:
        sampler = sample([node("node1", address)], lambda _: len(asked) >= 8)
    answers = sampler.frame().filter(source="node1", metric="server_sstables")
    assert answers.height == len(asked) - 1 >= 5
    assert answers["t_ns"].min() > (asked[0] + 0.69) * 1e9  # type: ignore[operator]
    assert "of" in sampler.missing["node1.server_*"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda _command: None, "closed the connection"),
        (lambda _command: "no json\n", "Expecting value"),
        (lambda _command: '{"ok":false,"error":"not now"}\n', "not now"),
    ],
)
def test_a_broken_agent_is_noted(answer: Answer, why: str) -> None:
    with agent(answer) as address:
        sampler = sample([node("node1", address)])
    assert why in sampler.missing["node1.server_*"]
    assert times(sampler, "node1", CPU).len() > 3


def test_an_agent_that_comes_later_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    monkeypatch.setattr("steelyard.watch.link.LONGEST_PAUSE_S", 0.1)
    sampler = Sampler([node("node1", address)], dict, os.getpid(), own, 0.05)
    sampler.start()
    await_missing(sampler, "node1.server_*", "refused")
    with socket.create_server(address) as server:
        server.settimeout(5)
        connection, _ = server.accept()
        with connection:
            assert connection.recv(100) == b"metrics\n"
    sampler.stop()


def test_nodes_come_and_go_without_a_gap_for_the_others() -> None:
    connections: list[str] = []

    def counted(_command: str) -> str:
        connections.append("asked")
        return good("")

    with agent(counted) as one, agent(good) as two:
        stays, comes = node("stays", one), node("comes", two)
        sampler = Sampler([stays, node("goes")], dict, os.getpid(), own, PERIOD_S)
        sampler.start()
        await_samples(sampler, "goes", CPU, 3)
        sampler.retarget([node("stays", one), comes])
        await_samples(sampler, "comes", "server_sstables", 3)
        gone = times(sampler, "goes", CPU).len()
        sampler.retarget([stays, comes, node("goes")])
        await_samples(sampler, "goes", CPU, gone + 3)
        sampler.stop()
    ticks = times(sampler, "machine", CPU)
    assert times(sampler, "stays", CPU).equals(ticks)
    assert (
        len(connections) - times(sampler, "stays", "server_sstables").len() <= 1
    )  # the last may be too late
    first, last = times(sampler, "comes", CPU)[0], ticks[-1]
    assert times(sampler, "comes", CPU).to_list() == [t for t in ticks if first <= t <= last]
    away = [t for t in ticks if t not in set(times(sampler, "goes", CPU))]
    assert len(away) >= 3
    assert "goes.server_*" in sampler.missing


def test_a_node_that_left_keeps_what_was_missing_of_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    sampler = Sampler([node("node1", address)], dict, os.getpid(), own, PERIOD_S)
    sampler.start()
    await_missing(sampler, "node1.server_*", "refused")
    seen = times(sampler, "machine", CPU).len()
    sampler.retarget([])
    await_samples(sampler, "machine", CPU, seen + 3)
    sampler.stop()
    assert "never answered" in sampler.missing["node1.server_*"]


def test_a_testbed_that_fails_does_not_stop_the_sampling() -> None:
    def gone(_target: WatchTarget) -> list[int]:
        raise RuntimeError("being taken down")

    sampler = sample([WatchTarget("node1")], pids=gone)
    assert "being taken down (at" in sampler.missing["node1.processes"]


def test_a_server_that_was_killed_is_not_the_laboratorys_while_it_is_there() -> None:
    """Its testbed does not name it any more, and it is our child until it has been waited for."""
    burn = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\nwhile True: time.sleep(9)"
    with subprocess.Popen([sys.executable, "-c", burn], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        named = [[server.pid], [server.pid], []]
        sources = Sources([node("node1")], dict, os.getpid(), lambda _: named.pop(0))
        spent = []
        for _ in range(3):
            if len(named) == 1:
                server.kill()
            spent.append(sources.read()["lab"][CPU])
        sources.close()
    assert spent[2] - spent[0] < 0.4


def test_stopping_twice_or_without_a_start_is_fine() -> None:
    sampler = Sampler([], dict, os.getpid(), own)
    sampler.stop()
    sampler.stop()
    assert sampler.frame().height == 0


def test_the_spool_survives_a_crash_and_goes_with_the_parquet_file(tmp_path: Path) -> None:
    spool = tmp_path / "system.ndjson"
    sampler = sample([node("node1")], spool=spool)
    assert read_spool(spool).equals(sampler.frame())
    with spool.open("a") as out:
        out.write('{"t_ns": 1, "sou')
    assert read_spool(spool).equals(sampler.frame())
    sampler.write(tmp_path / "system.parquet")
    assert pl.read_parquet(tmp_path / "system.parquet").equals(sampler.frame())
    assert list(tmp_path.iterdir()) == [tmp_path / "system.parquet"]


def test_a_spool_that_cannot_be_written_is_noted(tmp_path: Path) -> None:
    sampler = sample([], spool=tmp_path / "nowhere" / "spool")
    assert "nowhere" in sampler.missing["lab.spool"]
    assert sampler.frame().height > 0


def test_the_table_keeps_order_and_values() -> None:
    table = Table()
    table.add(1, "a", {"x": 1.5, "y": 2})
    table.add(2, "b", {"x": 3})
    table.add(3, "b", {})
    assert table.frame().rows() == [(1, "a", "x", 1.5), (1, "a", "y", 2.0), (2, "b", "x", 3.0)]


@given(st.integers(0, 10**15), st.integers(1, 10**10), st.integers(-(10**9), 10**12))
def test_a_late_tick_skips_and_stays_on_the_schedule(due: int, period: int, late: int) -> None:
    following = next_due(due, period, due + late)
    assert following > due
    assert following >= due + late
    assert (following - due) % period == 0
    assert following - max(due, due + late) <= period


def test_asking_an_agent() -> None:
    with agent(lambda command: json.dumps({"ok": True, "value": command}) + "\n") as address:
        assert ask(address, "read a b") == {"value": "read a b"}
        with AgentClient(address) as client:
            assert [client.ask(word)["value"] for word in ("x", "y")] == ["x", "y"]
            with pytest.raises(InfrastructureError, match="one line"):
                client.ask("a\nb")
            assert client.ask("z")["value"] == "z"  # connected again


def test_asking_says_what_went_wrong() -> None:
    refusal = '{"ok":false,"error":"no such keyspace"}\n'
    refused = pytest.raises(InfrastructureError, match=r"refused `operation flush k`: no such keyspace")
    with agent(lambda _command: refusal) as address, refused:
        ask(address, "operation flush k")
    with pytest.raises(InfrastructureError, match="did not answer"):
        ask(address, "ping", timeout_s=1)
    with agent(lambda _command: "") as address, pytest.raises(InfrastructureError, match="timed out"):
        ask(address, "ping", timeout_s=0.1)
    with pytest.raises(InfrastructureError, match="in namespace no-such-namespace"):
        ask(address, "ping", namespace="no-such-namespace")


def test_host_facts_are_json_and_say_what_is_missing(tmp_path: Path) -> None:
    facts = json.loads(json.dumps(host_facts([tmp_path / "not" / "yet"])))
    assert facts["cores"] >= facts["cores_usable"] >= 1
    assert facts["kernel"]
    assert facts["file_systems"][str(tmp_path / "not" / "yet")]["free_bytes"] > 0
    for name in ("governor", "swappiness", "clock_source", "huge_pages", "java"):
        assert (name in facts) != (name in facts["missing"])
