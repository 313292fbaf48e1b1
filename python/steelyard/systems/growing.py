"""A local cluster's nodes that come and go while it serves: what was reserved is made, and given back.

Threads may ask for its nodes meanwhile: the lists are replaced, never changed.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.errors import InputError, nearest
from steelyard.hosts.cgroup import Group
from steelyard.hosts.host import Host
from steelyard.hosts.network import Endpoint
from steelyard.spec.local import LocalSystem
from steelyard.systems.faults import FaultyCluster
from steelyard.systems.node import NodeSpec
from steelyard.systems.running import NodeT

MADE_ANEW = ("conf", "logs")
"""Folders of a node that are there before its servers are."""
LOGS = "logs"


class GrowingCluster(FaultyCluster[NodeT]):
    """A cluster with nodes in reserve.

    Attributes:
        specs: the nodes that are part of it.
        reserve: those that are not and may be, in the order in which they join.
        left: nodes that were part of it and are not; their logs stay.
    """

    name: str
    folder: Path
    system: LocalSystem

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.specs: list[NodeSpec] = []
        self.reserve: list[NodeSpec] = []
        self.left: list[NodeT] = []
        self._changing = threading.Lock()

    @abstractmethod
    def _listening(self, spec: NodeSpec) -> Mapping[Endpoint, str]:
        """Where a node's servers will listen, each with the setting that moves its port."""

    @abstractmethod
    def _recorded(self, spec: NodeSpec) -> dict[str, Any]:
        """A node as the cluster's record keeps it."""

    @abstractmethod
    def _make_node(self, spec: NodeSpec, group: Group) -> NodeT:
        """Write a node's files and name its servers."""

    # --- who is in, and who may come ---

    def spares(self) -> Sequence[str]:
        """The names of the nodes in reserve, in the order in which they join."""
        return [spec.name for spec in self.reserve]

    def members(self) -> Sequence[str]:
        """The names of the nodes that can leave, the last joined last."""
        return [found.name for found in self.nodes]

    def spare_cpu(self) -> dict[str, float | None]:
        """The CPU quota, in cores, that each node in reserve will have."""
        return {spec.name: self.system.limits_of(spec.name).cpu for spec in self.reserve}

    def spare_facts(self) -> list[dict[str, str]]:
        """Who may join, and where clients will then see them."""
        return [{"name": spec.name, "address": spec.address} for spec in self.reserve]

    def _collected(self) -> Sequence[NodeT]:
        """Those that left have logs, too."""
        here = {found.name for found in self.nodes}
        return [*self.nodes, *(found for found in self.left if found.name not in here)]

    # --- coming and going ---

    def _grow(
        self, names: Sequence[str], make: Callable[[NodeSpec, Group], NodeT], *, limited: bool
    ) -> list[NodeT]:
        """Make nodes of the reserve, which are part of the cluster, its record and its targets from then on.

        Args:
            names: theirs.
            make: writes a node's files and names its servers, as `_make_node`.
            limited: their CPU quota is set now, not by `_limit_node` later.

        Returns:
            The nodes; none of their servers is started.

        Raises:
            InputError: no such node in reserve. InfrastructureError: a port is taken, a limit cannot be set.
        """
        specs = self._take(names)
        try:
            made = [self._make_later(spec, make) for spec in specs]
            for found in made if limited else ():
                self._limit_node(found)
        except BaseException:
            with self._changing:
                self._give_back(specs)
            raise
        with self._changing:
            self.specs, self.nodes = [*self.specs, *specs], [*self.nodes, *made]
            self._note_nodes()
        return made

    def _shrink(self, gone: Sequence[NodeT]) -> None:
        """Nodes whose servers have ended are no part of the cluster any more, and spare."""
        with self._changing:
            self.nodes = [found for found in self.nodes if found not in gone]
            self.specs = [spec for spec in self.specs if spec not in [found.spec for found in gone]]
            self.left = [*self.left, *gone]
            for found in gone:
                self.cpu.pop(found.name, None)
            self._give_back([found.spec for found in gone])
            self._note_nodes()

    def _take(self, names: Sequence[str]) -> list[NodeSpec]:
        with self._changing:
            spare = {spec.name: spec for spec in self.reserve}
            for name in names:
                if name not in spare:
                    raise InputError(
                        f"there is no spare node {name!r}{nearest(name, spare)}",
                        hint=f"there are: {', '.join(spare) or 'none; spare = N reserves some'}",
                    )
            self.reserve = [spec for spec in self.reserve if spec.name not in names]
        return [spare[name] for name in names]

    def _give_back(self, specs: Sequence[NodeSpec]) -> None:
        self.reserve = sorted([*self.reserve, *specs], key=lambda spec: spec.number)

    def _make_later(self, spec: NodeSpec, make: Callable[[NodeSpec, Group], NodeT]) -> NodeT:
        host = self.host_of(spec)
        for part in {found.path.split("/")[0] for found in host.list(spec.folder, "*")} - self._kept():
            host.remove(spec.folder / part)
        self._make_disk(spec)
        for part in MADE_ANEW:
            host.make_folder(spec.folder / part)
        if spec.namespace is None:
            host.check_ports(self._listening(spec))
        group = host.make_group(self.name, spec.name)
        limits = self.system.limits_of(spec.name)
        host.limit(group, limits, spec.folder)
        if limits.cpu:
            host.limit_cpu(group, None)  # a group of an earlier life has its quota
        made = make(spec, group)
        self._sync_disk(spec)
        return made

    def _kept(self) -> set[str]:
        """Folders that outlive a node's leaving: the log of its first life tells of it."""
        return {LOGS}

    def _limit_node(self, found: NodeT) -> None:
        """Set a node's CPU quota."""
        cores = self.system.limits_of(found.name).cpu
        self.cpu = {**self.cpu, found.name: cores}
        if cores:
            found.host.limit_cpu(found.group, cores)

    @abstractmethod
    def _note_nodes(self) -> None:
        """Record what its nodes are now."""
