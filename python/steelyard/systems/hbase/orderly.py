"""Stopping a whole cluster in the order in which its servers stand on each other, so that no log is left."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.errors import InfrastructureError
from steelyard.systems.hbase import admin, data, serving
from steelyard.systems.hbase.layout import (
    DATANODE,
    MASTER,
    NAMENODE,
    REGIONSERVER,
    ZOOKEEPER,
    HBaseSpec,
)
from steelyard.systems.node import ask_to_leave, wait_left
from steelyard.systems.server import Server

LEAVE_LIMIT_S = 120.0


def role(server: Server) -> str:
    """What a server is."""
    return server.name.rpartition("/")[2]


def leave(specs: Sequence[HBaseSpec], servers: Sequence[Server]) -> None:
    """Have HBase shut itself down, so that no server is missed and recovered from; then HDFS and ZooKeeper.

    Raises:
        OSError: a server does not answer. InfrastructureError: one does not end, or a log is left.
    """
    master = serving.active_master(specs)
    if master is None:
        raise InfrastructureError("no master is active, so that HBase cannot be shut down")
    admin.shut_down(master)
    wait_left(_of(servers, MASTER, REGIONSERVER), LEAVE_LIMIT_S)
    if left := data.fsck(specs, data.LOGS):
        raise InfrastructureError(f"HBase ended, but left {len(left)} logs to be replayed")
    for part in (DATANODE, NAMENODE, ZOOKEEPER):
        ask_to_leave(_of(servers, part), LEAVE_LIMIT_S)


def _of(servers: Sequence[Server], *roles: str) -> list[Server]:
    return [server for server in servers if role(server) in roles]
