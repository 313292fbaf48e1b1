"""Reading `/jmx`: HTTP's answers in pieces, beans as metrics, and what has not been renewed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.systems.hbase.beans import ROLES
from steelyard.watch import http
from steelyard.watch.beans import figures
from steelyard.watch.jmx import REPEAT_AFTER_S, JmxDialogue, jmx_dialogues

DATA = Path(__file__).parents[1] / "data" / "watch" / "jmx"
CAPTURED = {
    "regionserver": ("rs_server", "rs_calls_and_log", "rs_jvm"),
    "master": ("hm_server", "hm_assignment", "hm_jvm"),
    "namenode": ("nn_state", "nn_jvm"),
    "datanode": ("dn_activity",),
}
"""Role -> what HBase 2.6.4 and Hadoop 3.4.2 answered under load, one file a bean, shortened."""


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The dialogue's clock, as its only element."""
    clock = [100.0]
    monkeypatch.setattr("steelyard.watch.jmx.time.monotonic", lambda: clock[0])
    return clock


def plain(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nVary: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def chunked(body: bytes, size: int) -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"


def body(name: str) -> bytes:
    return (DATA / f"{name}.json").read_bytes()


@given(st.lists(st.tuples(st.binary(max_size=60), st.integers(0, 20)), min_size=1, max_size=4), st.data())
def test_answers_in_a_row_are_found_whole_and_only_then(
    answers: list[tuple[bytes, int]], data: st.DataObject
) -> None:
    wire = b"".join(plain(said) if not size else chunked(said, size) for said, size in answers)
    at, seen = 0, []
    while at < len(wire):
        found = http.response(wire, at)
        assert found is not None
        cut = data.draw(st.integers(at, found.end - 1))
        assert http.response(wire[:cut], at) is None
        seen.append(found.body)
        at = found.end
    assert seen == [said for said, _ in answers]


@pytest.mark.parametrize(
    "wire", [b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1\r\n\r\n", b"HTTP/1.1 OK\r\n\r\n", b"\r\n\r\n"]
)
def test_what_is_not_http_is_refused(wire: bytes) -> None:
    with pytest.raises(ValueError, match="no answer of HTTP"):
        http.response(wire)


def test_an_answer_may_end_with_the_connection() -> None:
    wire = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}"
    assert http.response(wire) is None
    assert http.response(wire, closed=True) == (200, b"{}", len(wire))
    assert http.response(plain(b"{}")[:-1], closed=True) is None


@pytest.mark.parametrize("role", CAPTURED)
def test_every_figure_is_in_a_real_answer(role: str) -> None:
    beans = [*ROLES[role].beans, *([jvm] if (jvm := ROLES[role].jvm) else [])]
    for bean, name in zip(beans, CAPTURED[role], strict=True):
        said = json.loads(body(name))["beans"]
        there = {attribute for one in said for attribute in one}
        assert not [a for figure in bean.figures for a in figure.attributes if a not in there]
        assert list(figures(bean, said)) == [figure.metric for figure in bean.figures]


def test_units_and_sums() -> None:
    beans = (*ROLES["regionserver"].beans, ROLES["regionserver"].jvm)
    said = [json.loads(body(name))["beans"] for name in CAPTURED["regionserver"]]
    server, calls, jvm = (figures(bean, one) for bean, one in zip(beans, said, strict=True) if bean)
    told = said[0][0]
    assert server["server_memtable_bytes"] == told["memStoreHeapSize"] + told["memStoreOffHeapSize"]
    assert server["server_memtable_data_bytes"] == told["memStoreSize"] > 0
    assert server["server_local_files_share"] == told["percentFilesLocal"] / 100
    assert server["server_client_writes_total"] == told["rpcMutateRequestCount"] > 0
    assert calls["server_wal_sync_p99_whole_ms"] == 28
    assert calls["server_calls_total"] > calls["server_wal_syncs_total"] > 0
    assert jvm["server_gc_seconds_total"] == said[2][0]["GcTimeMillis"] / 1000
    assert jvm["server_heap_max_bytes"] == said[2][0]["MemHeapMaxM"] * 2**20


def test_no_two_roles_share_a_metric() -> None:
    names = [figure.metric for role in ROLES.values() for bean in role.beans for figure in bean.figures]
    assert len(names) == len(set(names))


def test_what_a_version_or_a_starting_server_lacks_is_left_out() -> None:
    bean = ROLES["regionserver"].beans[1]
    assert figures(bean, []) == {}
    found = figures(bean, [{"queueSize": 3, "numGeneralCallsDropped": 2, "exceptions": "NaN"}])
    assert found == {"server_calls_pending_bytes": 3, "server_dropped_total": 2}


def test_what_is_due_is_asked_for_at_once_and_read_together(now: list[float]) -> None:
    dialogue = JmxDialogue(ROLES["master"], "127.0.0.10", 16010, jvm=True)
    assert dialogue.question().count(b"GET /jmx?qry=Hadoop:service=HBase,name=") == 3
    bodies = [body(name) for name in CAPTURED["master"]]
    wire = b"".join(map(plain, bodies))
    assert dialogue.cut(wire[:-1]) is None
    assert dialogue.cut(wire + b"HTTP") == (bodies, b"HTTP")
    one_of_each = {"server_region_servers_live", "server_regions_in_transition", "server_gc_count_total"}
    assert one_of_each <= set(dialogue.read(bodies))
    asked = []
    for _ in range(5):
        now[0] += 0.99  # a tick may come a little early
        asked.append(dialogue.question().count(b"GET"))
    assert asked == [0, 1, 0, 1, 2]
    assert dialogue.cut(plain(bodies[0]) + plain(bodies[2])) == ([bodies[0], bodies[2]], b"")


def test_a_server_that_changes_slowly_is_left_alone_in_between(now: list[float]) -> None:
    dialogue = JmxDialogue(ROLES["datanode"], "h", 1, jvm=True)
    asked = []
    for _ in range(11):
        asked.append(bool(dialogue.question()))
        now[0] += 1
    assert [n for n, did in enumerate(asked) if did] == [0, 5, 10]


def test_another_status_is_an_error() -> None:
    dialogue = JmxDialogue(ROLES["namenode"], "h", 1, jvm=False)
    dialogue.question()
    with pytest.raises(ValueError, match="status 403 for Hadoop:service=NameNode"):
        dialogue.cut(plain(b"").replace(b"200 OK", b"403 Forbidden"))


def test_figures_that_were_not_renewed_are_not_taken_twice(now: list[float]) -> None:
    dialogue = JmxDialogue(ROLES["regionserver"], "h", 1, jvm=False)
    server, calls = (body(name) for name in CAPTURED["regionserver"][:2])

    def read(*bodies: bytes) -> dict[str, float]:
        dialogue.question()
        return dialogue.read(list(bodies))

    assert "server_regions" in read(server, calls)
    now[0] += 5
    assert read(server, calls) == {}
    busy = calls.replace(b'"numActiveHandler": 0', b'"numActiveHandler": 7')
    now[0] += 4.95
    found = read(server, busy)
    assert found["server_handlers_active"] == 7
    assert "server_regions" not in found
    now[0] += REPEAT_AFTER_S - 4.95
    assert set(read(server, busy)) == {figure.metric for figure in ROLES["regionserver"].beans[0].figures}


def test_of_several_servers_of_a_node_one_gives_heap_and_collections() -> None:
    node = list(jmx_dialogues([(ROLES["namenode"], "h", 2), (ROLES["master"], "h", 1)]))
    assert [address for address, _ in node] == [("h", 1), ("h", 2)]
    assert [b"JvmMetrics" in dialogue.question() for _, dialogue in node] == [True, False]
    (only,) = jmx_dialogues([(ROLES["namenode"], "h", 2)])
    assert b"service=NameNode,name=JvmMetrics" in only[1].question()
