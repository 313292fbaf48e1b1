"""A local HBase cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts.cgroup import Group
from steelyard.hosts.host import Host
from steelyard.hosts.network import Endpoint
from steelyard.hosts.say import Say
from steelyard.spec.hbase import HBaseSystem
from steelyard.systems.base import OWN_FIGURES, Settled
from steelyard.systems.cluster import NOWHERE, START_LIMIT_S
from steelyard.systems.hbase import (
    admin,
    config,
    data,
    defaults,
    facts,
    hdfs,
    layout,
    logs,
    made_of,
    orderly,
    profile,
    serving,
    versions,
)
from steelyard.systems.hbase.beans import ROLES
from steelyard.systems.hbase.format import empty_namenode
from steelyard.systems.hbase.joining import JoiningHBase
from steelyard.systems.hbase.launch import FIRST_NODES, Launch
from steelyard.systems.hbase.layout import (
    DATANODE,
    MASTER,
    NAMENODE,
    REGIONSERVER,
    STANDALONE,
    ZOOKEEPER,
    HBaseSpec,
    having,
)
from steelyard.systems.hbase.node import HBaseNode
from steelyard.systems.hbase.upgrading import UpgradingHBase
from steelyard.systems.hbase.versions import Line
from steelyard.systems.node import NodeSpec
from steelyard.systems.placement import Launches, unlike
from steelyard.systems.server import Server
from steelyard.systems.waiting import wait_rest, wait_until
from steelyard.watch.beans import Role
from steelyard.watch.target import WatchTarget

PARENT = "/hbase"
FIRST = (ZOOKEEPER, NAMENODE, DATANODE)
"""What the others stand on."""


class HBaseTestbed(JoiningHBase, UpgradingHBase):
    """A local cluster of real servers; for arguments see `LocalCluster`.

    Raises:
        InputError: a version or name that cannot be.
    """

    kind = "hbase"
    rules = data.RULES

    def __init__(
        self, system: HBaseSystem, *, name: str, root: Path, host: Host, stays: bool = False
    ) -> None:
        super().__init__(system, name=name, root=root, host=host, stays=stays)
        self.version, self.line = versions.resolve(system.version)
        self.launches = Launches[Launch]()
        if self.placement.apart and system.standalone:
            raise InputError("a standalone HBase has its ZooKeeper on loopback: it cannot be on another host")
        self._check_placement()

    # --- its life ---

    def _fetch(self, say: Say) -> None:
        self.version, self.line = versions.resolve(self.system.version)  # it may have been upgraded before
        self.launches = self._launches_of(self.version, self.line, say)
        self._make_ready(say)
        launch = self.launches.on()
        self._warnings += defaults.unknown(self.system.hbase_site, launch.hbase.defaults, "hbase-site")
        if launch.hdfs:
            self._warnings += defaults.unknown(self.system.hdfs_site, launch.hdfs.defaults, "hdfs-site")
            self._warnings += hdfs.any_node(self.system, apart=self.placement.apart)
        self._warnings += unlike({name: one.java.full for name, one in self.launches.items()})

    def _launches_of(self, version: str, line: Line, say: Say) -> Launches[Launch]:
        first = version == self.version
        return Launches({
            machine.name: made_of.launch_on(
                machine.host, self.system, version, line,
                cores=self.cores, listed=self._listed(machine.name) if first else (), say=say,
            )
            for machine in self.placement.machines
        })  # fmt: skip

    def _listed(self, machine: str) -> Sequence[str]:
        """The nodes that list their classes for a machine's archives; on one machine two, with all roles."""
        if not self.placement.apart:
            return FIRST_NODES
        specs = self.placement.placed(self._specs(NOWHERE, ()))
        return [spec.name for spec in specs if spec.host == machine]

    def _specs(self, block: str, spaces: Sequence[str]) -> Sequence[HBaseSpec]:
        return self._all(block, spaces)[: self.system.size]

    def _reserved(self, block: str, spaces: Sequence[str]) -> Sequence[HBaseSpec]:
        return self._all(block, spaces)[self.system.size :]

    def _all(self, block: str, spaces: Sequence[str]) -> list[HBaseSpec]:
        moved, apart = config.moved_ports(self.system), self.placement.apart
        return layout.node_specs(self.system, block, self.folder, spaces, moved, apart=apart)

    def _listening(self, spec: NodeSpec) -> Mapping[Endpoint, str]:
        assert isinstance(spec, HBaseSpec)  # noqa: S101 - it came from `_specs`
        return spec.listening(self.system.zookeepers)

    def _recorded(self, spec: NodeSpec) -> dict[str, Any]:
        assert isinstance(spec, HBaseSpec)  # noqa: S101 - it came from `_specs`
        return facts.node_facts(spec)

    def _make_node(self, spec: NodeSpec, group: Group) -> HBaseNode:
        assert isinstance(spec, HBaseSpec)  # noqa: S101 - it came from `_specs`
        launch, host = self.launches.on(spec.host), self.host_of(spec)
        for part in config.WEBAPPS:
            host.make_folder(spec.folder / "conf" / part)
        restored = self.origin is not None
        for path, text in config.files(self.system, self._layout, spec, restored=restored).items():
            host.put(spec.folder / path, text)
        if NAMENODE in spec.roles and not restored:
            recipe = empty_namenode(launch.java_words(NAMENODE, 128), launch.jar_files(NAMENODE))
            host.copy_made(recipe, spec.folder / "namenode")
        return HBaseNode(spec, group, [self._server(launch.server(spec, role), group) for role in spec.roles])

    def _start(self, say: Say) -> None:
        self._excluded = {}
        first = [server for server in self.servers if orderly.role(server) in FIRST]
        rest = [server for server in self.servers if orderly.role(server) not in FIRST]
        for server in first:
            server.start()
        if first:
            self._wait(lambda: serving.hdfs_ready(self._layout), first, "HDFS takes no writes")
            say(f"HDFS is up, {len(having(self._layout, DATANODE))} DataNodes")
        for server in rest:
            server.start()
        region_servers = having(self._layout, REGIONSERVER)
        self._wait_registered(region_servers, self.servers)
        say(f"HBase serves with {len(region_servers)} region server{'s' if len(region_servers) > 1 else ''}")

    def _wait_registered(self, region_servers: Sequence[HBaseSpec], servers: Sequence[Server]) -> None:
        """Wait until a master is initialised and counts these region servers, and meta can be read."""
        reason = ""

        def ready() -> bool:
            nonlocal reason
            reason = serving.waiting_for(self._layout, region_servers)
            return not reason

        try:
            what = "HBase does not serve"
            self._wait(ready if servers else self._while_up(ready, what), servers, what)
        except InfrastructureError as error:
            why = f"; at last: {reason}" if reason else ""
            raise InfrastructureError(f"{error.message}{why}", hint=error.hint) from None

    def _wait(self, ready: Callable[[], bool], servers: Sequence[Server], what: str) -> None:
        wait_until(ready, servers, START_LIMIT_S, what)

    def _start_again(self, chosen: Sequence[HBaseNode]) -> None:
        """What the others stand on comes first."""
        for first in (True, False):
            servers = [
                (found, server)
                for found in chosen
                for server in found.servers
                if (orderly.role(server) in FIRST) == first
            ]
            for _, server in servers:
                server.start()
            for found, server in servers if first else ():
                answers = partial(serving.serves, found.spec, orderly.role(server))
                self._wait(answers, [server], f"{server.name} does not serve")

    def _wait_serves(self, found: HBaseNode, say: Say) -> None:
        running = [role for role in found.spec.roles if found.server(role).alive]
        for role in running:
            for part in layout.PARTS.get(role, (role,)):
                answers = partial(serving.serves, found.spec, part)
                self._wait(answers, [found.server(role)], f"{found.name}'s {part} does not serve")
        if REGIONSERVER in found.spec.parts:
            self._wait_registered([found.spec], found.servers)
        say(f"{found.name} serves again")

    def _after_up(self, say: Say) -> None:
        """Make the class archives that the next start will use, once there are lists of classes."""
        for name, launch in self.launches.items():
            specs = [found.spec for found in self.nodes if found.spec.host == name]
            made_of.make_archives(self.placement.on(name), launch, specs, say)

    # --- what it is ---

    def answers_at(self) -> list[str]:
        """Where clients ask first: masters and region servers, or ZooKeeper where those do not tell."""
        roles = (MASTER, REGIONSERVER) if self.line.registry else (ZOOKEEPER,)
        return [str(spec.place(role)) for role in roles for spec in having(self._layout, role)]

    def bench_words(self) -> list[str]:
        """The words of `bench` that use it as a given cluster: by its servers, if they tell; by ZooKeeper."""
        if self.system.network == "namespaces":  # nobody reaches it from outside
            return []
        ensemble = ",".join(str(spec.place(ZOOKEEPER)) for spec in having(self._layout, ZOOKEEPER))
        parent = self._parent
        where = f" --zookeeper-parent {parent}" if parent != PARENT else ""
        by_servers = [f"hbase --hosts {','.join(self.answers_at())}"] if self.line.registry else []
        return [*by_servers, f"hbase --zookeeper {ensemble}{where}"]

    @property
    def _parent(self) -> str:
        """Where it is in ZooKeeper."""
        return str(self.system.hbase_site.get("zookeeper.znode.parent", PARENT))

    def driver(self) -> dict[str, Any]:
        """The `driver` section of the engine's plan."""
        places = self.answers_at()
        return {
            "kind": "hbase",
            "registry": places if self.line.registry else [],
            "zookeeper": [] if self.line.registry else places,
            "zookeeper_parent": self._parent,
            **facts.access_plan(self.system.access, self.system.nodes),
            "user": None,
        }

    def facts(self) -> dict[str, Any]:
        """The manifest's `system` section."""
        roles = tuple(dict.fromkeys(role for spec in self._layout for role in spec.roles))
        return {
            **facts.cluster_facts(
                self.system,
                self.version,
                self.launches.on(),
                roles,
                restored=self.origin is not None,
                apart=self.placement.apart,
            ),
            "nodes": [self.running_facts(node) for node in self.nodes],
            "spares": self.spare_facts(),
            "limits": self.limit_facts(),
            "up_seconds": self.up_seconds,
            "warnings": self.warnings(),
        }

    def warnings(self) -> list[str]:
        """What the user should know before believing a result: of its logs, as they are now."""
        return [*super().warnings(), *logs.short(self._layout)]

    def targets(self) -> Sequence[WatchTarget]:
        """The nodes to watch, those of masters included."""
        return [
            WatchTarget(
                node.name,
                self.name,
                node.group.folders,
                node.spec.namespace,
                jmx=self._jmx(node.spec) if self.system.watch else (),
                host=node.spec.host,
            )
            for node in self.nodes
        ]

    def _jmx(self, spec: HBaseSpec) -> tuple[tuple[Role, str, int], ...]:
        webs = [(role, spec.web(role)) for role in ROLES if role in spec.parts]
        return tuple((ROLES[role], web.address, web.port) for role, web in webs)

    # --- what can be done to it while it runs ---

    def _is_asked(self, server: Server) -> bool:
        """Clients ask region servers."""
        return orderly.role(server) in (REGIONSERVER, STANDALONE)

    def settle(self, limit_s: float, say: Say) -> Settled:
        """Wait, within the limit, until all servers' flushes and compactions are done."""
        return wait_rest(lambda: sum(map(_pending, self._region_servers())), limit_s, say, OWN_FIGURES)

    def flush(self, node: str, table: str | None = None) -> None:
        """Write the memstores of a node's regions, of one table or of all, to files."""
        self._ask(lambda: admin.flush(self.node(node).spec, table), f"{node} could not flush")

    def compact(self, node: str, table: str | None = None) -> None:
        """Compact a node's regions, of one table or of all, into one file each; returns when that is done."""
        self._ask(lambda: admin.compact(self.node(node).spec, table), f"{node} could not compact")

    def balance(self) -> int:
        """Have the balancer run once; returns how many regions it moved."""
        return self._ask(lambda: admin.balance(self._master()), "the balancer did not run") or 0

    def regions(self, table: str | None = None) -> dict[str, int]:
        """Regions by node: of one table, or of all but HBase's own."""
        return {spec.name: self._count(spec, table) for spec in self._region_servers()}

    # --- its data at rest ---

    def shaped_by(self) -> dict[str, Any]:
        """The releases, and every setting that results for its servers."""
        settings = profile.hbase_settings(self.system) | profile.hdfs_settings(self.system)
        return {
            "version": self.version,
            "hdfs": versions.HDFS,
            "settings": {name: value for name, (value, _) in settings.items()},
            "heap_mib": profile.heap_mib(self.system.profile, self.system.heaps, REGIONSERVER),
            **self.placement.shape(),
        }

    def flush_all(self) -> None:
        """Write all memstores to files."""
        for spec in self._region_servers():
            self.flush(spec.name)

    def holding(self) -> dict[str, Any]:
        """Each node's address, DataNode and regions, and the store files of each table."""
        return data.holding(self.host_of, self._layout)

    def leave(self, say: Say) -> None:
        """Shut HBase down as a whole: no server is missed, no log is left; then HDFS and ZooKeeper."""
        say("stopping HBase, then HDFS")
        for server in self.servers:
            server.expected_up = False
        self._ask(lambda: orderly.leave(self._layout, self.servers), "HBase could not be stopped in order")

    def _count(self, spec: HBaseSpec, table: str | None) -> int:
        return self._ask(lambda: len(admin.regions(spec, table)), f"{spec.name} does not tell its regions")

    def _region_servers(self) -> list[HBaseSpec]:
        return [
            node.spec for node in self.nodes if REGIONSERVER in node.spec.parts and node.servers[-1].alive
        ]


def _pending(spec: HBaseSpec) -> int:
    """Background work of one server; one that does not answer is not at rest."""
    try:
        return admin.pending(spec)
    except OSError:
        return 1
