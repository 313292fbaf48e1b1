"""A local HBase cluster that is brought to another version while it serves.

As HBase's reference guide has it for a rolling upgrade: masters first, those that stand by before the active
one; then the region servers, each drained of its regions, which are given back to it afterwards. HDFS and
ZooKeeper stay what they are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial

from steelyard.errors import InputError
from steelyard.hosts.say import Say
from steelyard.systems.capabilities import Note
from steelyard.systems.cluster import START_LIMIT_S
from steelyard.systems.hbase import admin, serving
from steelyard.systems.hbase.administered import MOVE_LIMIT_S, answered
from steelyard.systems.hbase.launch import Launch
from steelyard.systems.hbase.layout import MASTER, REGIONSERVER, HBaseSpec, having
from steelyard.systems.hbase.leaving import LeavingHBase
from steelyard.systems.hbase.node import HBaseNode
from steelyard.systems.hbase.versions import Line, resolve
from steelyard.systems.placement import Launches
from steelyard.systems.server import Server
from steelyard.systems.waiting import wait_until

STOP_LIMIT_S = 60.0


class UpgradingHBase(LeavingHBase):
    """What `HBaseTestbed` can do about its version.

    Attributes:
        version: what its servers run, or will when an upgrade that goes on has come to all.
        line: it belongs to.
        launches: what servers of each machine are started with.
    """

    version: str
    line: Line
    launches: Launches[Launch]
    _ready: Mapping[str, Launches[Launch]] = {}
    _runs: Mapping[str, str] = {}
    """Server -> its version, of those that have served with one that they were brought to."""

    @abstractmethod
    def _launches_of(self, version: str, line: Line, say: Say) -> Launches[Launch]:
        """Find Java for a version, and fetch its jars, on each machine."""

    def _make_ready(self, say: Say) -> None:
        """Fetch what the versions need that it may be brought to; none is fetched while it serves."""
        self._runs = {}
        self._ready = {said: self._launches_of(*resolve(said), say) for said in self.system.upgrades}

    def upgrade_order(self) -> Sequence[str]:
        """Its masters, the active one last, then its region servers. See `capabilities.Upgrades`."""
        active = self._master()
        masters = sorted(having(self._layout, MASTER), key=lambda spec: spec == active)
        servers = having(self._layout, REGIONSERVER)
        return [*(f"{m.name}/{MASTER}" for m in masters), *(f"{s.name}/{REGIONSERVER}" for s in servers)]

    def upgrade(self, name: str, version: str, note: Note, say: Say) -> None:
        """Stop a server gracefully, and start it with another version; see `capabilities.Upgrades`.

        Milestones: "drained" (others serve the regions of a region server), "stopped", "serves" (a master is
        active and counts all region servers), "assigned" (a region server has its regions back). A master
        beside a region server passes them under its own name: `node1/master`.
        """
        if version not in self._ready:
            raise InputError(
                f"HBase {version} was not made ready before the cluster started",
                hint=f'upgrades = ["{version}"]',
            )
        full, launches = resolve(version)[0], self._ready[version]
        node, _, role = name.partition("/")
        found = self.node(node)
        told = name if role == MASTER and REGIONSERVER in found.spec.roles else node
        regions = self._emptied(found, note) if role == REGIONSERVER else []
        found.server(role).stop(STOP_LIMIT_S)
        note(told, "stopped")
        again = self._renew(found, role, launches)
        again.start()
        self._wait_serving(self.node(node).spec, role, again)
        self._runs = {**self._runs, name: full}
        note(told, "serves")
        if role == REGIONSERVER:
            self._give_back_regions(self.node(node), regions)
            note(node, "assigned")
        say(f"{name} runs {full}")
        if all(self._runs.get(own) == full for own in self._own()):
            self.version, self.line, self.launches = *resolve(version), launches

    def versions(self) -> Mapping[str, str]:
        """The version that each node with a master or region server has served with last; of one with both
        that of the region server, whose turn comes later. See `capabilities.Upgrades`."""
        servers = sorted(self._own(), key=lambda name: name.endswith(REGIONSERVER))
        return {name.partition("/")[0]: self._runs.get(name, self.version) for name in servers}

    def _own(self) -> list[str]:
        """Its masters and region servers that are there."""
        return [server.name for server in self.servers if server.name.endswith((MASTER, REGIONSERVER))]

    def _emptied(self, found: HBaseNode, note: Note) -> list[bytes]:
        """Have others serve a node's regions, if there are others; returns what users' ones it had."""
        if not self._others(found):
            return []
        names = self._ask(lambda: admin.regions(found.spec), f"{found.name} does not tell its regions")
        self._drain(found)
        note(found.name, "drained")
        return [one.name for one in names]

    def _renew(self, found: HBaseNode, role: str, launches: Launches[Launch]) -> Server:
        """A server of another version, not started, in place of a node's old one."""
        old = found.server(role)
        again = self._server(launches.on(found.spec.host).server(found.spec, role), found.group)
        servers = [again if server is old else server for server in found.servers]
        made = HBaseNode(found.spec, found.group, servers)
        with self._changing:
            self.nodes = [made if node is found else node for node in self.nodes]
        return again

    def _wait_serving(self, spec: HBaseSpec, role: str, again: Server) -> None:
        """Wait until it answers, and a master is active and counts every region server that lives."""
        answers = partial(serving.serves, spec, role)
        wait_until(answers, [again], START_LIMIT_S, f"{again.name} does not serve")
        nodes = [found for found in self.nodes if REGIONSERVER in found.spec.roles]
        there: list[HBaseSpec] = [found.spec for found in nodes if found.server(REGIONSERVER).alive]
        self._wait_registered(there, [again])

    def _give_back_regions(self, found: HBaseNode, regions: Sequence[bytes]) -> None:
        """Have a node serve these regions again, as far as they are still there."""
        to = self._ask(lambda: serving.server_name(found.spec), f"{found.name} does not tell its name")
        wanted = {*regions}
        server = found.server(REGIONSERVER)

        def back() -> bool:
            if admin.in_transition(self._master()):
                return False
            others = {one.name for spec in self._others(found) for one in admin.regions(spec)}
            if not (away := wanted & others):
                return True
            for name in away:
                admin.move(self._master(), name, to)
            return False

        wait_until(answered(back), [server], MOVE_LIMIT_S, f"{found.name} has not got its regions back")
