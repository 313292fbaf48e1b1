"""When each server serves, and when the cluster does: asked over the wire, as a client would see it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from steelyard.hosts.place import Place
from steelyard.systems.hbase import jmx, wire
from steelyard.systems.hbase.layout import (
    DATANODE,
    MASTER,
    NAMENODE,
    REGIONSERVER,
    ZOOKEEPER,
    HBaseSpec,
    having,
)

META_REGION = b"hbase:meta,,1"
ASK_S = 2.0


def _zookeeper(spec: HBaseSpec) -> bool:
    with spec.place(ZOOKEEPER).connect(ASK_S) as link:
        link.sendall(b"srvr")
        return b"Mode:" in link.recv(4096)


def _namenode(spec: HBaseSpec) -> bool:
    return bool(jmx.bean(spec.web(NAMENODE), jmx.NAMENODE, ASK_S).get("FSState") == "Operational")


def _datanode(spec: HBaseSpec) -> bool:
    actors = json.loads(jmx.bean(spec.web(DATANODE), jmx.DATANODE, ASK_S)["BPServiceActorInfo"])
    return bool(actors) and all(actor["ActorState"] == "RUNNING" for actor in actors)


def _master(spec: HBaseSpec) -> bool:
    wire.ask(spec.place(MASTER), wire.META, "GetActiveMaster", timeout_s=ASK_S)
    return True


def _regionserver(spec: HBaseSpec) -> bool:
    server_name(spec)
    return True


SERVES: Mapping[str, Callable[[HBaseSpec], bool]] = {
    ZOOKEEPER: _zookeeper,
    NAMENODE: _namenode,
    DATANODE: _datanode,
    MASTER: _master,
    REGIONSERVER: _regionserver,
}


def serves(spec: HBaseSpec, role: str) -> bool:
    """Whether a server does its work, as far as it alone can tell."""
    try:
        return SERVES[role](spec)
    except (OSError, KeyError, ValueError):
        return False


def server_name(spec: HBaseSpec) -> str:
    """What a region server calls itself: "host,port,start time in ms"; raises OSError.

    It is asked over RPC, since its beans are gone for half a second whenever regions come or go
    (`JmxCacheBuster` of HBase).
    """
    answer = wire.ask(spec.place(REGIONSERVER), wire.ADMIN, "GetServerInfo", timeout_s=ASK_S)
    told = wire.message(wire.message(answer, 1), 1)
    if not wire.string(told, 1):
        raise OSError(f"{spec.name} does not tell its name")
    return whole_name(told)


def whole_name(told: wire.Fields) -> str:
    """A message ServerName as HBase writes it: "host,port,start time in ms"."""
    return f"{wire.string(told, 1)},{wire.number_of(told, 2)},{wire.number_of(told, 3)}"


def hdfs_ready(specs: Sequence[HBaseSpec]) -> bool:
    """Whether the NameNode takes writes and counts all DataNodes as alive."""
    (names,) = having(specs, NAMENODE)
    try:
        state = jmx.bean(names.web(NAMENODE), jmx.NAMENODE, ASK_S)
    except OSError:
        return False
    alive = state.get("NumLiveDataNodes") == len(having(specs, DATANODE))
    return alive and state.get("FSState") == "Operational"


def active_master(specs: Sequence[HBaseSpec]) -> HBaseSpec | None:
    """The node of the master that is active and initialised, if there is one."""
    for spec in having(specs, MASTER):
        try:
            state = jmx.bean(spec.web(MASTER), jmx.MASTER, ASK_S)
        except OSError:
            continue
        if state.get("tag.isActiveMaster") == "true" and state.get("masterFinishedInitializationTime"):
            return spec
    return None


def registered(master: HBaseSpec) -> set[str]:
    """The names of the region servers that a master counts as alive; raises OSError."""
    return _alive(jmx.bean(master.web(MASTER), jmx.MASTER, ASK_S))


def _alive(state: Mapping[str, Any]) -> set[str]:
    return {name for name in str(state.get("tag.liveRegionServers", "")).split(";") if name}


def _recovering(state: Mapping[str, Any]) -> int:
    """Dead servers whose regions others do not serve yet. A master that dies meanwhile is followed by one
    that may wait 100 s: so long a region server can put off telling it that its part is done."""
    ended = int(state.get("ServerCrashTime_num_ops", 0)) + int(state.get("ServerCrashFailedCount", 0))
    return max(0, int(state.get("ServerCrashSubmittedCount", 0)) - ended)


def waiting_for(specs: Sequence[HBaseSpec], servers: Sequence[HBaseSpec]) -> str:
    """What the cluster still waits for before it serves with these region servers; empty when it serves."""
    master = active_master(specs)
    if master is None:
        return "no master is initialised"
    try:
        state = jmx.bean(master.web(MASTER), jmx.MASTER, ASK_S)
        missing = [spec.name for spec in servers if server_name(spec) not in _alive(state)]
        if missing:
            return f"not registered with the master: {', '.join(missing)}"
        if crashes := _recovering(state):
            return f"{crashes} dead region servers are being recovered from"
        read_meta(master)
    except OSError as error:
        return str(error) or type(error).__name__
    return ""


def meta_place(master: HBaseSpec) -> Place:
    """Where the first region of hbase:meta is, as the master's registry tells; raises OSError."""
    answer = wire.ask(master.place(MASTER), wire.META, "GetMetaRegionLocations", timeout_s=ASK_S)
    server = wire.message(wire.message(answer, 1), 2)
    if not server:
        raise OSError("hbase:meta is nowhere yet")
    return Place(wire.string(server, 1), wire.number_of(server, 2), master.namespace)


def read_meta(master: HBaseSpec) -> None:
    """Read a row, which need not be there, of hbase:meta; raises OSError when it cannot be read."""
    row = wire.field(1, b"hbase:meta,,")
    wire.ask(meta_place(master), wire.CLIENT, "Get", wire.field(1, region(META_REGION)) + wire.field(2, row))


def region(name: bytes) -> bytes:
    """A region's specifier, from its full name."""
    return wire.field(1, 1) + wire.field(2, name)
