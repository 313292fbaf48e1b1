"""Every kind of system that Steelyard has; a further one is one line more."""

from __future__ import annotations

from steelyard.systems.cassandra.kind import Cassandra, CqlHosts
from steelyard.systems.engine_kinds import Embedded, Null
from steelyard.systems.hbase.kind import HBase, HBaseHosts
from steelyard.systems.kind import SystemKind

KINDS: tuple[SystemKind, ...] = (
    Null(),
    Embedded(),
    Cassandra(),
    CqlHosts(),
    HBase(),
    HBaseHosts(),
)
