"""A local HBase cluster as its administrator sees it: the active master, HDFS's exclusions, who is missed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from steelyard.errors import InfrastructureError
from steelyard.spec.hbase import HBaseSystem
from steelyard.systems.cluster import LocalCluster
from steelyard.systems.hbase import admin, hdfs, serving
from steelyard.systems.hbase.layout import REGIONSERVER, HBaseSpec
from steelyard.systems.hbase.node import HBaseNode
from steelyard.systems.server import Server

Answer = TypeVar("Answer")
ANSWERS_S = 1.0
"""A server that is counted and does not answer for so long has hung: an action is not kept waiting for it."""
MOVE_LIMIT_S = 3600.0
"""Regions and blocks take as long as they take; the action's own limit is the one that users set."""


class AdministeredHBase(LocalCluster[HBaseNode]):
    """What joining and leaving stand on."""

    system: HBaseSystem
    _excluded: Mapping[str, str] = {}
    """Nodes that have left HDFS -> their DataNodes' addresses."""

    @abstractmethod
    def _wait_registered(self, region_servers: Sequence[HBaseSpec], servers: Sequence[Server]) -> None:
        """Wait until a master counts these region servers, and the cluster serves."""

    @property
    def _layout(self) -> list[HBaseSpec]:
        return [spec for spec in self.specs if isinstance(spec, HBaseSpec)]

    def _master(self) -> HBaseSpec:
        """The active master's node; raises InfrastructureError while there is none."""
        master = serving.active_master(self._layout)
        if master is None:
            raise InfrastructureError("no master is active")
        return master

    def _ask(self, call: Callable[[], Answer], what: str) -> Answer:
        try:
            return call()
        except OSError as error:
            raise InfrastructureError(f"{what}: {error}") from error

    def _while_up(self, ready: Callable[[], bool], what: str) -> Callable[[], bool]:
        """A condition that is given up, saying what is not so, once no region server is alive any more."""

        def asked() -> bool:
            if ready():
                return True
            if not self.serves():
                raise InfrastructureError(f"{what}, and no region server is alive any more")
            return False

        return asked

    def _exclude(self, wanted: Mapping[str, str]) -> None:
        """Have HDFS empty these DataNodes, and no others."""
        names = hdfs.name_node(self._layout)
        self._ask(
            lambda: hdfs.exclude(self.host_of(names), names, wanted.values()), "HDFS excludes no DataNode"
        )
        self._excluded = wanted

    def members(self) -> Sequence[str]:
        """The names of its region servers' nodes, the last joined last."""
        return [found.name for found in self.nodes if REGIONSERVER in found.spec.parts]

    def missed(self, node: str) -> bool:
        """Whether the active master counts a node's region server as dead. See `capabilities.Detects`."""
        place = self.node(node).spec.place(REGIONSERVER)
        master = serving.active_master(self._layout)
        try:
            there = serving.registered(master) if master else None
        except OSError:
            return False
        own = f"{place.address},{place.port},"
        return there is not None and not any(name.startswith(own) for name in there)

    def served(self) -> int:
        """How many regions are served, HBase's own included. See `capabilities.Reassigns`."""
        master = self._master()
        if moving := admin.in_transition(master):
            raise InfrastructureError(f"{moving} regions are in transition")
        counted = {name.rpartition(",")[0] for name in serving.registered(master)}
        specs = [found.spec for found in self.nodes if REGIONSERVER in found.spec.parts]
        places = [(spec, spec.place(REGIONSERVER)) for spec in specs]
        return sum(admin.held(spec, ANSWERS_S) for spec, at in places if f"{at.address},{at.port}" in counted)


def answered(ask: Callable[[], bool]) -> Callable[[], bool]:
    """A condition that does not hold while a server does not answer, or no master is active."""

    def asked() -> bool:
        try:
            return ask()
        except (OSError, InfrastructureError):
            return False

    return asked
