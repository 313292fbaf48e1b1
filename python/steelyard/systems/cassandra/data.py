"""A node's data at rest: which files they are, which of them never change, and what the node tells."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from steelyard.hosts.files import Entry
from steelyard.hosts.snapshots import Rules
from steelyard.systems.cassandra.cql_probe import ask, texts
from steelyard.systems.cassandra.node import LocalNode

WRITTEN_ONCE = ("-Data.db", "-Index.db", "-Partitions.db", "-Rows.db", "-CompressionInfo.db", "-Digest.crc32")
"""Components of an SSTable that no release writes again. Statistics, Summary, Filter and TOC it may."""
WHO = "SELECT host_id, tokens FROM system.local"
LIVE = "read org.apache.cassandra.metrics:type=Table,keyspace={},scope={},name=LiveSSTableCount Value"


def written_once(path: PurePosixPath) -> bool:
    """Whether a file of a node is a part of a user's SSTable that never changes."""
    parts = path.parts
    mine = len(parts) == 4 and parts[0] == "data" and not parts[1].startswith("system")
    return mine and path.name.endswith(WRITTEN_ONCE)


RULES = Rules(("data", "commitlog", "hints", "saved_caches", "cdc_raw", "login"), written_once)


def holding(node: LocalNode, agent_port: int) -> dict[str, Any]:
    """Who a node is and which files of users' tables it has.

    Returns:
        `address`, `host_id`, `tokens`, and `tables` {KEYSPACE/TABLE: {`sstables`, `files`, `bytes`, `live`}}:
        what is there of components that never change, and how many SSTables the server itself has opened.

    Raises:
        OSError, InfrastructureError: it does not answer.
    """
    host_id, tokens = ask(node.place, WHO)[0]
    found = tables(node.host.list(node.spec.folder / "data", "*/*/*"))
    for name, table in found.items():
        words = LIVE.format(*name.split("/"))
        agent = (node.spec.agent_address, agent_port)
        told = node.host.ask_agent(agent, words, namespace=node.spec.namespace)
        table["live"] = int(told["value"])
    return {
        "address": node.spec.address,
        "host_id": str(UUID(bytes=host_id)),
        "tokens": texts(tokens or b""),
        "tables": found,
    }


def tables(listed: Iterable[Entry]) -> dict[str, dict[str, int]]:
    """Users' tables of a node -> SSTables, files and bytes of their components that never change."""
    found: dict[str, dict[str, int]] = {}
    for entry in listed:
        inside = PurePosixPath("data", entry.path)
        if written_once(inside):
            table = found.setdefault(
                "/".join(inside.parts[1:3]).rpartition("-")[0], {"sstables": 0, "files": 0, "bytes": 0}
            )
            table["sstables"] += inside.name.endswith("-Data.db")
            table["files"] += 1
            table["bytes"] += entry.size
    return found
