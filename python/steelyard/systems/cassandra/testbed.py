"""A local Cassandra cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from steelyard.errors import MissingToolError
from steelyard.hosts.cgroup import Group
from steelyard.hosts.host import Host, said_jars
from steelyard.hosts.network import Endpoint
from steelyard.hosts.say import Say
from steelyard.spec.system import CassandraSystem
from steelyard.systems.base import Settled
from steelyard.systems.cassandra import (
    config,
    data,
    facts,
    profile,
    replication,
    rest,
    ring,
    secured,
    versions,
)
from steelyard.systems.cassandra.config import AGENT_PORT, CassandraSpec
from steelyard.systems.cassandra.hints import Hints
from steelyard.systems.cassandra.launch import Launch
from steelyard.systems.cassandra.login import CqlPlace, Login
from steelyard.systems.cassandra.node import LocalNode
from steelyard.systems.cassandra.upgrading import Release, UpgradingCassandra
from steelyard.systems.cassandra.versions import Line
from steelyard.systems.cluster import START_LIMIT_S
from steelyard.systems.node import NodeSpec, ask_to_leave
from steelyard.systems.placement import Launches, unlike
from steelyard.systems.server import ServerSpec
from steelyard.watch.target import WatchTarget

CQL_PORT = 9042
LEAVE_LIMIT_S = 120.0


class CassandraTestbed(UpgradingCassandra):
    """A local cluster of real nodes; for arguments see `LocalCluster`.

    Raises:
        InputError: a version, name, or consistency level that cannot be.
    """

    kind = "cassandra"
    rules = data.RULES
    idle_flush = True
    system: CassandraSystem

    def __init__(
        self, system: CassandraSystem, *, name: str, root: Path, host: Host, stays: bool = False
    ) -> None:
        super().__init__(system, name=name, root=root, host=host, stays=stays)
        self._set_version()
        secured.check(system)
        clients = host if self.placement.apart else None
        self.security = secured.Security(system, name, self.folder, clients) if system.secure else None
        self.tokens = config.tokens_of(system, self.shared)
        self._warnings = replication.check(system)
        self.launches, self.hints = Launches[Launch](), Hints()
        self._check_placement()
        if clients and system.secure:
            self.lacking = {
                **self.lacking,
                "snapshot": "the password of a secure cluster stays with its clients",
            }
            self.capabilities -= {"snapshot"}

    # --- its life ---

    def _set_version(self) -> None:
        """The version that it begins with, and its settings under it; it may have been upgraded before."""
        self.version, self.line = versions.resolve(self.system.version)
        self.shared = config.settings(self.system, self.line) | secured.settings(self.system, self.line)

    def _fetch(self, say: Say) -> None:
        self._set_version()
        self.launches = self._launches_of(self.version, self.line, say)
        self._warnings += profile.waiting(self.system)
        self._warnings += unlike({name: launch.java.full for name, launch in self.launches.items()})
        self._make_ready(say)

    def _launches_of(self, version: str, line: Line, say: Say) -> Launches[Launch]:
        return Launches(
            {
                machine.name: self._launch_on(machine.host, version, line, first, say)
                for first, machine in enumerate(self.placement.machines, 1)
            }
        )

    def _launch_on(self, host: Host, version: str, line: Line, first: int, say: Say) -> Launch:
        """What servers of a machine have in common; `first` is the number of its first node."""
        java = host.java(self.system.java, line.javas, f"Cassandra {line.name}")
        jars = said_jars(host, f"cassandra-{version}", versions.coordinates(version, line), say)
        return Launch(
            java=java,
            line=line,
            jars=jars,
            classes=host.class_archive(java, jars.paths),
            profile=self.system.profile,
            heap_mib=self.system.heap_mib or profile.HEAP_MIB[self.system.profile],
            cores=self.cores,
            agent=self._agent(host),
            extra=self.system.jvm_options,
            listed=first if version == self.version else 0,
        )

    def _agent(self, host: Host) -> Path | None:
        if not self.system.watch:
            return None
        try:
            return host.agent_jar()
        except MissingToolError as error:
            self._warnings.append(f"servers are not watched from inside: {error.message}")
            return None

    def _specs(self, block: str, spaces: Sequence[str]) -> Sequence[CassandraSpec]:
        return config.node_specs(self.system, block, self.folder, spaces)[: self.system.size]

    def _reserved(self, block: str, spaces: Sequence[str]) -> Sequence[CassandraSpec]:
        return config.node_specs(self.system, block, self.folder, spaces)[self.system.size :]

    def _listening(self, spec: NodeSpec) -> Mapping[Endpoint, str]:
        storage = int(self.shared.get("storage_port", 7000))
        agent = {AGENT_PORT: ""} if self.system.watch else {}
        ports = {self.port: "native_transport_port", storage: "storage_port", **agent}
        assert isinstance(spec, CassandraSpec)  # noqa: S101 - it came from `_specs`
        return {
            (spec.agent_address if port == AGENT_PORT else spec.address, port): setting
            for port, setting in ports.items()
        }

    def _recorded(self, spec: NodeSpec) -> dict[str, Any]:
        assert isinstance(spec, CassandraSpec)  # noqa: S101 - it came from `_specs`
        return facts.node_facts(spec, self._agent_port(), self.port, self.login())

    def _make_node(self, spec: NodeSpec, group: Group) -> LocalNode:
        assert isinstance(spec, CassandraSpec)  # noqa: S101 - it came from `_specs`
        seeds = config.seeds(self.specs[0].address, spec.address)
        token = self.tokens[spec.number - 1]
        yaml = config.node_settings(self.shared, spec, self.ring_name, seeds, token)
        return self._make_with(spec, group, yaml)

    def _make_with(self, spec: NodeSpec, group: Group, yaml: dict[str, Any], *options: str) -> LocalNode:
        assert isinstance(spec, CassandraSpec)  # noqa: S101 - it came from `_specs` or `_reserved`
        return self._make(self.launches.on(spec.host), spec, group, yaml, *options)

    def _make_of(
        self, release: Release, spec: CassandraSpec, group: Group, yaml: dict[str, Any]
    ) -> LocalNode:
        return self._make(release.launches.on(spec.host), spec, group, yaml)

    def _make(
        self, launch: Launch, spec: CassandraSpec, group: Group, yaml: dict[str, Any], *options: str
    ) -> LocalNode:
        host = self.host_of(spec)
        all_ = [*self.specs, *self.reserve, spec]
        if self.security:
            self.security.write(host, spec)
            yaml |= secured.node_settings(self.system, spec)
        nodes = {found.name: found for found in all_ if isinstance(found, CassandraSpec)}
        for path, text in config.files(spec, yaml, list(nodes.values())).items():
            host.put(spec.folder / path, text)
        words = partial(launch.command, spec, *options)
        server = ServerSpec(spec.name, spec.folder, words, namespace=spec.namespace, host=spec.host)
        new = self.security is not None and self.origin is None and self.up_seconds is None
        login = self.security.first_login() if self.security and new else self.login()
        place = CqlPlace(spec.address, self.port, spec.namespace, login)
        return LocalNode(spec, group, self._server(server, group), place)

    def _start(self, say: Say) -> None:
        together = config.at_once(self.shared)
        for number, node in enumerate(self.nodes, 1):
            node.start()
            if not together:
                ring.wait_answers(node, START_LIMIT_S, say)
                ring.wait_complete(self.nodes[:number], START_LIMIT_S, say)
        if together:
            for node in self.nodes:
                ring.wait_answers(node, START_LIMIT_S, say)
            ring.wait_complete(self.nodes, START_LIMIT_S, say)
        if self.security and self.origin is None:
            self.security.take_over(self.nodes, START_LIMIT_S)
            say(f"the user {secured.USER} is let in, upstream's default one is not")

    def _wait_serves(self, found: LocalNode, say: Say) -> None:
        ring.wait_answers(found, START_LIMIT_S, say)

    def _after_up(self, say: Say) -> None:
        """Make the class archive that the next start will use, once there is a list of classes."""
        for found in self.nodes:
            launch = self.launches.on(found.spec.host)
            classes = launch.class_list(found.spec)
            if found.spec.number == launch.listed and found.host.list(classes.parent, classes.name):
                say("making the class archive for the next starts (once)")
                if not found.host.make_class_archive(launch.java, launch.jars.paths, [classes]):
                    say("no class archive could be made; starts stay as they are")

    # --- what it is ---

    @property
    def port(self) -> int:
        """Where every node answers CQL."""
        return int(self.shared.get("native_transport_port", CQL_PORT))

    def login(self) -> Login:
        """How clients get in."""
        return self.security.login() if self.security else Login()

    def _agent_port(self) -> int | None:
        return AGENT_PORT if (launch := self.launches.first) and launch.agent else None

    def answers_at(self) -> list[str]:
        """Where clients ask first."""
        return [node.spec.address for node in self.nodes]

    def bench_words(self) -> list[str]:
        """The words of `bench` that use it as a given cluster."""
        if self.system.network == "namespaces":  # nobody reaches it from outside
            return []
        port = "" if self.port == CQL_PORT else f" --port {self.port}"
        login = (f" --{name.replace('_', '-')} {said}" for name, said in self.login().plan().items())
        return [f"cassandra --hosts {','.join(self.answers_at())}{port}{''.join(login)}"]

    def driver(self) -> dict[str, Any]:
        """The `driver` section of the engine's plan."""
        access = self.system.access
        return {
            "kind": "cql",
            "hosts": self.answers_at(),
            "port": self.port,
            **self.login().plan(),
            **facts.access_plan(access),
            "replication": replication.replication_map(access, list(replication.sizes(self.system))),
        }

    def facts(self) -> dict[str, Any]:
        """The manifest's `system` section."""
        launch = self.launches.on()
        return {
            **facts.cluster_facts(
                self.system, self.version, self.line, launch, self.shared, apart=self.placement.apart
            ),
            "nodes": [self.running_facts(node) for node in self.nodes],
            "spares": self.spare_facts(),
            "limits": self.limit_facts(),
            "up_seconds": self.up_seconds,
            "warnings": self.warnings(),
        }

    def targets(self) -> Sequence[WatchTarget]:
        """The nodes to watch."""
        port = self._agent_port()
        return [
            WatchTarget(
                node.name,
                self.name,
                node.group.folders,
                node.spec.namespace,
                (node.spec.agent_address, port) if port else None,
                host=node.spec.host,
            )
            for node in self.nodes
        ]

    # --- what can be done to it while it runs ---

    def settle(self, limit_s: float, say: Say) -> Settled:
        """Wait, within the limit, until compactions and flushes are done, and hints handed over."""
        return rest.settle(self.nodes, self.hints, self._agent_port(), limit_s, say)

    # --- its data at rest ---

    def shaped_by(self) -> dict[str, Any]:
        """The release, and every setting that results for its nodes."""
        heap = self.system.heap_mib or profile.HEAP_MIB[self.system.profile]
        said = {"version": self.version, "settings": self.shared, "tokens": self.tokens, "heap_mib": heap}
        return said | self.placement.shape()

    def flush_all(self) -> None:
        """Write all memtables to files."""
        for found in self.nodes:
            self.flush(found.name)

    def holding(self) -> dict[str, Any]:
        """Each node's address, host id, tokens and files."""
        return {found.name: data.holding(found, AGENT_PORT) for found in self.nodes}

    def leave(self, say: Say) -> None:
        """Drain all nodes, which leaves nothing to be replayed, and stop them."""
        say("draining and stopping all nodes")
        for found in self.nodes:
            found.server.expected_up = False
        with ThreadPoolExecutor(len(self.nodes)) as pool:
            list(pool.map(lambda found: self._operate(found.name, "drain", None), self.nodes))
        ask_to_leave(self.servers, LEAVE_LIMIT_S)
