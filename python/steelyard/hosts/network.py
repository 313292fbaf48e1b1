"""Addresses and ports: each cluster has a block of its own; several run at once with the usual ports."""

from __future__ import annotations

import errno
import socket
from collections.abc import Collection, Mapping
from typing import TypeAlias

import psutil

from steelyard.errors import InfrastructureError
from steelyard.watch.agent import new_socket

LOOPBACK, NAMESPACED = "127.10", "10.77"
"""Blocks are LOOPBACK.0 to LOOPBACK.255 of the loopback net, or NAMESPACED.0 to .255 inside namespaces."""
NODES_MAX = 250
Endpoint: TypeAlias = tuple[str, int]
"""An address and a port."""
WILDCARDS = ("0.0.0.0", "::")  # noqa: S104 - looked for, never bound


def free_block(taken: Collection[str], *, namespaced: bool, wanted: Collection[str] = ()) -> str:
    """The first address block that no recorded cluster has, e.g. "127.10.0".

    Args:
        taken: the blocks of recorded clusters.
        namespaced: a block inside namespaces.
        wanted: blocks that are left alone as long as there are others: snapshots need them again.
    """
    prefix = NAMESPACED if namespaced else LOOPBACK
    free = [block for number in range(256) if (block := f"{prefix}.{number}") not in taken]
    for block in (*(block for block in free if block not in wanted), *free):
        return block
    raise InfrastructureError(
        "all 256 address blocks are taken", hint="steelyard cluster list, cluster down NAME"
    )


def check_ports(endpoints: Mapping[Endpoint, str]) -> None:
    """See that nothing listens where a server is about to.

    Args:
        endpoints: address and port -> the setting that moves the port, for the way out ("" where none does).

    Raises:
        InfrastructureError: a port is taken; says by whom.
    """
    for (address, port), setting in endpoints.items():
        if _occupied(address, port):
            raise InfrastructureError(
                f"{address}:{port} is already used by {owner_of(address, port)}", hint=_way_out(port, setting)
            )


def _way_out(port: int, setting: str) -> str:
    return f"stop it, or use another port: --set {setting}={port + 10000}" if setting else "stop it first"


def _occupied(address: str, port: int) -> bool:
    with new_socket(address) as probe:
        # Without this a connection that is merely closing would look like a listener.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return True
            raise InfrastructureError(f"cannot use address {address}: {error.strerror}") from error
    return False


def owner_of(address: str, port: int) -> str:
    """Who listens there, e.g. "java (pid 4711)"."""
    for found in psutil.net_connections("tcp"):
        here = found.laddr and found.laddr.port == port and found.laddr.ip in (address, *WILDCARDS)
        if here and found.status == psutil.CONN_LISTEN:
            return _described(found.pid)
    return "a process that this user may not see"


def _described(pid: int | None) -> str:
    if pid is None:
        return "a process of another user"
    try:
        return f"{psutil.Process(pid).name()} (pid {pid})"
    except psutil.Error:
        return f"pid {pid}"
