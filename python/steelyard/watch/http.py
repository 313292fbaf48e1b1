"""Answers of HTTP/1.1 as they lie in a buffer: where one ends, its status and its body."""

from __future__ import annotations

from typing import NamedTuple


class Response(NamedTuple):
    """One answer; `end` is where the next begins."""

    status: int
    body: bytes
    end: int


def get(host: str, port: int, path: str) -> bytes:
    """A request for a path on a connection that stays open."""
    return f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAccept: application/json\r\n\r\n".encode()


def response(data: bytes, start: int = 0, *, closed: bool = False) -> Response | None:
    """The answer that begins at `start`, or None while it is not whole.

    Args:
        data: what was received.
        start: where in it to begin.
        closed: the server has closed the connection, which is how some (HDFS's DataNode) end an answer.

    Raises:
        ValueError: it is not HTTP.
    """
    head_end = data.find(b"\r\n\r\n", start)
    if head_end < 0:
        return None
    status_line, *lines = data[start:head_end].decode("latin-1").split("\r\n")
    version, status, *_ = (*status_line.split(" "), "")
    if not version.startswith("HTTP/1.") or not status.isdigit():
        raise ValueError(f"no answer of HTTP: {status_line[:80]!r}")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    at = head_end + 4
    if fields.get("transfer-encoding") == "chunked":
        return _chunked(int(status), data, at)
    if "content-length" not in fields:
        return Response(int(status), data[at:], len(data)) if closed else None
    end = at + int(fields["content-length"])
    return Response(int(status), data[at:end], end) if len(data) >= end else None


def _chunked(status: int, data: bytes, at: int) -> Response | None:
    """Chunks, each after its length in hexadecimal, up to one of no length; trailers are not expected."""
    body = b""
    while (line_end := data.find(b"\r\n", at)) >= 0:
        length = int(data[at:line_end].split(b";")[0], 16)
        at = line_end + 2 + length + 2
        if len(data) < at:
            return None
        if length == 0:
            return Response(status, body, at)
        body += data[line_end + 2 : at - 2]
    return None
