"""Which machine each node of a cluster is on: all on one, at addresses of their own, or on several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from steelyard.errors import InfrastructureError, InputError, SteelyardError
from steelyard.hosts.clusters import Claim
from steelyard.hosts.host import Host, HostLostError
from steelyard.hosts.network import Endpoint
from steelyard.hosts.records import Record
from steelyard.hosts.say import Say
from steelyard.hosts.server_hosts import HOSTS, ServerHost, ServerHosts, joined
from steelyard.hosts.snapshots import Restored, Rules, Snapshot
from steelyard.systems.node import NodeSpec

SpecT = TypeVar("SpecT", bound=NodeSpec)
LaunchT = TypeVar("LaunchT")


class Launches(dict[str, LaunchT]):
    """Machine -> what the servers there have in common; empty until the cluster comes up."""

    @property
    def first(self) -> LaunchT | None:
        """That of the first machine, for what is alike on all; None before the cluster comes up."""
        return next(iter(self.values()), None)

    def on(self, machine: str | None = None) -> LaunchT:
        """That of a machine, or the first; raises InfrastructureError before the cluster comes up."""
        found = self.first if machine is None else self.get(machine)
        if found is None:
            raise InfrastructureError("the cluster is not up")
        return found


class Placement:
    """The machines of a cluster.

    Args:
        host: where it runs: a machine, or several.
        folder: the cluster's, where it runs on one machine.
        most: how many nodes it may have; machines beyond these are left alone.

    Attributes:
        apart: whether nodes are on other machines, each at its machine's own address.
        machines: they; on one machine that one, without a name.
    """

    def __init__(self, host: Host, folder: Path, most: int) -> None:
        self.apart = isinstance(host, ServerHosts)
        self._name = folder.name
        here = ServerHost("", host, "", folder.parent)
        self.machines = host.machines[:most] if isinstance(host, ServerHosts) else (here,)

    def on(self, name: str) -> Host:
        """The machine of that name."""
        return next(machine.host for machine in self.machines if machine.name == name)

    def placed(self, specs: Sequence[SpecT]) -> list[SpecT]:
        """Nodes with their machine, its address, and their folder there."""
        return [self._placed(spec) for spec in specs] if self.apart else [*specs]

    def _placed(self, spec: SpecT) -> SpecT:
        machine = self.machines[(spec.number - 1) % len(self.machines)]
        folder = machine.folder / self._name / spec.folder.name
        return replace(spec, host=machine.name, address=machine.address, folder=folder)

    def check(
        self, specs: Sequence[SpecT], listening: Callable[[SpecT], Mapping[Endpoint, str]], network: str
    ) -> None:
        """See that nodes can be where they would be, those in reserve included.

        Raises:
            InputError: two of them would listen at one address and port, or a machine cannot give what the
                cluster's network asks for.
        """
        if not self.apart:
            return
        if network != "loopback":
            raise InputError(f'network = "{network}": nodes on several hosts are in the networks of these')
        by_six = next((machine for machine in self.machines if ":" in machine.address), None)
        if by_six:
            raise InputError(f"{by_six.name} is reached at {by_six.address}; servers listen on IPv4 only")
        taken: dict[tuple[str, Endpoint], SpecT] = {}
        for spec in self.placed(specs):
            for endpoint in listening(spec):
                other = taken.setdefault((spec.host, endpoint), spec)
                if other is not spec:
                    raise InputError(
                        f"{other.name} and {spec.name} would both listen on {endpoint[0]}:{endpoint[1]} of "
                        f"{spec.host}: {len(specs)} nodes are too many for {len(self.machines)} server hosts",
                        hint="one node a host, spare ones included: fewer nodes, or more --server-hosts",
                    )

    # --- what all machines are asked ---

    def lacking(self, folder: Path) -> dict[str, str]:
        """Capability -> why a machine cannot give it."""
        if not self.apart:
            return self.machines[0].host.lacking(folder)
        return {
            what: f"{machine.name}: {why}"
            for machine in self.machines
            for what, why in machine.host.lacking(machine.folder / self._name).items()
        }

    def cores(self) -> int:
        """Processors of a machine; of unlike ones the fewest, so that pools are of one size on all nodes."""
        return min(machine.host.abilities().cores for machine in self.machines)

    def claim(self, asked: Claim) -> Record:
        """Claim the cluster on each machine; returns the first one's record. Errors as `Host.claim`."""
        if not self.apart:
            return self.machines[0].host.claim(asked)
        made: list[Record] = []
        try:
            for machine in self.machines:
                root = machine.folder / self._name
                made.append(machine.host.claim(replace(asked, root=root, address=machine.address)))
        except BaseException:
            for machine in self.machines[: len(made)]:
                with suppress(HostLostError):
                    machine.host.take_down(asked.name)
            raise
        return made[0]

    def note_nodes(self, cluster: str, specs: Sequence[NodeSpec], told: Callable[[Any], Any]) -> None:
        """Record on each machine what its nodes are."""
        for machine in self.machines:
            nodes = [told(spec) for spec in specs if spec.host == machine.name]
            with suppress(HostLostError):
                machine.host.note_nodes(cluster, nodes)

    def take_down(self, cluster: str, say: Say) -> None:
        """End it on each machine; of one that is lost that is said. One that fails keeps no other from it."""
        failed: list[SteelyardError] = []
        for machine in self.machines:
            try:
                machine.host.take_down(cluster)
            except HostLostError:
                say(f"{machine.name} is lost: what is left of {cluster} there ends at the host's next use")
            except SteelyardError as error:
                failed.append(error)
        if failed:
            raise failed[0]

    # --- its data at rest, where nodes are apart ---

    def shape(self) -> dict[str, Any]:
        """What of it shapes kept data: servers know each other by their addresses."""
        return {HOSTS: [machine.address for machine in self.machines]} if self.apart else {}

    def keep(self, made: Snapshot, specs: Sequence[NodeSpec], rules: Rules) -> Snapshot:
        """Keep on each machine what its nodes have; on all, or on none. Errors as `Host.keep`."""
        kept: list[Snapshot] = []
        try:
            for machine in self.machines:
                names = tuple(spec.name for spec in specs if spec.host == machine.name)
                part = replace(made, block=machine.address, nodes=names)
                kept.append(machine.host.keep(part, machine.folder / self._name, rules))
        except BaseException:
            for machine in self.machines:
                with suppress(HostLostError):
                    machine.host.drop_snapshot(made.key)
            raise
        return joined(kept)

    def restore(self, origin: Snapshot, rules: Rules) -> Restored:
        """Put back on each machine what its nodes had; errors as `Host.restore`."""
        done: list[Restored] = []
        for machine in self.machines:
            part = machine.host.snapshot(origin.key)
            if part is None:
                raise InfrastructureError(f"{machine.name}: the snapshot {origin.key} has been removed")
            done.append(machine.host.restore(part, rules, machine.folder / self._name))
        return Restored(
            sum(one.seconds for one in done),
            sum(one.copied_bytes for one in done),
            sum(one.shared_bytes for one in done),
        )


def unlike(javas: Mapping[str, str]) -> list[str]:
    """A warning when machines have other Javas; machine -> version and build."""
    if len(set(javas.values())) < 2:
        return []
    return [f"the hosts' Javas differ: {'; '.join(f'{name}: {full}' for name, full in javas.items())}"]


def check_laid_over(typed: str, able: bool, host: Host) -> None:
    """See that a kind's nodes can be where they are wanted.

    Raises:
        InputError: on several machines, and it has no nodes that could be.
    """
    if isinstance(host, ServerHosts) and not able:
        raise InputError(f"--server-hosts: {typed or 'this system'} has no nodes that can be on other hosts")
