"""The line to a server's agent: one line of words out, one line of JSON back."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from steelyard.errors import InfrastructureError

NAMESPACES = Path("/var/run/netns")
CLONE_NEWNET = 0x40000000


def ask(
    address: tuple[str, int], command: str, timeout_s: float = 10.0, namespace: str | None = None
) -> dict[str, Any]:
    """Ask one agent one thing on a connection of its own; for arguments and errors see `AgentClient`."""
    with AgentClient(address, timeout_s=timeout_s, namespace=namespace) as client:
        return client.ask(command)


class AgentClient:
    """A connection to one agent, opened when first needed and again after it broke.

    Args:
        address: the agent's host and port.
        timeout_s: the longest wait, in seconds, for a connection and (unless `ask` is told otherwise) an
            answer.
        namespace: the network namespace the agent listens in, if not this process's.
    """

    def __init__(
        self, address: tuple[str, int], *, timeout_s: float = 10.0, namespace: str | None = None
    ) -> None:
        self.address = address
        self.timeout_s = timeout_s
        self.namespace = namespace
        self._socket: socket.socket | None = None
        self._unread = b""

    def ask(self, command: str, timeout_s: float | None = None) -> dict[str, Any]:
        """Send a command, e.g. `metrics` or `operation flush ks`, and wait for its answer.

        Returns:
            The answer's fields but `ok`: of `metrics` a dict `metrics`, of `read` and `operation` a `value`
            and the `seconds` it took.

        Raises:
            InfrastructureError: no connection, no answer in time, or the server refused; only after a refusal
                is the connection kept. A command that ran out of time may still be at work in the server.
        """
        try:
            answer = self._exchange(command, self.timeout_s if timeout_s is None else timeout_s)
        except (OSError, ValueError) as error:
            self.close()
            raise InfrastructureError(
                f"{self} did not answer `{command}`: {error or type(error).__name__}"
            ) from error
        if not answer.pop("ok", False):
            raise InfrastructureError(f"{self} refused `{command}`: {answer.get('error', 'no reason given')}")
        return answer

    def close(self) -> None:
        """Close the connection; the next `ask` opens another."""
        if self._socket is not None:
            self._socket.close()
        self._socket, self._unread = None, b""

    def _exchange(self, command: str, timeout_s: float) -> dict[str, Any]:
        if "\n" in command:
            raise ValueError("a command is one line")
        if self._socket is None:
            self._socket = new_socket(self.address[0], self.namespace)
            self._socket.settimeout(self.timeout_s)
            self._socket.connect(self.address)
        self._socket.settimeout(timeout_s)
        self._socket.sendall(command.encode() + b"\n")
        while b"\n" not in self._unread:
            received = self._socket.recv(65536)
            if not received:
                raise ConnectionError("the connection was closed")
            self._unread += received
        line, _, self._unread = self._unread.partition(b"\n")
        answer = json.loads(line)
        if not isinstance(answer, dict):
            raise ValueError(f"an object was expected, not {line[:80]!r}")
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __str__(self) -> str:
        inside = f" in namespace {self.namespace}" if self.namespace else ""
        return f"agent {self.address[0]}:{self.address[1]}{inside}"


def new_socket(host: str, namespace: str | None = None) -> socket.socket:
    """An unconnected TCP socket for an address of `host`'s family, made in a network namespace.

    A socket stays in the namespace it was made in; so a thread of its own enters the namespace, makes the
    socket and ends, and no other thread ever leaves ours.

    Raises:
        OSError: there is no such namespace, or this user may not enter it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if namespace is None:
        return socket.socket(family, socket.SOCK_STREAM)
    made: list[socket.socket | OSError] = []
    thread = threading.Thread(target=_make_inside, args=(NAMESPACES / namespace, family, made))
    thread.start()
    thread.join()
    if isinstance(made[0], OSError):
        raise made[0]
    return made[0]


def _make_inside(namespace: Path, family: socket.AddressFamily, made: list[socket.socket | OSError]) -> None:
    try:
        handle = os.open(namespace, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _enter(handle)
        finally:
            with suppress(OSError):
                os.close(handle)
        made.append(socket.socket(family, socket.SOCK_STREAM))
    except OSError as error:
        made.append(error)


def _enter(handle: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)  # os.setns is there from Python 3.12 on only
    if libc.setns(handle, CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"setns: {os.strerror(number)}")
