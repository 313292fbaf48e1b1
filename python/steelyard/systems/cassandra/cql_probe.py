"""Just enough of the CQL native protocol (version 4) to ask a node how it is: a socket, no driver."""

from __future__ import annotations

import struct
from typing import Self

from steelyard.hosts.place import exactly
from steelyard.systems.cassandra.login import CqlPlace

VERSION = 4
HEADER = struct.Struct(">BBhBI")
ERROR, STARTUP, AUTHENTICATE, OPTIONS, SUPPORTED, QUERY, RESULT = 0x00, 0x01, 0x03, 0x05, 0x06, 0x07, 0x08
AUTH_RESPONSE, AUTH_SUCCESS = 0x0F, 0x10
ONE, ALL = 0x0001, 0x0005
ROWS = 2
BAD_CREDENTIALS = (0x0100).to_bytes(4)
WARNED = 0x08
"""Of an answer's header: a list of warnings comes before the answer."""
SKIP_METADATA = 0x02
MORE_PAGES, NO_METADATA = 0x02, 0x04

Row = list[bytes | None]


class CqlRefusedError(OSError):
    """The node answered with an error; the text is the node's.

    Attributes:
        code: the protocol's number of the error.
    """

    code = 0


class LoginRefusedError(CqlRefusedError):
    """The node asks for a user and a password, or for others."""


class Probe:
    """A connection to one node. Everything it does raises OSError when the node does not answer as it should.

    Args:
        place: the node, and how one gets in.
        timeout_s: the longest wait for anything.
    """

    def __init__(self, place: CqlPlace, timeout_s: float = 5.0) -> None:
        self._login = place.login
        self._socket = place.connect(timeout_s)

    def options(self) -> None:
        """See that the node speaks CQL."""
        self._exchange(OPTIONS, b"", SUPPORTED)

    def query(self, cql: str, consistency: int = ONE) -> list[Row]:
        """Run a statement on a started connection; its cells as bytes, which the caller can read."""
        text = cql.encode()
        body = struct.pack(">I", len(text)) + text + struct.pack(">HB", consistency, SKIP_METADATA)
        return rows(self._exchange(QUERY, body, RESULT))

    def start(self) -> Self:
        """Say hello, and who one is if the node asks, before the first query; may raise LoginRefusedError."""
        hello = struct.pack(">H", 1) + _string("CQL_VERSION") + _string("3.0.0")
        if self._answer(STARTUP, hello)[0] == AUTHENTICATE:
            self._log_in()
        return self

    def _log_in(self) -> None:
        """SASL PLAIN (RFC 4616), as PasswordAuthenticator asks for it."""
        if self._login.user is None:
            raise LoginRefusedError("the server asks for a user and a password")
        token = f"\0{self._login.user}\0{self._login.password()}".encode()
        self._exchange(AUTH_RESPONSE, struct.pack(">I", len(token)) + token, AUTH_SUCCESS)

    def _exchange(self, opcode: int, body: bytes, expected: int) -> bytes:
        answered, answer = self._answer(opcode, body)
        if answered != expected:
            raise OSError(f"opcode {answered} where {expected} was expected")
        return answer

    def _answer(self, opcode: int, body: bytes) -> tuple[int, bytes]:
        self._socket.sendall(HEADER.pack(VERSION, 0, 1, opcode, len(body)) + body)
        _, flags, _, answered, length = HEADER.unpack(exactly(self._socket, HEADER.size))
        answer = exactly(self._socket, length)
        if flags & WARNED:
            answer = _after_strings(answer)
        if answered == ERROR:
            refused = LoginRefusedError if answer[:4] == BAD_CREDENTIALS else CqlRefusedError
            error = refused(answer[6:].decode(errors="replace"))
            error.code = int.from_bytes(answer[:4])
            raise error
        return answered, answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


def answers(place: CqlPlace, timeout_s: float = 2.0) -> bool:
    """Whether a node answers CQL."""
    try:
        with Probe(place, timeout_s) as probe:
            probe.options()
    except OSError:
        return False
    return True


def ask(place: CqlPlace, cql: str, consistency: int = ONE, timeout_s: float = 5.0) -> list[Row]:
    """Run one statement on a connection of its own; raises OSError."""
    with Probe(place, timeout_s) as probe:
        return probe.start().query(cql, consistency)


def rows(body: bytes) -> list[Row]:
    """The cells of a RESULT's body; no rows for a result of another kind."""
    kind, flags, columns = struct.unpack_from(">III", body) if len(body) >= 12 else (0, 0, 0)
    if kind != ROWS:
        return []
    if not flags & NO_METADATA or flags & MORE_PAGES:
        raise OSError("one page of rows without metadata was expected")
    (count,) = struct.unpack_from(">I", body, 12)
    at, found = 16, []
    for _ in range(count):
        row: Row = []
        for _ in range(columns):
            (length,) = struct.unpack_from(">i", body, at)
            row.append(body[at + 4 : at + 4 + length] if length >= 0 else None)
            at += 4 + max(length, 0)
        found.append(row)
    return found


def texts(cell: bytes) -> list[str]:
    """A set of texts as the protocol writes it: their number, then each after its length."""
    found, at = [], 4
    while at < len(cell):
        (length,) = struct.unpack_from(">i", cell, at)
        found.append(cell[at + 4 : at + 4 + length].decode())
        at += 4 + length
    return sorted(found)


def _after_strings(body: bytes) -> bytes:
    """What follows a list of strings: their number, then each after its length."""
    (count,), at = struct.unpack_from(">H", body), 2
    for _ in range(count):
        at += 2 + struct.unpack_from(">H", body, at)[0]
    return body[at:]


def _string(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()
