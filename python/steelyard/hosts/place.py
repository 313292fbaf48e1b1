"""Where a server answers, and a plain connection to it."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from steelyard.watch.agent import new_socket


@dataclass(frozen=True)
class Place:
    """Where a server answers: address, port and, if it has one, network namespace."""

    address: str
    port: int
    namespace: str | None = None

    def connect(self, timeout_s: float) -> socket.socket:
        """A connection to it, which waits at most `timeout_s` for anything; raises OSError."""
        made = new_socket(self.address, self.namespace)
        made.settimeout(timeout_s)
        try:
            made.connect((self.address, self.port))
        except OSError:
            made.close()
            raise
        return made

    def __str__(self) -> str:
        return f"{self.address}:{self.port}"


def exactly(source: socket.socket, length: int) -> bytes:
    """The next `length` bytes; raises OSError when there are not as many."""
    got = b""
    while len(got) < length:
        part = source.recv(length - len(got))
        if not part:
            raise ConnectionError("the server closed the connection")
        got += part
    return got


def place_of(host: str, port: int) -> Place:
    """The place of `host` or `host:port`; an address of IPv6 with a port stands in brackets."""
    address, colon, given = host.rpartition(":")
    if colon and given.isdigit() and (":" not in address or address.startswith("[")):
        return Place(address.strip("[]"), int(given))
    return Place(host.strip("[]"), port)
