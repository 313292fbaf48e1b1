"""A node of a local cluster: one address, one control group, one folder, and the servers that make it up."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.errors import InfrastructureError
from steelyard.hosts.cgroup import Group
from steelyard.hosts.host import Host
from steelyard.systems.server import STOP_GRACE_S, Server


@dataclass(frozen=True)
class NodeSpec:
    """Where one node is.

    Attributes:
        number: from 1; the last part of its address.
        name: e.g. "node1".
        address: its own IP address.
        folder: all its files.
        namespace: its network namespace, if it has one.
        host: the machine it is on, by name; empty where all nodes are on one.
    """

    number: int
    name: str
    address: str
    folder: Path
    namespace: str | None = None
    host: str = field(default="", kw_only=True)


class Node:
    """A node, on a host.

    Args:
        spec: where it is.
        group: its control group.
        servers: what runs on it, in the order in which it is started.
    """

    def __init__(self, spec: NodeSpec, group: Group, servers: Sequence[Server]) -> None:
        self.spec, self.group, self.servers = spec, group, servers

    @property
    def name(self) -> str:
        """Its name."""
        return self.spec.name

    @property
    def host(self) -> Host:
        """Where it is."""
        return self.servers[0].host

    @property
    def alive(self) -> bool:
        """Whether any of its servers runs; a frozen one does."""
        return any(server.alive for server in self.servers)

    def pids(self) -> list[int]:
        """Its processes now, as its host numbers them."""
        return [server.identity.pid for server in self.servers if server.identity and server.alive]

    def start(self) -> None:
        """Start all its servers; returns at once."""
        for server in self.servers:
            server.start()


def stop(servers: Sequence[Server], grace_s: float = STOP_GRACE_S) -> None:
    """Stop servers one after the other, the last started first."""
    for server in reversed(servers):
        server.stop(grace_s)


def ask_to_leave(servers: Sequence[Server], limit_s: float) -> None:
    """SIGTERM to all at once, and wait until they have ended by themselves.

    Raises:
        InfrastructureError: one has not within `limit_s` seconds; it goes on.
    """
    for server in servers:
        server.expected_up = False
        if server.alive:
            server.send(signal.SIGTERM)
    wait_left(servers, limit_s)


def wait_left(servers: Sequence[Server], limit_s: float) -> None:
    """Wait until servers that were asked to leave have ended; errors as `ask_to_leave`."""
    _wait_gone(servers, limit_s)
    left = [server.name for server in servers if server.alive]
    if left:
        raise InfrastructureError(f"not ended {limit_s:.0f} s after they were asked to: {', '.join(left)}")


def kill(servers: Sequence[Server]) -> None:
    """kill -9 of those that run, all at once; returns when they are gone. Raises if none runs."""
    running = [server for server in servers if server.alive] or servers
    for server in running:
        server.expected_up = False
        server.send(signal.SIGKILL)
    _wait_gone(running, 10.0)


def _wait_gone(servers: Sequence[Server], limit_s: float) -> None:
    until = time.monotonic() + limit_s
    for server in servers:
        if server.identity:
            server.host.wait([server.identity], max(0.0, until - time.monotonic()))
