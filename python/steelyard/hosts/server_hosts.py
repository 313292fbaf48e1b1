"""Machines that have the nodes of a cluster between them, and this one, which drives and watches it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.errors import InfrastructureError
from steelyard.hosts.host import Host, HostLostError, Watch
from steelyard.hosts.local import LocalHost
from steelyard.hosts.snapshots import Snapshot
from steelyard.watch.target import WatchTarget

if TYPE_CHECKING:
    import polars as pl

HOSTS = "hosts"
"""Of what shaped kept data, the addresses of the machines that have a part of them."""


@dataclass(frozen=True)
class ServerHost:
    """A machine that has nodes of clusters.

    Attributes:
        name: what it is called.
        host: it.
        address: where other machines reach what listens on it; its nodes have no other.
        folder: clusters' folders are made in it; a path of that machine.
    """

    name: str
    host: Host
    address: str
    folder: Path


class _WithOthers(LocalHost):
    """This machine, which does what a host does, and others beside it.

    Args:
        machines: the others.
    """

    def __init__(self, machines: Sequence[ServerHost]) -> None:
        super().__init__()
        self.machines = tuple(machines)


class ServerHosts(_WithOthers):
    """This machine, where clusters are laid over others: node k of N is on the k-th, from the first on again.

    Whatever is not about a node is this machine's.
    """

    role = "server"
    """What the manifest calls them."""

    def end_leftovers(self) -> list[str]:
        """See `Host`; on all of them."""
        there = [(machine.name, said) for machine in self.machines for said in machine.host.end_leftovers()]
        return [*super().end_leftovers(), *(f"{name}: {said}" for name, said in there)]

    def drop_page_cache(self) -> None:
        """See `Host`; of each of them, whether it has a node just now or not."""
        for machine in self.machines:
            machine.host.drop_page_cache()

    # --- kept data: each machine has those of its nodes ---

    def snapshot(self, key: str) -> Snapshot | None:
        """See `Host`. Where a machine lacks its part, or has another load's, nothing is kept any more."""
        found = {machine.address: machine.host.snapshot(key) for machine in self.machines}
        parts = {address: part for address, part in found.items() if part}
        if not parts:
            return None
        first = next(iter(parts.values()))
        loads = {part.load["id"] for part in parts.values()}
        if parts.keys() == set(first.shape["result"][HOSTS]) and len(loads) == 1:
            return joined(list(parts.values()))
        for machine in self.machines:
            machine.host.drop_snapshot(key)
        return None

    def check_room(self, beside: Path, needed: int, loaded: int) -> None:  # noqa: ARG002 - they are elsewhere
        """See `Host`; each machine has its share."""
        share = len(self.machines)
        for machine in self.machines:
            machine.host.check_room(machine.folder, needed // share, loaded // share)

    def watch(
        self,
        targets: Sequence[WatchTarget],
        engines: Mapping[str, int],
        *,
        spool: Path | None = None,
    ) -> JoinedWatch:
        """See `Host`: each node is sampled where it runs."""
        own = super().watch([], engines, spool=spool)
        found = JoinedWatch(own, {machine.name: machine.host.watch([], {}) for machine in self.machines})
        found.retarget(targets)
        return found


class WatchedHosts(_WithOthers):
    """This machine, and others that are only sampled: those of a cluster that is somebody else's.

    Its nodes are asked from here. A machine that cannot be sampled is left out.
    """

    role = "watched"
    """What the manifest calls them."""

    def watch(
        self,
        targets: Sequence[WatchTarget],
        engines: Mapping[str, int],
        *,
        spool: Path | None = None,
    ) -> JoinedWatch:
        """See `Host`."""
        own, there = super().watch(targets, engines, spool=spool), dict[str, Watch]()
        for machine in self.machines:
            with suppress(InfrastructureError):
                there[machine.name] = machine.host.watch([], {})
        found = JoinedWatch(own, there)
        found.retarget(targets)
        return found


def joined(parts: Sequence[Snapshot]) -> Snapshot:
    """What several machines keep of one cluster, as one snapshot; it is restored part by part."""
    nodes = tuple(name for part in parts for name in part.nodes)
    size, files = sum(part.bytes for part in parts), sum(part.files for part in parts)
    return replace(parts[0], nodes=nodes, bytes=size, files=files)


class JoinedWatch:
    """Sampling under way on several machines; see `Watch`.

    Attributes:
        there: machine -> what is sampled on it.
    """

    def __init__(self, own: Watch, there: Mapping[str, Watch]) -> None:
        self._own, self.there = own, there
        self._where: dict[str, str] = {}

    @property
    def missing(self) -> Mapping[str, str]:
        """See `Watch`: of the nodes and of this machine; `host.NAME` is a machine that was lost."""
        found, ours = dict(self._own.missing), tuple(f"{name}." for name in self._where)
        for name, watch in self.there.items():
            try:
                told = watch.missing
            except HostLostError:
                told, found[f"host.{name}"] = {}, "it was lost, and with it what was sampled there at last"
            found |= {what: why for what, why in told.items() if what.startswith(ours)}
        return found

    def retarget(self, targets: Sequence[WatchTarget]) -> None:
        """See `Watch`."""
        self._where |= {target.name: target.host for target in targets}
        self._own.retarget([target for target in targets if target.host not in self.there])
        for name, watch in self.there.items():
            with suppress(HostLostError):
                watch.retarget([target for target in targets if target.host == name])

    def sample_from(self, t_ns: int) -> None:
        """See `Watch`."""
        self._own.sample_from(t_ns)
        for watch in self.there.values():
            with suppress(HostLostError):
                watch.sample_from(t_ns)

    def latest(self, source: str, metric: str) -> float | None:
        """See `Watch`."""
        try:
            return self.there.get(self._where.get(source, ""), self._own).latest(source, metric)
        except HostLostError:
            return None

    def stop(self) -> None:
        """See `Watch`."""
        self._own.stop()
        for watch in self.there.values():
            with suppress(HostLostError):
                watch.stop()

    def frame(self, start: int = 0) -> pl.DataFrame:
        """See `Watch`: of this machine; the others' are in `there`."""
        return self._own.frame(start)

    def write(self, path: Path) -> None:
        """See `Watch`: of this machine, as `frame`."""
        self._own.write(path)

    def cost(self) -> Mapping[str, float]:
        """See `Watch`: on this machine."""
        return self._own.cost()

    @property
    def nodes(self) -> frozenset[str]:
        """The names of all nodes that were ever watched."""
        return frozenset(self._where)
