"""Just enough of ZooKeeper's protocol to read one node of its tree, on a connection of its own."""

from __future__ import annotations

import struct

from steelyard.hosts.place import Place, exactly
from steelyard.systems.hbase import wire

LENGTH = struct.Struct(">i")
CONNECT = struct.Struct(">iqiqi16s?")
"""Protocol version, last change seen, session's limit in ms, its number, its password, read only."""
REPLY = struct.Struct(">iqi")
"""Number of the request, last change, error."""
SESSION_MS = 10_000
GET, CLOSE = 4, -11
NO_NODE = -101
MAGIC, MAGIC_PB = 0xFF, b"PBUF"


def read(ensemble: Place, path: str, timeout_s: float) -> bytes:
    """The data of a node of the tree, of the server's newest state.

    Raises:
        OSError: no answer, no such node, or no permission to read it.
    """
    with ensemble.connect(timeout_s) as link:
        link.sendall(_framed(CONNECT.pack(0, 0, SESSION_MS, 0, 16, bytes(16), False)))
        exactly(link, _length(exactly(link, LENGTH.size)))
        name = path.encode()
        link.sendall(_framed(struct.pack(">iii", 1, GET, len(name)) + name + b"\0"))
        answer = exactly(link, _length(exactly(link, LENGTH.size)))
        link.sendall(_framed(struct.pack(">ii", 2, CLOSE)))
    if len(answer) < REPLY.size:
        raise OSError(f"{ensemble} answers with what is none of ZooKeeper's")
    _, _, error = REPLY.unpack_from(answer)
    if error:
        why = "is not there" if error == NO_NODE else f"cannot be read (error {error})"
        raise OSError(f"{path} {why} in ZooKeeper at {ensemble}")
    begins = REPLY.size + LENGTH.size
    return answer[begins : begins + _length(answer[REPLY.size : begins].ljust(LENGTH.size, b"\0"))]


def active_master(ensemble: Place, parent: str, timeout_s: float) -> Place:
    """Where the active master of the cluster at `parent` answers. Raises OSError."""
    data = read(ensemble, f"{parent}/master", timeout_s)
    try:
        begins = 1 + LENGTH.size + LENGTH.unpack_from(data, 1)[0]  # who wrote it stands before
        if data[0] != MAGIC or not data[begins:].startswith(MAGIC_PB):
            raise ValueError(f"{data[:16]!r} is no node of HBase's")
        server = wire.message(wire.parse(data[begins + len(MAGIC_PB) :]), 1)
    except (ValueError, IndexError, struct.error) as error:
        raise OSError(f"{parent}/master of ZooKeeper at {ensemble} cannot be read: {error}") from error
    return Place(wire.string(server, 1), wire.number_of(server, 2))


def _framed(request: bytes) -> bytes:
    return LENGTH.pack(len(request)) + request


def _length(four: bytes) -> int:
    return max(0, int(LENGTH.unpack(four)[0]))
