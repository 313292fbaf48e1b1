"""How a node of a Cassandra cluster is now."""

from __future__ import annotations

from steelyard.hosts.host import Host
from steelyard.hosts.records import Record
from steelyard.systems.cassandra.config import LOOPBACK
from steelyard.systems.cassandra.cql_probe import answers
from steelyard.systems.cassandra.login import CqlPlace, Login
from steelyard.systems.cassandra.ring import normal_members
from steelyard.systems.status import Heap, NodeStatus, Recorded, node_status


def status(host: Host, record: Record, node: Recorded) -> NodeStatus:
    """Its datacenter and rack, and how many members it sees as normal."""
    place = CqlPlace(node["address"], node["port"], node["namespace"], Login.of(node.get("login", {})))
    return node_status(
        host,
        record,
        node,
        address=str(place),
        place=f"{node['datacenter']}/{node['rack']}",
        answer=lambda: answers(place),
        sees=lambda: f"{normal_members(place)}/{len(record.nodes)}",
        heap=lambda: _heap(host, node),
    )


def _heap(host: Host, node: Recorded) -> Heap:
    if not node["agent_port"]:
        return None
    agent = (LOOPBACK if node.get("host") else node["address"], node["agent_port"])
    answer = host.ask_agent(agent, "metrics", 2.0, node["namespace"])
    metrics = answer.get("metrics", {})
    used, most = metrics.get("server_heap_used_bytes"), metrics.get("server_heap_max_bytes")
    return (int(used), int(most)) if used and most else None
