"""A node of a Cassandra cluster: one server, and where it answers CQL."""

from __future__ import annotations

from steelyard.hosts.cgroup import Group
from steelyard.hosts.process import Identity
from steelyard.systems.cassandra.config import CassandraSpec
from steelyard.systems.cassandra.login import CqlPlace
from steelyard.systems.node import Node
from steelyard.systems.server import Server


class LocalNode(Node):
    """A node, on a host.

    Args:
        spec: where it is.
        group: its control group.
        server: its server.
        place: where it answers CQL, and how one gets in there.
    """

    spec: CassandraSpec

    def __init__(self, spec: CassandraSpec, group: Group, server: Server, place: CqlPlace) -> None:
        super().__init__(spec, group, [server])
        self.server, self.place = server, place

    @property
    def identity(self) -> Identity | None:
        """Its server's process."""
        return self.server.identity
