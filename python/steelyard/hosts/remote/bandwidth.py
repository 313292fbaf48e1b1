"""How fast bytes travel from one machine to another, over one connection."""

from __future__ import annotations

import hmac
import secrets
import socket
import time

PIECE = bytes(256 * 1024)
TOKEN_BYTES = 16
WAIT_S = 10.0


class Sender:
    """Offers bytes on a port of its own, once.

    Args:
        address: of this machine, where the other one reaches it.
    """

    def __init__(self, address: str) -> None:
        self._socket = socket.create_server(
            (address, 0), family=socket.AF_INET6 if ":" in address else socket.AF_INET
        )
        self._socket.settimeout(WAIT_S)
        self.port: int = self._socket.getsockname()[1]
        self.token = secrets.token_bytes(TOKEN_BYTES)

    def send(self, seconds: float) -> None:
        """Send to the first who connects and knows the token, for so long; raises OSError."""
        with self._socket, self._socket.accept()[0] as peer:
            peer.settimeout(WAIT_S)
            if not hmac.compare_digest(peer.recv(TOKEN_BYTES, socket.MSG_WAITALL), self.token):
                raise ConnectionError("whoever has connected does not know the token")
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                peer.sendall(PIECE)


def received(address: str, port: int, token: bytes) -> float:
    """Bytes a second from a `Sender`, from the first to the last; raises OSError."""
    got = 0
    with socket.create_connection((address, port), WAIT_S) as peer:
        peer.sendall(token)
        began = time.monotonic()
        while piece := peer.recv(len(PIECE)):
            got += len(piece)
        return got / max(time.monotonic() - began, 1e-9)
