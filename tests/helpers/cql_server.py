"""A server that speaks CQL by a script: tables with their rows, or the error that a question meets."""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from steelyard.systems.cassandra.login import CqlPlace, Login

HEADER = struct.Struct(">BBhBI")
STARTUP, OPTIONS, AUTH_RESPONSE, QUERY = 0x01, 0x05, 0x0F, 0x07
ERROR, READY, AUTHENTICATE, SUPPORTED, RESULT, AUTH_SUCCESS = 0x00, 0x02, 0x03, 0x06, 0x08, 0x10
FROM = re.compile(rb"FROM ([a-z_.]+)")
Cell = bytes | int | None


@dataclass(frozen=True)
class Refusal:
    """An error that a question is answered with."""

    code: int
    text: str


@dataclass
class Script:
    """What the server says.

    Attributes:
        tables: name -> its rows, or a refusal; a table that is not named is not there.
        asked: the names of the tables, as they were asked for.
        password: what it asks for; None = for nothing.
    """

    tables: Mapping[str, Sequence[Sequence[Cell]] | Refusal]
    asked: list[str] = field(default_factory=list)
    password: str | None = None

    def answer(self, opcode: int, body: bytes) -> tuple[int, bytes]:
        if opcode == STARTUP:
            return (READY, b"") if self.password is None else (AUTHENTICATE, b"\0\1x")
        if opcode == OPTIONS:
            return SUPPORTED, b"\0\0"
        if opcode == AUTH_RESPONSE:
            good = body[4:].split(b"\0")[-1] == (self.password or "").encode()
            return (AUTH_SUCCESS, b"") if good else _error(Refusal(0x0100, "bad credentials"))
        found = FROM.search(body)
        name = found[1].decode() if found else ""
        self.asked.append(name)
        said = self.tables.get(name, Refusal(0x2200, f"table {name} does not exist"))
        return _error(said) if isinstance(said, Refusal) else (RESULT, _rows(said))


def _error(refusal: Refusal) -> tuple[int, bytes]:
    text = refusal.text.encode()
    return ERROR, struct.pack(">IH", refusal.code, len(text)) + text


def _rows(rows: Sequence[Sequence[Cell]]) -> bytes:
    columns = len(rows[0]) if rows else 1
    head = struct.pack(">IIII", 2, 0x04, columns, len(rows))
    return head + b"".join(_cell(cell) for row in rows for cell in row)


def _cell(cell: Cell) -> bytes:
    if cell is None:
        return struct.pack(">i", -1)
    data = cell.to_bytes(8, signed=True) if isinstance(cell, int) else cell
    return struct.pack(">i", len(data)) + data


@contextmanager
def serving(
    script: Script, login: Login | None = None, at: tuple[str, int] = ("127.0.0.1", 0)
) -> Iterator[CqlPlace]:
    """The server, for as long as the `with` lasts."""
    with socket.create_server(at) as server:
        threading.Thread(target=_accept, args=(server, script), daemon=True).start()
        yield CqlPlace(at[0], server.getsockname()[1], login=login or Login())
        server.shutdown(socket.SHUT_RDWR)


def _accept(server: socket.socket, script: Script) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_serve, args=(connection, script), daemon=True).start()


def _serve(connection: socket.socket, script: Script) -> None:
    with connection, connection.makefile("rb") as read, suppress(OSError):
        while head := read.read(HEADER.size):
            _, _, stream, opcode, length = HEADER.unpack(head)
            answered, body = script.answer(opcode, read.read(length))
            connection.sendall(HEADER.pack(0x84, 0, stream, answered, len(body)) + body)
