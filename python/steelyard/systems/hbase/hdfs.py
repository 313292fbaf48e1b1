"""What an administrator asks of HDFS: which DataNodes are to leave it, and how far they are."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.hosts.host import Host
from steelyard.spec.hbase import HBaseSystem
from steelyard.systems.hbase import hadoop_rpc, jmx
from steelyard.systems.hbase.layout import DATANODE, NAMENODE, HBaseSpec, having

EXCLUDED = "conf/excluded"
"""The file, below the NameNode's folder, of DataNodes that are to hold nothing."""
LIVE = "Hadoop:service=NameNode,name=NameNodeInfo"
EMPTY = "Decommissioned"


@dataclass(frozen=True)
class DataNode:
    """A DataNode as the NameNode knows it.

    Attributes:
        address: its remote address and port, by which it is excluded.
        state: "In Service", "Decommission In Progress" or "Decommissioned".
        bytes: what its blocks take.
    """

    address: str
    state: str
    bytes: int


def any_node(system: HBaseSystem, *, apart: bool) -> list[str]:
    """That copies lie on any node, where the NameNode sees all nodes at one address: it puts the first copy
    of a file on a DataNode of the writer's (BlockPlacementPolicyDefault)."""
    if apart or system.network == "namespaces" or system.copies >= system.nodes:
        return []
    copies = "the copy" if system.copies == 1 else f"the {system.copies} copies"
    return [
        f"HDFS takes the {system.nodes} nodes of this host for one machine and puts {copies} of a file, logs "
        "too, on any of them, not on the writer's own: by chance one node serves the logs of several. As "
        'root, network = "namespaces" gives each an address of its own.'
    ]


def name_node(specs: Sequence[HBaseSpec]) -> HBaseSpec:
    """The node of the NameNode."""
    (found,) = having(specs, NAMENODE)
    return found


def excluded_file(names: HBaseSpec) -> Path:
    """Where the NameNode reads who is excluded."""
    return names.folder / EXCLUDED


def data_nodes(names: HBaseSpec) -> dict[str, DataNode]:
    """The DataNodes that live, by "address:port" of their settings; raises OSError."""
    told = jmx.bean(names.web(NAMENODE), LIVE).get("LiveNodes")
    if told is None:
        raise OSError("the NameNode does not tell its DataNodes")
    return parsed(json.loads(told))


def parsed(live: Mapping[str, Mapping[str, object]]) -> dict[str, DataNode]:
    """`LiveNodes` of the NameNode's /jmx."""
    return {
        name: DataNode(str(node["xferaddr"]), str(node["adminState"]), int(str(node["blockPoolUsed"])))
        for name, node in live.items()
    }


def data_node(names: HBaseSpec, spec: HBaseSpec) -> DataNode:
    """A node's DataNode; raises OSError when the NameNode counts it not as alive."""
    found = data_nodes(names).get(str(spec.place(DATANODE)))
    if found is None:
        raise OSError(f"the NameNode does not know {spec.name}'s DataNode")
    return found


def exclude(host: Host, names: HBaseSpec, addresses: Collection[str]) -> None:
    """Have these DataNodes, and no others, be emptied: all they hold is copied elsewhere. Raises OSError."""
    host.put(excluded_file(names), "".join(f"{address}\n" for address in sorted(addresses)))
    hadoop_rpc.ask(names.place(NAMENODE), "refreshNodes")
