"""A local Cassandra cluster: brought up, changed while it runs, told about, and always taken down."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from math import ceil
from pathlib import Path
from time import monotonic
from typing import Any

from steelyard.errors import InfrastructureError, InputError, MissingToolError, SteelyardError, nearest
from steelyard.spec.system import CassandraSystem
from steelyard.testbed import artifacts, cgroup, namespaces, network, state
from steelyard.testbed.base import Say, Settled, WatchTarget
from steelyard.testbed.cassandra import archive, config, facts, profile, replication, rest, ring, versions
from steelyard.testbed.cassandra.config import AGENT_PORT, NodeSpec
from steelyard.testbed.cassandra.launch import Launch
from steelyard.testbed.cassandra.node import LocalNode
from steelyard.testbed.java import find_java
from steelyard.testbed.process import Identity, end
from steelyard.testbed.watch.jar import agent_jar

START_LIMIT_S = 180.0
"""For one node to answer; a slow, shared machine needs a tenth of it."""
CAPABILITIES = frozenset({"settle", "watch", "kill", "freeze", "restart", "resize", "flush", "compact"})


class CassandraTestbed:
    """A local cluster of real nodes.

    Args:
        system: what it should be.
        name: its name: of its record, control groups and namespaces.
        root: its nodes' folders are made in ROOT/NAME, which is removed with the cluster.
        owner: the process it belongs to; None = it stays until `cluster down`.

    Raises:
        InputError: a version, name, or consistency level that cannot be.
    """

    def __init__(self, system: CassandraSystem, *, name: str, root: Path, owner: Identity | None) -> None:
        self.system, self.name = system, state.checked_name(name)
        self.folder, self.owner = root.absolute() / name, owner
        self.version, self.line = versions.resolve(system.version)
        self.shared = config.settings(system, self.line)
        self.tokens = config.tokens_of(system, self.shared)
        self._warnings = replication.check(system)
        self.nodes: list[LocalNode] = []
        self.record: state.Record | None = None
        self.launch: Launch | None = None
        self.up_seconds: float | None = None
        self.cpu: dict[str, float | None] = {}
        missing = set() if cgroup.writable() else {"resize"}
        self.capabilities = CAPABILITIES - missing - (set() if system.watch else {"flush", "compact"})
        if system.size > network.NODES_MAX:
            raise InputError(f"{system.size} nodes; one cluster has at most {network.NODES_MAX}")

    # --- its life ---

    def up(self, say: Say) -> None:
        """Bring the cluster up; returns when every node sees all others. See `Testbed.up`."""
        start = monotonic()
        state.end_leftovers(say)
        self.launch = self._launch(say)
        try:
            self._claim()
            self._prepare()
            self._start(say)
            self._limit_cpu()
        except BaseException as error:
            self._fail(say, error)
            raise
        self.up_seconds = monotonic() - start
        self._archive_classes(say)

    def down(self, say: Say) -> None:
        """Take it down: SIGTERM to all, SIGKILL to what stays; then folders, groups and namespaces."""
        record, self.record = self.record, None
        if record is None:
            return
        say(f"stopping {self.name}")
        for node in self.nodes:
            node.expected_up = False
        with suppress(OSError):
            record.release()
        for node in self.nodes:
            node.reap()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _fail(self, say: Say, error: BaseException) -> None:
        if self.record is None:
            return
        kept = state.state_folder() / "failed" / self.name
        with suppress(OSError):
            shutil.rmtree(kept, ignore_errors=True)
            self.collect(kept)
        end([node.identity for node in self.nodes if node.identity], grace_s=0.0)
        self.down(say)
        if isinstance(error, SteelyardError) and error.hint is None:
            error.hint = f"logs and configuration are kept in {kept}"

    def _launch(self, say: Say) -> Launch:
        java = find_java(self.system.java, self.line.javas, f"Cassandra {self.line.name}")
        cpu = self.system.limits.cpu
        return Launch(
            java=java,
            line=self.line,
            jars=artifacts.fetch(
                f"cassandra-{self.version}", versions.coordinates(self.version, self.line), say
            ),
            profile=self.system.profile,
            heap_mib=self.system.heap_mib or profile.HEAP_MIB[self.system.profile],
            cores=max(1, ceil(cpu)) if cpu else os.cpu_count() or 1,
            agent=self._agent(),
            extra=self.system.jvm_options,
        )

    def _agent(self) -> Path | None:
        if not self.system.watch:
            return None
        try:
            return agent_jar()
        except MissingToolError as error:
            self._warnings.append(f"servers are not watched from inside: {error.message}")
            return None

    def _claim(self) -> None:
        """Take a name and an address block, and write both down, before anything is made."""
        namespaced = self.system.network == "namespaces"
        with state.locked():
            known = state.records()
            if any(other.name == self.name for other in known):
                raise InputError(
                    f"a cluster named {self.name!r} is up", hint=f"steelyard cluster down {self.name}"
                )
            block = network.free_block({other.block for other in known}, namespaced=namespaced)
            spaces = namespaces.names(self.name, self.system.size) if namespaced else []
            specs = config.node_specs(self.system, block, self.folder, spaces)
            if not namespaced:
                network.check_ports((spec.address for spec in specs), self._ports())
            self.record = state.Record(self.name, "cassandra", str(self.folder), block, self.owner)
            self.record.system = self.system.model_dump(mode="json")
            self.record.nodes = [facts.node_facts(spec, self._agent_port(), self.port) for spec in specs]
            self.record.namespaces = spaces
            self.record.save()
        self._specs = specs

    def _prepare(self) -> None:
        record, launch = self._running()
        if record.namespaces:
            namespaces.make(self.name, record.block, self.system.size)
        for spec in self._specs:
            group = cgroup.make(self.name, spec.name)
            record.cgroups += [str(folder) for folder in group.folders.values()]
            record.save()
            self._write(spec)
            self._limit(group)
            self.nodes.append(self._node(spec, group, launch))

    def _node(self, spec: NodeSpec, group: cgroup.Group, launch: Launch) -> LocalNode:
        return LocalNode(
            spec, launch, group, port=self.port, recorded=self._recorded, die_with_us=self.owner is not None
        )

    def _write(self, spec: NodeSpec) -> None:
        first, token = self._specs[0].address, self.tokens[spec.number - 1]
        yaml = config.node_settings(self.shared, spec, self.name, first, token)
        shutil.rmtree(spec.folder, ignore_errors=True)
        config.write(spec, yaml, self._specs)

    def _recorded(self, node: str, found: Identity) -> None:
        record, _ = self._running()
        record.processes[node] = found
        record.save()

    def _limit(self, group: cgroup.Group) -> None:
        limits = self.system.limits
        if limits.memory_mib:
            group.limit_memory(limits.memory_mib)
        if limits.model_dump(exclude={"cpu", "memory_mib"}, exclude_none=True):
            group.limit_disk(limits, cgroup.device_of(self.folder))

    def _limit_cpu(self) -> None:
        """The CPU quota comes last: a start within it takes several times as long, and says nothing."""
        for node in self.nodes:
            self.cpu[node.spec.name] = self.system.limits.cpu
            if self.system.limits.cpu:
                node.group.limit_cpu(self.system.limits.cpu)

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

    def _archive_classes(self, say: Say) -> None:
        """Make the class archive that the next start will use, once there is a list of classes."""
        _, launch = self._running()
        classes = launch.class_list(self.nodes[0].spec)
        if classes.exists():
            say("making the class archive for the next starts (once)")
            if not archive.make(launch.java, launch.jar_files(), classes):
                say("no class archive could be made; starts stay as they are")

    def _running(self) -> tuple[state.Record, Launch]:
        if self.record is None or self.launch is None:
            raise InfrastructureError(f"cluster {self.name} is not up")
        return self.record, self.launch

    # --- what it is ---

    @property
    def port(self) -> int:
        """Where every node answers CQL."""
        return int(self.shared.get("native_transport_port", 9042))

    def _ports(self) -> list[int]:
        storage = int(self.shared.get("storage_port", 7000))
        return [self.port, storage, *([AGENT_PORT] if self.system.watch else [])]

    def _agent_port(self) -> int | None:
        return AGENT_PORT if self.launch and self.launch.agent else None

    def warnings(self) -> list[str]:
        """What the user should know before believing a result."""
        return list(self._warnings)

    def driver(self) -> dict[str, Any]:
        """The `driver` section of the engine's plan."""
        access = self.system.access
        return {
            "kind": "cql",
            "hosts": [node.spec.address for node in self.nodes],
            "port": self.port,
            **facts.access_plan(access),
            "replication": replication.replication_map(access, list(replication.sizes(self.system))),
        }

    def engine_prefix(self) -> list[str]:
        """The client runs in the hub, if there are namespaces."""
        if self.system.network == "loopback":
            return []
        return ["ip", "netns", "exec", namespaces.hub_name(self.name)]

    def facts(self) -> dict[str, Any]:
        """The manifest's `system` section."""
        _, launch = self._running()
        return {
            **facts.cluster_facts(self.system, self.version, self.line, launch, self.shared),
            "nodes": [facts.running_facts(node, self._agent_port()) for node in self.nodes],
            "limits": facts.limit_facts(self.system, self.cpu, self.nodes),
            "up_seconds": self.up_seconds,
            "warnings": self.warnings(),
        }

    def targets(self) -> Sequence[WatchTarget]:
        """The nodes to watch."""
        port = self._agent_port()
        return [
            WatchTarget(
                node.spec.name,
                node.pids,
                node.group.folders,
                node.spec.namespace,
                (node.spec.address, port) if port else None,
            )
            for node in self.nodes
        ]

    def dead(self) -> Sequence[tuple[str, str]]:
        """(node, why) of each server that died unasked."""
        return [(n.spec.name, n.why_dead()) for n in self.nodes if n.expected_up and not n.alive]

    def collect(self, into: Path) -> None:
        """Copy each server's configuration and logs to `into/NODE/`."""
        for node in self.nodes:
            for part in ("conf", "logs"):
                source = node.spec.folder / part
                if source.exists():
                    shutil.copytree(source, into / node.spec.name / part, dirs_exist_ok=True)

    # --- what can be done to it while it runs ---

    def node(self, name: str) -> LocalNode:
        """A node by its name; raises InputError if there is none."""
        for node in self.nodes:
            if node.spec.name == name:
                return node
        known = [node.spec.name for node in self.nodes]
        raise InputError(
            f"there is no node {name!r}{nearest(name, known)}", hint=f"there are: {', '.join(known)}"
        )

    def settle(self, limit_s: float, say: Say) -> Settled:
        """Wait, within the limit, until pending compactions and flushes are done."""
        done = rest.settle(self.nodes, self._agent_port(), limit_s)
        say(f"at rest after {done.seconds:.1f} s" if done.quiet else f"not at rest: {done.detail}")
        return done

    def kill(self, node: str) -> None:
        """kill -9 of a node's server."""
        self.node(node).kill()

    def freeze(self, node: str) -> None:
        """SIGSTOP: the node holds its connections and answers nothing."""
        self.node(node).freeze()

    def thaw(self, node: str) -> None:
        """Let a frozen node go on."""
        self.node(node).thaw()

    def restart(self, node: str, say: Say = lambda _: None) -> None:
        """Start a node again (stopping it first if it runs) on its own data; returns when it answers CQL."""
        found = self.node(node)
        if found.alive:
            found.stop()
        found.start()
        ring.wait_answers(found, START_LIMIT_S, say)

    def resize(self, node: str, cpu: float | None) -> None:
        """Change a node's CPU quota, in cores, while it runs; None lifts it."""
        self.node(node).group.limit_cpu(cpu)
        self.cpu[node] = cpu

    def flush(self, node: str, keyspace: str | None = None) -> None:
        """Write a node's memtables to disk."""
        self._operate(node, "flush", keyspace)

    def compact(self, node: str, keyspace: str | None = None) -> None:
        """Compact all tables of a node, or of one keyspace."""
        self._operate(node, "compact", keyspace)

    def _operate(self, node: str, operation: str, keyspace: str | None) -> None:
        from steelyard.testbed.watch.agent import ask

        spec, port = self.node(node).spec, self._agent_port()
        if port is None:
            raise InfrastructureError(f"{operation} needs the metrics agent", hint="watch = true, and a JDK")
        words = f"operation {operation} {keyspace or ''}".strip()
        ask((spec.address, port), words, timeout_s=600.0, namespace=spec.namespace)
