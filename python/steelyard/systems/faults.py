"""Faults of machines, done to nodes: cut off from the network, a slow disk, power lost."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from steelyard.errors import InputError, SteelyardError
from steelyard.hosts.cgroup import DiskRates
from steelyard.hosts.say import Say
from steelyard.spec.local import LocalSystem
from steelyard.systems import node
from steelyard.systems.capabilities import Note
from steelyard.systems.node import NodeSpec
from steelyard.systems.running import NodeT, RunningCluster


class FaultyCluster(RunningCluster[NodeT]):
    """A cluster whose nodes can fail as machines do.

    Attributes:
        name: as which the host knows it.
        system: what it is.
    """

    name: str
    system: LocalSystem

    def partition(self, name: str) -> None:
        """Let no packet to a node or from it. Connections are not closed, and its servers know of nothing.

        Raises:
            InputError: it has no network of its own.
        """
        self.host.partition(self.name, self._namespace(self.node(name)))

    def heal(self, name: str) -> None:
        """Join it to the network again; errors as `partition`."""
        self.host.heal(self.name, self._namespace(self.node(name)))

    def _namespace(self, found: NodeT) -> str:
        return found.spec.namespace or _refuse("a node's network is not its own", 'network = "namespaces"')

    def _make_disk(self, spec: NodeSpec) -> None:
        """Give a node a disk of its own, if that was asked for; one that has it keeps it as it is."""
        if self.system.disk_mib:
            self.host_of(spec).mount(self.name, spec.folder, self.system.disk_mib)

    def _sync_disk(self, spec: NodeSpec) -> None:
        """What has been written of a node until now stays when its power is lost, as if it had run for hours:
        HDFS syncs few of its files, and a kernel writes what is older than half a minute by itself."""
        if self.system.disk_mib:
            self.host_of(spec).sync(spec.folder)

    def throttle(self, name: str, rates: DiskRates) -> None:
        """Limit what a node reads and writes on its disk."""
        found = self.node(name)
        found.host.throttle(found.group, rates, found.spec.folder)

    def power_loss(self, names: Sequence[str], note: Note, say: Say) -> None:
        """Cut nodes' power at once, and start them again; returns when all serve.

        Their processes stand still before their disks do, so that nothing is acknowledged in between. Where
        nodes have networks of their own, nobody is told that their connections are gone.

        Args:
            names: which; what each had not synced is lost.
            note: told "down" and "serves".
            say: told what goes on.

        Raises:
            InputError: a node has no disk of its own.
        """
        chosen = [self.node(name) for name in names]
        if self.system.disk_mib is None:
            _refuse("a node's disk is not its own", "disk_mib = 4096")
        self._cut_power(chosen)
        for found in chosen:
            note(found.name, "down")
        say(f"power of {', '.join(names)} is lost")
        for found in chosen:
            found.host.start_disk(found.spec.folder)
            if found.spec.namespace:
                self.host.heal(self.name, found.spec.namespace)
        self._start_again(chosen)
        for found in chosen:
            self._wait_serves(found, say)
        self._wait_counted(chosen)
        for found in chosen:
            note(found.name, "serves")

    def _wait_counted(self, chosen: Sequence[NodeT]) -> None:
        """Wait until the others count nodes that serve again as there, where that is another matter."""

    def _cut_power(self, chosen: Sequence[NodeT]) -> None:
        servers = [server for found in chosen for server in found.servers if server.alive]
        try:
            for server in servers:
                server.send(signal.SIGSTOP)
            for server in servers:
                server.freeze()
        except SteelyardError:  # as if it had not been tried: none stands still for ever
            for server in servers:
                with suppress(SteelyardError):
                    server.send(signal.SIGCONT)
            raise
        for server in servers:
            server.expected_up = False
        for found in chosen:
            if found.spec.namespace:
                self.host.partition(self.name, found.spec.namespace)
        for found in chosen:
            found.host.stop_disk(found.spec.folder)
        if servers:
            node.kill(servers)

    def _start_again(self, chosen: Sequence[NodeT]) -> None:
        """Start all servers of nodes that have stopped; returns when that can be waited for node by node."""
        for found in chosen:
            found.start()


def _refuse(what: str, way_out: str) -> NoReturn:
    raise InputError(what, hint=f"give the cluster {way_out}")
