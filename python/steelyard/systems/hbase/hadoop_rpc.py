"""Just enough of Hadoop's RPC protocol (version 9) to ask a NameNode one thing, on its own connection."""

from __future__ import annotations

import os
from getpass import getuser

from steelyard.hosts.place import Place, exactly
from steelyard.systems.hbase import wire

PREAMBLE = b"hrpc\x09\x00\x00"
"""Magic, version 9, no service class, no authentication."""
CLIENT_PROTOCOL = "org.apache.hadoop.hdfs.protocol.ClientProtocol"
PROTOCOL_BUFFERS, FINAL_PACKET = 2, 0
"""How a call is encoded; that it is one, and whole."""
CONTEXT_CALL = -3
"""The call id of what says who asks."""
SUCCESS = 0


class HadoopRefusedError(OSError):
    """The server answered with an exception; the text has its class and first line."""


def ask(place: Place, method: str, param: bytes = b"", timeout_s: float = 5.0) -> wire.Fields:
    """Call a method of the NameNode's clients, and wait for its answer.

    Raises:
        HadoopRefusedError: the server's exception. OSError: no answer, or none that can be read.
    """
    client = os.urandom(16)
    who = wire.field(2, wire.field(1, getuser())) + wire.field(3, CLIENT_PROTOCOL)
    named = wire.field(1, method) + wire.field(2, CLIENT_PROTOCOL) + wire.field(3, 1)
    with place.connect(timeout_s) as link:
        context = _framed(_header(CONTEXT_CALL, client), who)
        link.sendall(PREAMBLE + context + _framed(_header(0, client), named, param))
        answer = exactly(link, wire.LENGTH.unpack(exactly(link, wire.LENGTH.size))[0])
    try:
        head, at = wire.delimited(answer, 0)
        if wire.number_of(head, 2) != SUCCESS:
            raise HadoopRefusedError(_exception(head))
        return wire.delimited(answer, at)[0]
    except (IndexError, ValueError) as error:
        raise OSError(f"{place} answered {method} with what is no message") from error


def _header(call: int, client: bytes) -> bytes:
    """A request's header; its retries are -1, uncounted."""
    kind = wire.field(1, PROTOCOL_BUFFERS) + wire.field(2, FINAL_PACKET)
    return kind + wire.field(3, _zigzag(call)) + wire.field(4, client) + wire.field(5, _zigzag(-1))


def _zigzag(number: int) -> int:
    """A signed number as protocol buffers' sint32 has it."""
    return number << 1 if number >= 0 else (-number << 1) - 1


def _framed(*messages: bytes) -> bytes:
    body = b"".join(wire.varint(len(one)) + one for one in messages)
    return wire.LENGTH.pack(len(body)) + body


def _exception(head: wire.Fields) -> str:
    said = wire.string(head, 5)
    return f"{wire.string(head, 4).rpartition('.')[2]}: {said.splitlines()[0] if said else ''}"
