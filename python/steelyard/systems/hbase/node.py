"""A node of a local HBase cluster."""

from __future__ import annotations

from steelyard.systems.hbase.layout import HBaseSpec
from steelyard.systems.node import Node
from steelyard.systems.server import Server


class HBaseNode(Node):
    """A node of an HBase cluster."""

    spec: HBaseSpec

    def server(self, role: str) -> Server:
        """Its server of a role it has."""
        return next(server for server in self.servers if server.name == f"{self.name}/{role}")
