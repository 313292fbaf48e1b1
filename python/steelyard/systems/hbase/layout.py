"""Which server runs where: nodes, their roles, and the ports they answer at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.hosts.network import Endpoint
from steelyard.hosts.place import Place
from steelyard.spec.hbase import HBaseSystem
from steelyard.systems.node import NodeSpec

ZOOKEEPER, NAMENODE, DATANODE = "zookeeper", "namenode", "datanode"
MASTER, REGIONSERVER, STANDALONE = "master", "regionserver", "standalone"
ON_HDFS = (NAMENODE, DATANODE)
"""What runs on HDFS's own jars."""
DATANODE_PORT_STEP = 20
"""The NameNode knows a DataNode by (remote address, port), and on loopback every connection comes from
127.0.0.1: there the ports of DataNodes differ by this much."""
CLIENT_PORT = "hbase.zookeeper.property.clientPort"
PORTS: dict[str, int] = {
    CLIENT_PORT: 2181,
    "peer": 2888,
    "election": 3888,
    "fs.defaultFS": 8020,
    "dfs.namenode.http-address": 9870,
    "dfs.datanode.address": 9866,
    "dfs.datanode.ipc.address": 9867,
    "dfs.datanode.http.address": 9864,
    "hbase.master.port": 16000,
    "hbase.master.info.port": 16010,
    "hbase.regionserver.port": 16020,
    "hbase.regionserver.info.port": 16030,
}
"""Upstream's ports, by the setting that moves each."""
OF_ROLE: Mapping[str, tuple[str, ...]] = {
    ZOOKEEPER: (CLIENT_PORT,),
    NAMENODE: ("fs.defaultFS", "dfs.namenode.http-address"),
    DATANODE: ("dfs.datanode.address", "dfs.datanode.http.address", "dfs.datanode.ipc.address"),
    MASTER: ("hbase.master.port", "hbase.master.info.port"),
    REGIONSERVER: ("hbase.regionserver.port", "hbase.regionserver.info.port"),
}
"""A role's ports: where it answers its clients, where it answers over http, and others."""
PARTS: Mapping[str, tuple[str, ...]] = {STANDALONE: (ZOOKEEPER, MASTER, REGIONSERVER)}
"""What is inside a process that is more than one role."""


INSIDE, INSIDE_PORT = "127.0.0.1", 22000
"""Where ZooKeeper listens inside a standalone HBase, whatever its settings; the port is its block's own."""


@dataclass(frozen=True)
class HBaseSpec(NodeSpec):
    """Where one node is, and what runs on it.

    Attributes:
        roles: in the order in which they start.
        ports: setting -> port.
    """

    roles: tuple[str, ...] = ()
    ports: Mapping[str, int] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """Its roles, those inside one process one by one."""
        return tuple(part for role in self.roles for part in PARTS.get(role, (role,)))

    def place(self, role: str) -> Place:
        """Where a role answers its clients."""
        inside = role == ZOOKEEPER and STANDALONE in self.roles
        return Place(INSIDE if inside else self.address, self.ports[OF_ROLE[role][0]], self.namespace)

    def web(self, role: str) -> Place:
        """Where a role answers over http."""
        return Place(self.address, self.ports[OF_ROLE[role][1]], self.namespace)

    def listening(self, ensemble: int) -> dict[Endpoint, str]:
        """Where it will listen, each with the setting that moves the port ("" where none does)."""
        found = {
            (self.place(part).address, self.ports[name]): name if name.startswith("hbase.") else ""
            for part in self.parts
            for name in OF_ROLE[part]
        }
        if ZOOKEEPER in self.roles and ensemble > 1:
            found |= {(self.address, self.ports[name]): "" for name in ("peer", "election")}
        return found


def node_specs(
    system: HBaseSystem, block: str, folder: Path, namespaces: Sequence[str], moved: Mapping[str, int], *,
    apart: bool = False,
) -> list[HBaseSpec]:  # fmt: skip
    """The nodes of a cluster: dedicated masters come after the others, spare nodes after those.

    Names of spare nodes follow those of the first nodes; their addresses do not, so that no other node has
    another address for them.

    Args:
        system: what it should be.
        block: its address block, e.g. "127.10.3".
        folder: all its files.
        namespaces: one for each node, or empty.
        moved: ports that the user moved, by setting.
        apart: they are on several machines, each at its machine's address.
    """
    names = [f"node{n}" for n in range(1, system.nodes + 1)]
    names += [f"master{n}" for n in range(1, system.size - system.nodes + 1)]
    names += [f"node{system.nodes + n}" for n in range(1, system.spare + 1)]
    own = {CLIENT_PORT: INSIDE_PORT + int(block.rpartition(".")[2])} if system.standalone else {}
    return [
        HBaseSpec(
            number,
            name,
            f"{block}.{number}",
            folder / name,
            namespaces[number - 1] if namespaces else None,
            _roles(system, name),
            {**PORTS, **own, **moved, **({} if namespaces or apart else _datanode_ports(number))},
        )
        for number, name in enumerate(names, 1)
    ]


def _roles(system: HBaseSystem, name: str) -> tuple[str, ...]:
    if system.standalone:
        return (STANDALONE,)
    number = int(name.removeprefix("master").removeprefix("node"))
    seats = name.startswith("master") or system.roles == "colocated"
    runs = {
        ZOOKEEPER: seats and number <= system.zookeepers,
        NAMENODE: seats and number == 1,
        DATANODE: name.startswith("node"),
        MASTER: seats and number <= system.masters,
        REGIONSERVER: name.startswith("node"),
    }
    return tuple(role for role, there in runs.items() if there)


def _datanode_ports(number: int) -> dict[str, int]:
    return {name: PORTS[name] + DATANODE_PORT_STEP * (number - 1) for name in OF_ROLE[DATANODE]}


def having(specs: Sequence[HBaseSpec], role: str) -> list[HBaseSpec]:
    """The nodes that have a role, be it inside one process with others."""
    return [spec for spec in specs if role in spec.parts]
