"""What all local clusters have in common: claimed, brought up, changed while they run, always taken down.

A kind of cluster says what its nodes are, writes their files, names their servers and knows when they serve.
Everything else - address blocks, ports, records, control groups, namespaces, limits, a start that fails - is
here, and in `running` what can be done to it later.
"""

from __future__ import annotations

import shutil
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import ceil
from os import cpu_count
from pathlib import Path
from time import monotonic
from typing import Any

from steelyard.errors import InfrastructureError, InputError, SteelyardError
from steelyard.folders import state_folder
from steelyard.hosts import cgroup, namespaces, network, records
from steelyard.hosts.network import Endpoint
from steelyard.hosts.process import Identity, end
from steelyard.hosts.say import Say
from steelyard.spec.local import LocalSystem, NodeLimits
from steelyard.systems.node import NodeSpec
from steelyard.systems.running import NodeT, RunningCluster
from steelyard.systems.server import Server, ServerSpec
from steelyard.systems.snapshot import store
from steelyard.systems.snapshot.restorable import Restorable

START_LIMIT_S = 180.0
"""For one step of a start; a slow, shared machine needs a tenth of it."""


class LocalCluster(Restorable, RunningCluster[NodeT]):
    """A cluster of real servers on this host.

    Args:
        system: what it should be.
        name: its name: of its record, control groups and namespaces.
        root: its nodes' folders are made in ROOT/NAME, which is removed with the cluster.
        owner: the process it belongs to; None = it stays until `cluster down`.

    Raises:
        InputError: a name or size that cannot be.
    """

    kind: str
    down_grace_s = records.GRACE_S
    """How long its servers may take to end when the cluster goes, and its data with it."""

    def __init__(self, system: LocalSystem, *, name: str, root: Path, owner: Identity | None) -> None:
        super().__init__()
        self.system, self.name = system, records.checked_name(name)
        self.folder, self.owner = root.absolute() / name, owner
        self.specs: list[NodeSpec] = []
        self.record: records.Record | None = None
        self.up_seconds: float | None = None
        self._warnings: list[str] = []
        if system.size > network.NODES_MAX:
            raise InputError(f"{system.size} nodes; one cluster has at most {network.NODES_MAX}")

    # --- what a kind of cluster says ---

    @abstractmethod
    def _fetch(self, say: Say) -> None:
        """Find Java, and fetch what the servers are made of; nothing is recorded yet."""

    @abstractmethod
    def _specs(self, block: str, spaces: Sequence[str]) -> Sequence[NodeSpec]:
        """Its nodes in an address block; `spaces` are their namespaces, or empty."""

    @abstractmethod
    def _listening(self, spec: NodeSpec) -> Mapping[Endpoint, str]:
        """Where a node's servers will listen, each with the setting that moves its port."""

    @abstractmethod
    def _recorded(self, spec: NodeSpec) -> dict[str, Any]:
        """A node as the cluster's record keeps it."""

    @abstractmethod
    def _make_node(self, spec: NodeSpec, group: cgroup.Group) -> NodeT:
        """Write a node's files and name its servers."""

    @abstractmethod
    def _start(self, say: Say) -> None:
        """Start all servers; returns when the cluster serves."""

    def _after_up(self, say: Say) -> None:
        """Anything for the next start."""

    # --- its life ---

    def up(self, say: Say) -> None:
        """Bring the cluster up; returns when it serves. See `Testbed.up`."""
        start = monotonic()
        self.nodes = []  # it may have been up before
        records.end_leftovers(say)
        self._fetch(say)
        try:
            self._claim()
            with self.placing(say):
                self._prepare()
            self._start(say)
            self.wait_same(say)
            self._limit_cpu()
        except BaseException as error:
            self._fail(say, error)
            raise
        self.up_seconds = monotonic() - start
        self._after_up(say)

    def down(self, say: Say) -> None:
        """Take it down: SIGTERM to all, SIGKILL to what stays; then folders, groups and namespaces."""
        record, self.record = self.record, None
        if record is None:
            return
        say(f"stopping {self.name}")
        for server in self.servers:
            server.expected_up = False
        with suppress(OSError):
            record.release()
        for server in self.servers:
            server.reap()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _fail(self, say: Say, error: BaseException) -> None:
        if self.record is None:
            return
        kept = state_folder() / "failed" / self.name
        with suppress(OSError):
            shutil.rmtree(kept, ignore_errors=True)
            self.collect(kept)
        end([server.identity for server in self.servers if server.identity], grace_s=0.0)
        self.down(say)
        if isinstance(error, SteelyardError) and error.hint is None:
            error.hint = f"logs and configuration are kept in {kept}"

    def _claim(self) -> None:
        """Take a name and an address block, and write both down, before anything is made."""
        namespaced = self.system.network == "namespaces"
        with records.locked():
            known = records.records()
            if any(other.name == self.name for other in known):
                raise InputError(
                    f"a cluster named {self.name!r} is up", hint=f"steelyard cluster down {self.name}"
                )
            block = self._block({other.block: other.name for other in known}, namespaced=namespaced)
            spaces = namespaces.names(self.name, self.system.size) if namespaced else []
            self.specs = list(self._specs(block, spaces))
            for spec in [] if namespaced else self.specs:
                network.check_ports(self._listening(spec))
            self.record = records.Record(self.name, self.kind, str(self.folder), block, self.owner)
            self.record.grace_s = self.down_grace_s
            self.record.system = self.system.model_dump(mode="json")
            self.record.nodes = [self._recorded(spec) for spec in self.specs]
            self.record.namespaces = spaces
            self.record.save()

    def _block(self, taken: Mapping[str, str], *, namespaced: bool) -> str:
        """Its snapshot's address block, else a free one; `taken` are other clusters' blocks and names."""
        if self.origin is None:
            return network.free_block(taken, namespaced=namespaced, wanted=store.blocks())
        if (block := self.origin.block) in taken:
            raise InfrastructureError(
                f"snapshot {self.origin.key} is restored to the addresses {block}.*, but cluster "
                f"{taken[block]} has them",
                hint=f"wait for it, or steelyard cluster down {taken[block]}",
            )
        return block

    def _prepare(self) -> None:
        record = self._running()
        if record.namespaces:
            namespaces.make(self.name, record.block, self.system.size)
        for spec in self.specs:
            group = cgroup.make(self.name, spec.name)
            record.cgroups += [str(folder) for folder in group.folders.values()]
            record.save()
            shutil.rmtree(spec.folder, ignore_errors=True)
            for part in ("conf", "logs"):
                (spec.folder / part).mkdir(parents=True)
            self.place(spec.name)
            self._limit(group, self.system.limits_of(spec.name))
            self.nodes.append(self._make_node(spec, group))

    def _server(self, spec: ServerSpec, group: cgroup.Group) -> Server:
        """A server whose processes are recorded, and in its node's group, from their first instruction."""

        def before(name: str, found: Identity) -> None:
            record = self._running()
            record.processes[name] = found
            record.save()
            group.add(found.pid)

        return Server(spec, before, die_with_us=self.owner is not None)

    def _running(self) -> records.Record:
        if self.record is None:
            raise InfrastructureError(f"cluster {self.name} is not up")
        return self.record

    @property
    def block(self) -> str:
        """Its address block; raises InfrastructureError when it is not up."""
        return self._running().block

    # --- limits ---

    @property
    def cores(self) -> int:
        """What servers are told of the machine's size, so that their pools fit their node's CPU quota."""
        cpu = self.system.limits.cpu
        return max(1, ceil(cpu)) if cpu else cpu_count() or 1

    def _limit(self, group: cgroup.Group, limits: NodeLimits) -> None:
        if limits.memory_mib:
            group.limit_memory(limits.memory_mib)
        if limits.model_dump(exclude={"cpu", "memory_mib"}, exclude_none=True):
            group.limit_disk(limits, cgroup.device_of(self.folder))

    def _limit_cpu(self) -> None:
        """The CPU quota comes last: a start within it takes several times as long, and says nothing."""
        for found in self.nodes:
            cores = self.cpu[found.name] = self.system.limits_of(found.name).cpu
            if cores:
                found.group.limit_cpu(cores)

    def limit_facts(self) -> dict[str, Any]:
        """The limits in effect, and what is missing for those that are not."""
        return {
            **self.system.limits.model_dump(),
            "cpu_cores": dict(self.cpu),
            "cpu_period_us": cgroup.CPU_PERIOD_US,
            "cpu_quota_from": "all nodes answered; the start itself is not limited",
            "cgroup_version": cgroup.version(),
            "missing": dict(self.nodes[0].group.missing if self.nodes else {}),
        }

    # --- what it is ---

    def warnings(self) -> list[str]:
        """What the user should know before believing a result."""
        return list(dict.fromkeys(self._warnings))

    def engine_prefix(self) -> list[str]:
        """The client runs in the hub, if there are namespaces."""
        if self.system.network == "loopback":
            return []
        return ["ip", "netns", "exec", namespaces.hub_name(self.name)]

    def running_facts(self, found: NodeT) -> dict[str, Any]:
        """One node that runs, with its processes and control groups."""
        return {
            **self._recorded(found.spec),
            "pids": found.pids(),
            "cgroups": {name: str(folder) for name, folder in found.group.folders.items()},
        }
