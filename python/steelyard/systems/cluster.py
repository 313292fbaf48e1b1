"""What all local clusters have in common: claimed, brought up, changed while they run, always taken down.

A kind of cluster says what its nodes are, writes their files, names their servers and knows when they serve.
Everything else - addresses, ports, control groups, namespaces, limits, a start that fails - is here, and in
`running` what can be done to it later, in `growing` how nodes come and go; its host does and records it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import Path
from time import monotonic
from typing import Any

from steelyard.errors import InfrastructureError, InputError, SteelyardError
from steelyard.folders import failed_folder
from steelyard.hosts import namespaces, network, records
from steelyard.hosts.cgroup import CPU_PERIOD_US, Group
from steelyard.hosts.clusters import Claim
from steelyard.hosts.host import Host
from steelyard.hosts.records import Record
from steelyard.hosts.say import Say
from steelyard.hosts.snapshots import Restored, Snapshot
from steelyard.spec.kind import declared
from steelyard.spec.local import LocalSystem
from steelyard.systems.growing import MADE_ANEW, GrowingCluster
from steelyard.systems.node import NodeSpec
from steelyard.systems.placement import Placement
from steelyard.systems.restorable import Restorable
from steelyard.systems.running import NodeT
from steelyard.systems.server import Server, ServerSpec

NOWHERE = "0.0.0"
"""An address block as long as it does not matter which."""
START_LIMIT_S = 180.0
"""For one step of a start; a slow, shared machine needs a tenth of it."""


class LocalCluster(Restorable, GrowingCluster[NodeT]):
    """A cluster of real servers on a host, or laid over several.

    Args:
        system: what it should be.
        name: its name: of its record, control groups and namespaces.
        root: its nodes' folders are made in ROOT/NAME, which is removed with the cluster; those of nodes on
            other machines where these say.
        host: where it runs, or `ServerHosts`.
        stays: until `cluster down`; otherwise it ends with the process that brought it up.

    Attributes:
        lacking: capability -> why this host cannot give it.

    Raises:
        InputError: a name or size that cannot be.
    """

    kind: str

    def __init__(
        self, system: LocalSystem, *, name: str, root: Path, host: Host, stays: bool = False
    ) -> None:
        super().__init__(host)
        self.system, self.name = system, records.checked_name(name)
        self.folder, self.stays = root.absolute() / name, stays
        self.claimed: Record | None = None
        self.up_seconds: float | None = None
        self._warnings: list[str] = []
        if (most := system.size + system.spare) > network.NODES_MAX:
            raise InputError(f"{most} nodes; one cluster has at most {network.NODES_MAX}")
        self.placement = Placement(host, self.folder, most)
        self.lacking = self.placement.lacking(self.folder)
        self.capabilities = declared(self.kind).able(system) - self.lacking.keys()

    # --- what a kind of cluster says ---

    @abstractmethod
    def _fetch(self, say: Say) -> None:
        """Find Java, and fetch what the servers are made of; nothing is recorded yet."""

    @abstractmethod
    def _specs(self, block: str, spaces: Sequence[str]) -> Sequence[NodeSpec]:
        """Its nodes in an address block; `spaces` are their namespaces, or empty."""

    def _reserved(self, block: str, spaces: Sequence[str]) -> Sequence[NodeSpec]:  # noqa: ARG002 - as `_specs`
        """The nodes that may join later, numbered after all others; arguments as of `_specs`."""
        return []

    @abstractmethod
    def _start(self, say: Say) -> None:
        """Start all servers; returns when the cluster serves."""

    def _after_up(self, say: Say) -> None:
        """Anything for the next start."""

    # --- its life ---

    def up(self, say: Say) -> None:
        """Bring the cluster up; returns when it serves. See `Testbed.up`."""
        start = monotonic()
        self.nodes, self.left, self.up_seconds = [], [], None  # it may have been up before
        for line in self.host.end_leftovers():
            say(line)
        self._fetch(say)
        try:
            self._claim()
            self._prepare(say)
            self._start(say)
            self.wait_same(say)
            for spec in self.specs:
                self._sync_disk(spec)
            self._limit_cpu()
        except BaseException as error:
            self._fail(say, error)
            raise
        self.up_seconds = monotonic() - start
        self._after_up(say)

    def down(self, say: Say) -> None:
        """Take it down: all servers are killed; then folders, groups and namespaces go."""
        if self.claimed is None:
            return
        say(f"stopping {self.name}")
        for server in self.servers:
            server.expected_up = False
        self.placement.take_down(self.name, say)
        if self.placement.apart:
            self.host.remove(self.folder)  # what clients on this machine needed
        self.claimed = None

    def _fail(self, say: Say, error: BaseException) -> None:
        if self.claimed is None:
            return
        kept = failed_folder(self.name)
        for step in (partial(self.collect, kept), self.kill_servers):
            with suppress(OSError, InfrastructureError, InputError):  # a fault of another machine, too
                step()
        self.down(say)
        if isinstance(error, SteelyardError) and error.hint is None:
            error.hint = f"logs and configuration are kept in {kept}"

    def _claim(self) -> None:
        """Take a name and addresses before anything is made, then say what the nodes are."""
        namespaced = self.system.network == "namespaces"
        claim = Claim(
            self.name,
            self.kind,
            self.folder,
            self.system.size + self.system.spare,
            self.stays,
            namespaced=namespaced,
            block=self.origin.block if self.origin else None,
            system=self.system.model_dump(mode="json"),
        )
        self.claimed = self.placement.claim(claim)
        block, spaces = self.claimed.block, self.claimed.namespaces
        self.specs = self.placement.placed(self._specs(block, spaces))
        self.reserve = self.placement.placed(self._reserved(block, spaces))
        for spec in [] if namespaced else [*self.specs, *self.reserve]:
            self.host_of(spec).check_ports(self._listening(spec))
        self._note_nodes()

    def _prepare(self, say: Say) -> None:
        if self.system.network == "namespaces":
            self.host.make_namespaces(self.name)
        for spec in self.specs:
            host = self.host_of(spec)
            host.remove(spec.folder)
            self._make_disk(spec)
            for part in MADE_ANEW:
                host.make_folder(spec.folder / part)
        self.put_back(say)
        for spec in self.specs:
            host = self.host_of(spec)
            group = host.make_group(self.name, spec.name)
            host.limit(group, self.system.limits_of(spec.name), spec.folder)
            self.nodes.append(self._make_node(spec, group))
            self._sync_disk(spec)

    def _server(self, spec: ServerSpec, group: Group) -> Server:
        spec = replace(spec, timer_slack_us=self.system.timer_slack_us)
        return Server(spec, self.host_of(spec), self.name, group)

    def host_of(self, spec: NodeSpec | ServerSpec) -> Host:
        """The machine of a node, or of a server."""
        return self.placement.on(spec.host)

    def _keep(self, made: Snapshot) -> Snapshot:
        return (
            self.placement.keep(made, self.specs, self.rules) if self.placement.apart else super()._keep(made)
        )

    def _restore(self, origin: Snapshot) -> Restored:
        if self.placement.apart:
            return self.placement.restore(origin, self.rules)
        return super()._restore(origin)

    def _note_nodes(self) -> None:
        self.placement.note_nodes(self.name, self.specs, self._noted)

    def _noted(self, spec: NodeSpec) -> dict[str, Any]:
        """A node as its machine's record keeps it, and the manifest."""
        return self._recorded(spec) | ({"host": spec.host} if spec.host else {})

    def _check_placement(self) -> None:
        """See that its nodes can be where they would be; of kinds that can be laid over several machines."""
        wanted = [*self._specs(NOWHERE, ()), *self._reserved(NOWHERE, ())]
        self.placement.check(wanted, self._listening, self.system.network)

    @property
    def block(self) -> str:
        """Its address block; raises InfrastructureError when it is not up."""
        if self.claimed is None:
            raise InfrastructureError(f"cluster {self.name} is not up")
        return self.claimed.block

    # --- limits ---

    @property
    def cores(self) -> int:
        """What servers are told of the machine's size, so that their pools fit their node's CPU quota."""
        cpu = self.system.limits.cpu
        return max(1, ceil(cpu)) if cpu else self.placement.cores()

    def _limit_cpu(self) -> None:
        """The CPU quota comes last: a start within it takes several times as long, and says nothing."""
        for found in self.nodes:
            self._limit_node(found)

    def limit_facts(self) -> dict[str, Any]:
        """The limits in effect, and what is missing for those that are not."""
        return {
            **self.system.limits.model_dump(),
            "cpu_cores": dict(self.cpu),
            "spare_cpu_cores": self.spare_cpu(),
            "cpu_period_us": CPU_PERIOD_US,
            "cpu_quota_from": "all nodes answered; the start itself is not limited",
            "cgroup_version": self.placement.machines[0].host.abilities().groups,
            "disk_mib": self.system.disk_mib,
            "timer_slack_us": self.system.timer_slack_us,
            "missing": dict(self.nodes[0].group.missing if self.nodes else {}),
        }

    # --- what it is ---

    def next_client(self, system: Any) -> None:
        """Take the client's settings of the next trial on it; those of servers are the same."""
        self.system = system

    def warnings(self) -> list[str]:
        """What the user should know before believing a result."""
        return list(dict.fromkeys(self._warnings))

    def engine_prefix(self) -> list[str]:
        """The client runs in the hub, if there are namespaces."""
        if self.system.network == "loopback":
            return []
        return namespaces.entered(namespaces.hub_name(self.name))

    def running_facts(self, found: NodeT) -> dict[str, Any]:
        """One node that runs, with its processes and control groups."""
        return {
            **self._noted(found.spec),
            "pids": found.pids(),
            "cgroups": {name: str(folder) for name, folder in found.group.folders.items()},
        }
