"""Which node of a cluster that is somebody else's a machine is, by its addresses."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import polars as pl

from steelyard.results.manifest import Manifest
from steelyard.watch.sources import MACHINE

OTHER = "other"
"""The role of a machine on which no server of the cluster is known; it serves no data."""


def as_node(found: pl.DataFrame, said: dict[str, Any], manifest: Manifest) -> pl.DataFrame:
    """What a whole machine used, as what the node on it did.

    One on which there is no known node, or several, stands in the system's nodes by its own name.

    Args:
        found: what was sampled there.
        said: the machine in the manifest; is told the node's name.
        manifest: whose nodes they are, and who says what is missing.
    """
    nodes = manifest.system.setdefault("nodes", [])
    missing = manifest.host.setdefault("missing", {})
    node = node_at(said, [*nodes, *manifest.system.get("spares", ())])
    if node is None:
        node = str(said["name"])
        nodes.append({"name": node, "address": said["address"], "roles": [OTHER]})
        missing[f"{node}.server_*"] = "not one server of the cluster is known on it"
    missing.pop(f"{node}.{MACHINE}", None)
    said["node"] = node
    return found.filter(source="machine").with_columns(source=pl.lit(node))


def node_at(said: Mapping[str, Any], nodes: list[dict[str, Any]]) -> str | None:
    """The name of the only node at a machine's addresses; None where there is none, or are several."""
    name = str(said["name"]).rpartition("@")[2]
    there = addresses(str(said["address"])) | addresses(name) | addresses(name.rpartition(":")[0].strip("[]"))
    found = {str(node["name"]) for node in nodes if addresses(str(node.get("address", ""))) & there}
    return found.pop() if len(found) == 1 else None


def addresses(host: str) -> set[str]:
    """The addresses of a name, or of an address itself; none where nobody knows it."""
    if not host:
        return set()
    with suppress(OSError, UnicodeError):
        return {str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    return set()
