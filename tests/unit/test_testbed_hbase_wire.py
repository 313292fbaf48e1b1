"""The little of HBase's protocol that the testbed speaks, and what it makes of answers."""

from __future__ import annotations

import hashlib
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.hosts.place import Place
from steelyard.systems.hbase import admin, jmx, wire

NUMBER = st.integers(1, 2**29 - 1)
VALUE = st.one_of(st.integers(0, 2**64 - 1), st.binary(max_size=300))


@given(st.lists(st.tuples(NUMBER, VALUE), max_size=20))
def test_fields_are_read_as_they_were_written(fields: list[tuple[int, int | bytes]]) -> None:
    expected: dict[int, list[int | bytes]] = {}
    for number, value in fields:
        expected.setdefault(number, []).append(value)
    assert wire.parse(b"".join(wire.field(n, v) for n, v in fields)) == expected


@given(st.binary(max_size=60))
def test_noise_is_no_crash(data: bytes) -> None:
    try:
        wire.parse(data)
    except (ValueError, IndexError):
        return


def serve(answer: bytes) -> Place:
    """A server that reads what it is sent at first, answers, and closes."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        with listener, listener.accept()[0] as link:
            link.recv(65536)
            link.sendall(answer)

    threading.Thread(target=run, daemon=True).start()
    return Place("127.0.0.1", listener.getsockname()[1])


def delimited(data: bytes) -> bytes:
    return wire.varint(len(data)) + data


def framed(head: bytes, body: bytes = b"") -> bytes:
    whole = delimited(head) + body
    return wire.LENGTH.pack(len(whole)) + whole


def test_an_answer_is_parsed() -> None:
    place = serve(framed(wire.field(1, 0), delimited(wire.field(3, 7))))
    assert wire.number_of(wire.ask(place, wire.MASTER, "Balance"), 3) == 7


def test_an_exception_is_told_by_class_and_first_line() -> None:
    told = wire.field(1, "org.apache.X.PleaseHoldException") + wire.field(2, "not yet\n at x")
    place = serve(framed(wire.field(1, 0) + wire.field(2, told)))
    with pytest.raises(wire.HBaseRefusedError, match=r"^PleaseHoldException: not yet$"):
        wire.ask(place, wire.MASTER, "Balance")


@pytest.mark.parametrize("answer", [b"", b"\x00\x00", framed(b"\xff\xff"), wire.LENGTH.pack(0)])
def test_anything_else_is_an_error_of_the_connection(answer: bytes) -> None:
    with pytest.raises(OSError, match=r"closed|no message"):
        wire.ask(serve(answer), wire.MASTER, "Balance")


@pytest.mark.parametrize(("space", "shown"), [("default", "t"), ("ns", "ns:t"), ("hbase", "hbase:t")])
def test_a_regions_full_name_follows_from_its_parts(space: str, shown: str) -> None:
    table = wire.field(1, space) + wire.field(2, "t")
    info = wire.field(1, 99) + wire.field(2, table) + wire.field(3, b"k\x00")
    found = admin._region(wire.parse(info))
    prefix = shown.encode() + b",k\x00,99"
    digest = hashlib.md5(prefix, usedforsecurity=False).hexdigest().encode()
    assert found == admin.Region(shown, prefix + b"." + digest + b".", space == "hbase")


def http(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def test_a_bean_is_asked_by_name_and_may_be_missing() -> None:
    assert jmx.bean(serve(http(b'{"beans": [{"name": "a", "x": 1}]}')), "a")["x"] == 1
    assert jmx.bean(serve(http(b'{"beans": []}')), "a") == {}
    for answer in (http(b"<html>"), http(b"[]"), b""):
        with pytest.raises(OSError, match=r"/jmx|closed"):
            jmx.bean(serve(answer), "a")


def test_beans_that_are_registered_anew_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A region server has none for a moment when a region has come or gone."""
    answers = iter([{}, {}, {"flushQueueLength": 2}, {"usertable_metric_flushesQueuedCount": 1}])
    monkeypatch.setattr(admin, "POLL_S", 0.0)
    monkeypatch.setattr(jmx, "bean", lambda *_: next(answers))
    assert admin.pending_at(Place("127.10.0.1", 16030)) == 3


def test_what_has_no_such_beans_is_no_region_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "BEANS_AGAIN_S", 0.0)
    monkeypatch.setattr(admin, "POLL_S", 0.0)
    monkeypatch.setattr(jmx, "bean", lambda *_: {})
    with pytest.raises(OSError, match="is no region server"):
        admin.pending_at(Place("127.10.0.1", 16030))
