"""How many copies HBase's open logs have: HDFS gives a new file fewer than asked for, and does not refuse it.

It leaves out a DataNode that seems busier than twice the mean (`dfs.namenode.redundancy.considerLoad`,
HDFS-17484), or that is gone. HBase does not look: such a log stays as it is until it is rolled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from steelyard.systems.hbase import data
from steelyard.systems.hbase.layout import NAMENODE, HBaseSpec, having

OPENED = re.compile(r"^(?P<path>/\S+) \d+ bytes, replicated: replication=(?P<asked>\d+),.* OPENFORWRITE:")
WRITTEN = re.compile(r"\bExpected_repl=(?P<copies>\d+)")
"""Of the block that is being written: the DataNodes it has, whatever was asked for."""


def copies(told: str) -> dict[str, tuple[int, int]]:
    """Open logs -> copies asked for, copies there are; of what fsck says with `data.OPEN_BLOCKS`."""
    found: dict[str, tuple[int, int]] = {}
    path, asked = "", 0
    for line in told.splitlines():
        if opened := OPENED.match(line):
            path, asked = opened["path"], int(opened["asked"])
        elif path and (written := WRITTEN.search(line)):
            found[path] = (asked, int(written["copies"]))
            path = ""
    return found


def short(specs: Sequence[HBaseSpec]) -> list[str]:
    """A warning where open logs have fewer copies than they should; none without HDFS or its answer."""
    if not having(specs, NAMENODE):
        return []
    try:
        found = copies(data.fsck_says(specs, data.LOGS, data.OPEN_BLOCKS))
    except OSError:
        return []
    return warning(found)


def warning(found: Mapping[str, tuple[int, int]]) -> list[str]:
    """What `copies` found, in words; none where each log has its copies."""
    lacking = [(has, asked) for asked, has in found.values() if has < asked]
    if not lacking:
        return []
    has, asked = min(lacking)
    return [
        f"{len(lacking)} of {len(found)} open logs of HBase have {has} of {asked} copies: HDFS left "
        "DataNodes out when they were opened. A write is acknowledged by that many DataNodes, and costs "
        "less. Roll the logs (wal_roll in HBase's shell), or start the cluster again."
    ]
