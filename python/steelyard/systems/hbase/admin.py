"""What an administrator asks of a cluster over the wire: flush, compact, balance, where regions are."""

from __future__ import annotations

import hashlib
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.errors import InfrastructureError
from steelyard.hosts.place import Place
from steelyard.systems.hbase import jmx, wire
from steelyard.systems.hbase.layout import MASTER, REGIONSERVER, HBaseSpec
from steelyard.systems.hbase.serving import region, whole_name

LIMIT_S = 600.0
BEANS_AGAIN_S = 5.0
"""A region server takes all its beans away and registers them anew when a region has come or gone (HBase's
JmxCacheBuster, half a second and more later)."""
POLL_S = 0.2
SYSTEM = b"hbase"
"""Namespace of HBase's own tables."""
QUEUES = ("flushQueueLength", "compactionQueueLength", "splitQueueLength")
ENCODED = 2
"""A region's specifier is the hash at the end of its name (enum RegionSpecifierType of HBase.proto): the only
one that a master takes."""
LIVE_SERVERS, IN_TRANSITION = 2, 7
"""Of what a cluster's status can tell (enum Option of ClusterStatus.proto)."""
REPORT_START = 7
"""When a region server's last report began (ServerLoad of ClusterStatus.proto)."""
AT_WORK = ("_metric_compactionsQueuedCount", "_metric_flushesQueuedCount")
"""Of each region: what waits or runs. A server's queues tell only of what waits."""


@dataclass(frozen=True)
class Region:
    """One region as its server tells of it.

    Attributes:
        table: "table", or "namespace:table" outside the default namespace.
        name: the full name, which requests need.
        system: whether it belongs to one of HBase's own tables.
    """

    table: str
    name: bytes
    system: bool


def regions(spec: HBaseSpec, table: str | None = None) -> list[Region]:
    """The regions that a node serves: of one table, or of all but HBase's own. Raises OSError."""
    answer = wire.ask(spec.place(REGIONSERVER), wire.ADMIN, "GetOnlineRegion")
    found = [_region(wire.parse(one)) for one in answer.get(1, []) if isinstance(one, bytes)]
    return [one for one in found if (one.table == table if table else not one.system)]


def _region(told: wire.Fields) -> Region:
    table = wire.message(told, 2)
    space, name = wire.raw(table, 1), wire.raw(table, 2)
    full = name if space == b"default" else space + b":" + name
    identity = b",".join([full, wire.raw(told, 3), str(wire.number_of(told, 1)).encode()])
    digest = hashlib.md5(identity, usedforsecurity=False).hexdigest().encode()
    return Region(full.decode(), identity + b"." + digest + b".", space == SYSTEM)


def store_files(spec: HBaseSpec, one: Region) -> list[str]:
    """Where the files are that a region's stores read: not what a compaction has replaced and a later chore
    removes. Raises OSError."""
    answer = wire.ask(spec.place(REGIONSERVER), wire.ADMIN, "GetStoreFile", wire.field(1, region(one.name)))
    return [path.decode() for path in answer.get(1, []) if isinstance(path, bytes)]


@dataclass(frozen=True)
class Locality:
    """Where the files of a region are, as its server knows it now.

    Attributes:
        name: the region's full name.
        bytes: of its files, in whole MiB.
        share: of them with a copy on the server's own node; 1 where there are none.
    """

    name: bytes
    bytes: int
    share: float


def localities(spec: HBaseSpec) -> list[Locality]:
    """Of each region that a node serves, HBase's own included; raises OSError.

    Its server is asked, since what its /jmx tells of all regions is seconds old.
    """
    answer = wire.ask(spec.place(REGIONSERVER), wire.ADMIN, "GetRegionLoad")
    return [_locality(wire.parse(one)) for one in answer.get(1, []) if isinstance(one, bytes)]


def _locality(load: wire.Fields) -> Locality:
    told = wire.raw(load, 16)
    share = struct.unpack("<f", told)[0] if told and wire.number_of(load, 3) else 1.0
    return Locality(wire.raw(wire.message(load, 1), 2), wire.number_of(load, 5) << 20, share)


def compact_one(spec: HBaseSpec, name: bytes) -> None:
    """Compact a region, by its full name, into one file a family; returns when done. Raises OSError."""
    one = Region("", name, system=False)
    _each(spec, [one], "CompactRegion", wire.field(2, 1))
    _wait_compacted(spec, [one])


def flush(spec: HBaseSpec, table: str | None) -> int:
    """Write the memstores of a node's regions to files; returns how many regions it has done."""
    return _each(spec, regions(spec, table), "FlushRegion", b"")


def compact(spec: HBaseSpec, table: str | None, *, major: bool = True) -> int:
    """Compact a node's regions, by default into one file a family; returns when that is done."""
    asked = regions(spec, table)
    count = _each(spec, asked, "CompactRegion", wire.field(2, int(major)))
    _wait_compacted(spec, asked)
    return count


def _wait_compacted(spec: HBaseSpec, asked: Sequence[Region]) -> None:
    until = time.monotonic() + LIMIT_S
    while any(_compacting(spec, one) for one in asked) or pending(spec):
        if time.monotonic() > until:
            raise InfrastructureError(f"{spec.name} still compacts after {LIMIT_S:.0f} s")
        time.sleep(POLL_S)


def _each(spec: HBaseSpec, chosen: Sequence[Region], method: str, more: bytes) -> int:
    for one in chosen:
        param = wire.field(1, region(one.name)) + more
        wire.ask(spec.place(REGIONSERVER), wire.ADMIN, method, param, LIMIT_S)
    return len(chosen)


def _compacting(spec: HBaseSpec, one: Region) -> bool:
    param = wire.field(1, region(one.name)) + wire.field(2, 1)
    answer = wire.ask(spec.place(REGIONSERVER), wire.ADMIN, "GetRegionInfo", param)
    return wire.number_of(answer, 2) != 0


def balance(master: HBaseSpec) -> int | None:
    """Have the balancer run once.

    Returns:
        The regions it moves, or has moved; None when the master refused to run it, as it does while regions
        are in transition. The line 2.4 does not tell, and gives 0.

    Raises:
        OSError: the master does not answer.
    """
    answer = wire.ask(master.place(MASTER), wire.MASTER, "Balance", timeout_s=LIMIT_S)
    return wire.number_of(answer, 3) if wire.number_of(answer, 1) else None


def decommission(master: HBaseSpec, servers: Sequence[str]) -> None:
    """Have region servers, by their whole names, get no more regions and give away theirs; returns at once.

    Raises:
        OSError: the master does not answer.
    """
    param = b"".join(wire.field(1, server(name)) for name in servers) + wire.field(2, 1)
    wire.ask(master.place(MASTER), wire.MASTER, "DecommissionRegionServers", param, LIMIT_S)


def reporting(master: HBaseSpec) -> set[str]:
    """The region servers, by their whole names, that have reported to this master since it became active.

    It counts others, as ZooKeeper knows them, but gives them no regions until then
    (`ServerManager.createDestinationServersList` of HBase 2.6). Those have an end of their last report, which
    is when the master heard of them, but no start. Raises OSError.
    """
    answer = wire.ask(master.place(MASTER), wire.MASTER, "GetClusterStatus", wire.field(1, LIVE_SERVERS))
    live = [wire.parse(one) for one in wire.message(answer, 1).get(2, []) if isinstance(one, bytes)]
    told = [one for one in live if wire.number_of(wire.message(one, 2), REPORT_START)]
    return {whole_name(wire.message(one, 1)) for one in told}


def move(master: HBaseSpec, name: bytes, to: str) -> None:
    """Have a region, by its full name, served by a region server, by its whole name. Raises OSError."""
    encoded = name.rstrip(b".").rpartition(b".")[2]
    param = wire.field(1, wire.field(1, ENCODED) + wire.field(2, encoded)) + wire.field(2, server(to))
    wire.ask(master.place(MASTER), wire.MASTER, "MoveRegion", param, LIMIT_S)


def recommission(master: HBaseSpec, name: str) -> None:
    """Let a region server get regions again, or forget one that has gone. Raises OSError."""
    param = wire.field(1, server(name))
    wire.ask(master.place(MASTER), wire.MASTER, "RecommissionRegionServer", param, LIMIT_S)


def decommissioned(master: HBaseSpec) -> list[str]:
    """The region servers that get no more regions, by their whole names. Raises OSError."""
    answer = wire.ask(master.place(MASTER), wire.MASTER, "ListDecommissionedRegionServers")
    return [whole_name(wire.parse(one)) for one in answer.get(1, []) if isinstance(one, bytes)]


def server(name: str) -> bytes:
    """A region server's "host,port,start time" as a message."""
    host, port, start = name.split(",")
    return wire.field(1, host) + wire.field(2, int(port)) + wire.field(3, int(start))


def in_transition(master: HBaseSpec) -> int:
    """How many regions nobody serves just now, or are about to be moved. Raises OSError."""
    param = wire.field(1, IN_TRANSITION)
    answer = wire.ask(master.place(MASTER), wire.MASTER, "GetClusterStatus", param)
    return len(wire.message(answer, 1).get(4, []))


def held(spec: HBaseSpec, timeout_s: float = 5.0) -> int:
    """How many regions a node serves, HBase's own included. Raises OSError."""
    answer = wire.ask(spec.place(REGIONSERVER), wire.ADMIN, "GetOnlineRegion", timeout_s=timeout_s)
    return len(answer.get(1, []))


def roll_log(spec: HBaseSpec) -> None:
    """Have a region server begin a new file of its log. Raises OSError."""
    wire.ask(spec.place(REGIONSERVER), wire.ADMIN, "RollWALWriter", timeout_s=LIMIT_S)


def shut_down(master: HBaseSpec) -> None:
    """Have all masters and region servers close their regions and end; returns at once. Raises OSError."""
    wire.ask(master.place(MASTER), wire.MASTER, "Shutdown")


def pending(spec: HBaseSpec) -> int:
    """Compactions, flushes and splits of a node that run or wait; raises OSError."""
    return pending_at(spec.web(REGIONSERVER))


def pending_at(web: Place) -> int:
    """Of the region server with this /jmx; raises OSError when there is none."""
    until = time.monotonic() + BEANS_AGAIN_S
    while not (server := jmx.bean(web, jmx.REGIONSERVER)):
        if time.monotonic() > until:
            raise OSError(f"{web} is no region server")
        time.sleep(POLL_S)
    of_regions = jmx.bean(web, jmx.REGIONS)
    waiting = sum(int(server.get(name) or 0) for name in QUEUES)
    working = sum(int(value) for name, value in of_regions.items() if name.endswith(AT_WORK))
    return waiting + working
