"""Just enough of HBase's RPC protocol to ask a server one thing: one call, on a connection of its own."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from getpass import getuser

from steelyard.hosts.place import Place, exactly

PREAMBLE = b"HBas\x00\x50"
"""Magic, version 0, SIMPLE authentication."""
LENGTH = struct.Struct(">I")
CLIENT, META, ADMIN, MASTER = "ClientService", "ClientMetaService", "AdminService", "MasterService"
Fields = Mapping[int, list[int | bytes]]
"""A message: field number -> its values, numbers or bytes."""


class HBaseRefusedError(OSError):
    """The server answered with an exception; the text has its class and first line."""


def ask(place: Place, service: str, method: str, param: bytes = b"", timeout_s: float = 5.0) -> Fields:
    """Call a method on a connection of its own, and wait for its answer.

    Raises:
        HBaseRefusedError: the server's exception. OSError: no answer, or none that can be read.
    """
    header = field(1, field(1, getuser())) + field(2, service)
    call = field(1, 0) + field(3, method) + field(4, 1)
    body = varint(len(call)) + call + varint(len(param)) + param
    with place.connect(timeout_s) as link:
        link.sendall(PREAMBLE + LENGTH.pack(len(header)) + header + LENGTH.pack(len(body)) + body)
        answer = exactly(link, LENGTH.unpack(exactly(link, LENGTH.size))[0])
    try:
        head, at = delimited(answer, 0)
        if 2 in head:
            raise HBaseRefusedError(_exception(message(head, 2)))
        return delimited(answer, at)[0]
    except (IndexError, ValueError) as error:
        raise OSError(f"{place} answered {method} with what is no message") from error


def _exception(told: Fields) -> str:
    name, trace = string(told, 1).rpartition(".")[2], string(told, 2)
    return f"{name}: {trace.splitlines()[0] if trace else ''}"


# --- protocol buffers, version 2 ---


def varint(number: int) -> bytes:
    """An unsigned number, seven bits a byte, the lowest first."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, value: int | str | bytes) -> bytes:
    """One field of a message: a number, a text, or the bytes of another message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def parse(data: bytes) -> Fields:
    """The fields of a message. Raises ValueError or IndexError when it is none."""
    found: dict[int, list[int | bytes]] = {}
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        value, at = _value(data, at, tag & 7)
        found.setdefault(tag >> 3, []).append(value)
    return found


def _value(data: bytes, at: int, kind: int) -> tuple[int | bytes, int]:
    if kind == 0:
        return _varint(data, at)
    size = {1: 8, 5: 4}.get(kind)
    if kind == 2:
        size, at = _varint(data, at)
    if size is None or at + size > len(data):
        raise ValueError(f"a field of kind {kind} that does not fit")
    return data[at : at + size], at + size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        part = data[at]
        number |= (part & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if part < 0x80:
            return number, at


def delimited(data: bytes, at: int) -> tuple[Fields, int]:
    """A message with its length before it, and where it ends. Raises as `parse`."""
    length, at = _varint(data, at)
    return parse(data[at : at + length]), at + length


def message(fields: Fields, number: int) -> Fields:
    """A field that is a message; without fields where it is absent."""
    return parse(raw(fields, number))


def raw(fields: Fields, number: int) -> bytes:
    """A field that is bytes; empty where it is absent."""
    value = fields.get(number, [b""])[0]
    return value if isinstance(value, bytes) else b""


def string(fields: Fields, number: int) -> str:
    """A field that is a text; empty where it is absent."""
    return raw(fields, number).decode(errors="replace")


def number_of(fields: Fields, number: int) -> int:
    """A field that is a number; 0 where it is absent."""
    value = fields.get(number, [0])[0]
    return value if isinstance(value, int) else 0
