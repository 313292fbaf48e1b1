"""What can be seen of, and done to, a local cluster while it runs."""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

from steelyard.errors import InputError, nearest
from steelyard.hosts.host import Host, HostLostError
from steelyard.hosts.say import Say
from steelyard.systems import node
from steelyard.systems.base import Death
from steelyard.systems.node import Node, NodeSpec
from steelyard.systems.server import STOP_GRACE_S, Server, ServerSpec

NodeT = TypeVar("NodeT", bound=Node)


class RunningCluster(ABC, Generic[NodeT]):
    """Nodes on a host, and signals to them. A name is a node's, or one server's: "node1/datanode".

    Attributes:
        host: where they are; of several machines that is asked of each node.
        nodes: they.
        cpu: node -> its CPU quota in cores.
    """

    def __init__(self, host: Host) -> None:
        self.host = host
        self.nodes: list[NodeT] = []
        self.cpu: dict[str, float | None] = {}

    @abstractmethod
    def _wait_serves(self, found: NodeT, say: Say) -> None:
        """Wait until a node that was started again serves."""

    def host_of(self, spec: NodeSpec | ServerSpec) -> Host:  # noqa: ARG002 - clusters over several look at it
        """The machine of a node, or of a server."""
        return self.host

    @property
    def servers(self) -> list[Server]:
        """All its servers."""
        return [server for found in self.nodes for server in found.servers]

    def dead(self) -> Sequence[Death]:
        """Each server that died unasked, and is dead now."""
        gone = [server for server in self.servers if server.expected_up and not server.alive]
        return [Death(server.name, server.why_dead(), server.identity) for server in gone]

    def serves(self) -> bool:
        """Whether any server that clients ask is alive."""
        return any(server.alive for server in self.servers if self._is_asked(server))

    def _is_asked(self, server: Server) -> bool:  # noqa: ARG002 - of some kinds only servers of one role
        """Whether clients ask this server."""
        return True

    def kill_servers(self) -> None:
        """In a hurry: no server is asked to leave, so that `down` finds them gone."""
        for server in self.servers:
            with suppress(HostLostError):
                if server.identity:
                    server.host.signal(server.identity, signal.SIGKILL)

    def collect(self, into: Path) -> None:
        """Copy each node's configuration and logs to `into/NODE/`."""
        for found in self._collected():
            with suppress(HostLostError):
                for part in ("conf", "logs"):
                    found.host.fetch(found.spec.folder / part, into / found.name / part)

    def _collected(self) -> Sequence[NodeT]:
        """Nodes whose logs are kept."""
        return self.nodes

    def node(self, name: str) -> NodeT:
        """A node by its name; raises InputError if there is none."""
        for found in self.nodes:
            if found.name == name:
                return found
        raise self._no_such(name, [found.name for found in self.nodes])

    def chosen(self, name: str) -> list[Server]:
        """The servers that a name means; raises InputError if it means none."""
        one = [server for server in self.servers if server.name == name]
        if one or "/" not in name:
            return one or list(self.node(name).servers)
        raise self._no_such(name, [server.name for server in self.servers])

    def _no_such(self, name: str, known: Sequence[str]) -> InputError:
        return InputError(
            f"there is no node {name!r}{nearest(name, known)}", hint=f"there are: {', '.join(known)}"
        )

    def kill(self, name: str) -> None:
        """kill -9 of all servers of a node, or of one."""
        node.kill(self.chosen(name))

    def freeze(self, name: str) -> None:
        """SIGSTOP: connections are held and, from its return on, nothing is answered."""
        for server in self.chosen(name):
            server.freeze()

    def thaw(self, name: str) -> None:
        """Let what is frozen go on."""
        for server in self.chosen(name):
            server.send(signal.SIGCONT)

    def restart(self, name: str, say: Say = lambda _: None) -> None:
        """Start again (stopping what still runs) on the same data; returns when it serves."""
        servers = self.chosen(name)
        node.stop([server for server in servers if server.alive], STOP_GRACE_S)
        for server in servers:
            server.start()
        self._wait_serves(self.node(name.partition("/")[0]), say)

    def resize(self, name: str, cpu: float | None) -> None:
        """Change a node's CPU quota, in cores, while it runs; None lifts it."""
        found = self.node(name)
        found.host.limit_cpu(found.group, cpu)
        self.cpu = {**self.cpu, name: cpu}
