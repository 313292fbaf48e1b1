"""How nodes join an HBase cluster and leave it while it serves.

Regions move, and no data: a region's files stay where they are in HDFS, until a compaction writes new ones
on the node that serves it. A node that leaves has its regions drained first, then its blocks copied.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TypeVar

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts.say import Say
from steelyard.spec.hbase import HBaseSystem
from steelyard.systems.capabilities import AddOptions, Note
from steelyard.systems.cluster import START_LIMIT_S, LocalCluster
from steelyard.systems.hbase import admin, hdfs, serving
from steelyard.systems.hbase.layout import DATANODE, NAMENODE, REGIONSERVER, HBaseSpec, having
from steelyard.systems.hbase.node import HBaseNode
from steelyard.systems.node import ask_to_leave
from steelyard.systems.server import Server
from steelyard.systems.waiting import wait_until

Answer = TypeVar("Answer")
MOVE_LIMIT_S = 3600.0
"""Regions and blocks take as long as they take; the action's own limit is the one that users set."""
LEAVE_LIMIT_S = 120.0
ROUNDS_MAX = 10
"""Runs of the balancer, of which each moves fewer regions than the one before."""
ROLES = (DATANODE, REGIONSERVER)
"""What a node has that may leave."""


class ElasticHBase(LocalCluster[HBaseNode]):
    """A local HBase cluster that can grow and shrink."""

    system: HBaseSystem

    _empty: Mapping[str, str] = {}
    """Nodes that have left HDFS -> their DataNodes' addresses."""

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

    @abstractmethod
    def _wait_registered(self, region_servers: Sequence[HBaseSpec], servers: Sequence[Server]) -> None:
        """Wait until a master counts these region servers, and the cluster serves."""

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
        return there is not None and not any(
            name.startswith(f"{place.address},{place.port},") for name in there
        )

    # --- joining ---

    def add(self, names: Sequence[str], options: AddOptions, note: Note, say: Say) -> int:
        """Have spare nodes join, and regions move to them; see `capabilities.Adds`.

        Milestones: "up" (its servers answer), "registered" (the master counts it), "assigned" (it serves a
        region), "balanced" (the balancer moves nothing any more).

        Returns:
            0: regions move, and no blocks.

        Raises:
            InputError: streams are to be limited, or to be left out: there are none.
        """
        _check(options)
        joined = self._grow(names, self._make_node, limited=options.limited)
        self._let_in(joined)
        for found in joined:
            found.start()
        for found in joined:
            self._until_serving(found, DATANODE)
            self._until_serving(found, REGIONSERVER)
            note(found.name, "up")
        for found in joined:
            self._wait_registered([found.spec], found.servers)
            note(found.name, "registered")
            say(f"{found.name} has joined")
        if options.balance:
            self._even_out(joined, note, say)
        for found in joined if not options.limited else ():
            self._limit_node(found)
        return 0

    def _let_in(self, joined: Sequence[HBaseNode]) -> None:
        """HDFS takes DataNodes that have left before."""
        left = {name: address for name, address in self._empty.items() if name not in _names(joined)}
        if left != self._empty:
            self._exclude(left)

    def _exclude(self, wanted: Mapping[str, str]) -> None:
        names = hdfs.name_node(self._layout)
        self._ask(lambda: hdfs.exclude(self.host, names, wanted.values()), "HDFS excludes no DataNode")
        self._empty = wanted

    def _until_serving(self, found: HBaseNode, role: str) -> None:
        server = found.server(role)
        serves = partial(serving.serves, found.spec, role)
        wait_until(serves, [server], START_LIMIT_S, f"{server.name} does not serve")

    def _even_out(self, joined: Sequence[HBaseNode], note: Note, say: Say) -> None:
        """Have the balancer run until it moves nothing."""
        assigned: set[str] = set()
        for _ in range(ROUNDS_MAX):
            before = self._spread()
            moved = self._balance_once(joined)
            self._wait_moved(joined, assigned, note)
            if moved == 0 and self._spread() == before:
                break
            say(f"{moved or 'some'} regions were moved")
        for found in joined:
            note(found.name, "balanced")

    def _spread(self) -> dict[str, int]:
        """Regions of tables by node."""
        specs = having(self._layout, REGIONSERVER)
        return self._ask(
            lambda: {spec.name: len(admin.regions(spec)) for spec in specs},
            "a server does not tell its regions",
        )

    def _balance_once(self, joined: Sequence[HBaseNode]) -> int:
        """Have the balancer run, as soon as the master lets it; returns how many regions it moves."""
        moved: list[int] = []

        def ran() -> bool:
            done = self._ask(lambda: admin.balance(self._master()), "the balancer did not run")
            moved.extend([] if done is None else [done])
            return bool(moved)

        wait_until(ran, _servers(joined), MOVE_LIMIT_S, "the master does not run the balancer")
        return moved[0]

    def _wait_moved(self, joined: Sequence[HBaseNode], assigned: set[str], note: Note) -> None:
        """Wait until no region is under way; who has got its first one is noted."""

        def moved() -> bool:
            quiet = admin.in_transition(self._master()) == 0
            for found in joined:
                if found.name not in assigned and admin.regions(found.spec):
                    assigned.add(found.name)
                    note(found.name, "assigned")
            return quiet

        wait_until(_answered(moved), _servers(joined), MOVE_LIMIT_S, "regions are still under way")

    # --- leaving ---

    def remove(self, names: Sequence[str], note: Note, say: Say) -> int:
        """Have nodes leave, one after the other; see `capabilities.Removes`.

        Milestones: "leaving", "drained" (it serves no region), "left" (HDFS needs it no more), "stopped".

        Returns:
            What their DataNodes held, in bytes: all of it was copied to others.

        Raises:
            InputError: there are masters on a node, or fewer DataNodes would stay than a block has copies.
        """
        leaving = [self._leaver(name) for name in names]
        left = len(having(self._layout, DATANODE)) - len(leaving)
        if left < self.system.copies:
            raise InputError(
                f"{left} nodes would stay, and each block of HDFS has {self.system.copies} copies",
                hint="fewer nodes, or replication = N",
            )
        return sum(self._leave(found, note, say) for found in leaving)

    def _leaver(self, name: str) -> HBaseNode:
        found = self.node(name)
        if others := [role for role in found.spec.roles if role not in ROLES]:
            raise InputError(
                f"{name} has {' and '.join(others)}, and cannot leave",
                hint="roles = 'dedicated', or another node",
            )
        return found

    def _leave(self, found: HBaseNode, note: Note, say: Say) -> int:
        note(found.name, "leaving")
        self._drain(found)
        note(found.name, "drained")
        say(f"{found.name} serves no region any more")
        held = self._hand_over(found)
        note(found.name, "left")
        ask_to_leave([found.server(DATANODE)], LEAVE_LIMIT_S)
        self._shrink([found])
        note(found.name, "stopped")
        say(f"{found.name} has left, its {held >> 20} MiB are elsewhere")
        return held

    def _drain(self, found: HBaseNode) -> None:
        """Have other servers take over a node's regions, and end its region server; of a dead one they do so
        by themselves."""
        server = found.server(REGIONSERVER)
        others = [spec for spec in having(self._layout, REGIONSERVER) if spec != found.spec]
        if not server.alive:
            self._wait_registered(others, [])
            return
        name = self._ask(lambda: serving.server_name(found.spec), f"{server.name} does not tell its name")

        def drained() -> bool:
            if admin.in_transition(self._master()):
                return False
            if admin.held(found.spec) == 0:
                return True
            admin.decommission(self._master(), [name])  # again: a region may have been opened meanwhile
            return False

        self._ask(lambda: admin.decommission(self._master(), [name]), f"{found.name} could not be drained")
        wait_until(_answered(drained), [server], MOVE_LIMIT_S, f"{found.name} still serves regions")
        ask_to_leave([server], LEAVE_LIMIT_S)
        wait_until(lambda: self._forgotten(name), [], START_LIMIT_S, f"the master still counts {found.name}")
        self._wait_registered(others, [])
        self._ask(lambda: admin.recommission(self._master(), name), "its mark could not be taken away")

    def _forgotten(self, name: str) -> bool:
        try:
            return name not in serving.registered(self._master())
        except OSError:
            return False

    def _hand_over(self, found: HBaseNode) -> int:
        """Have what a node's DataNode holds copied to others; returns its bytes."""
        names = hdfs.name_node(self._layout)
        known = self._ask(lambda: hdfs.data_node(names, found.spec), f"{found.name} is unknown to HDFS")
        self._exclude({**self._empty, found.name: known.address})
        self._roll_logs([spec for spec in having(self._layout, REGIONSERVER) if spec != found.spec])
        seen = [known]

        def empty() -> bool:
            seen.append(hdfs.data_node(names, found.spec))
            return seen[-1].state == hdfs.EMPTY

        what = f"{found.name} still holds blocks that HDFS needs"
        wait_until(_answered(empty), [self.node(names.name).server(NAMENODE)], MOVE_LIMIT_S, what)
        return seen[-1].bytes

    def _roll_logs(self, specs: Collection[HBaseSpec]) -> None:
        """Logs begin new files, on DataNodes that stay: a block that is being written is not copied."""
        for spec in specs:
            self._ask(partial(admin.roll_log, spec), f"{spec.name} could not roll its log")


def _check(options: AddOptions) -> None:
    if not options.bootstrap or options.stream_mbit is not None:
        raise InputError(
            "a node of HBase streams nothing when it joins: regions move, and no data",
            hint="leave bootstrap and stream_mbit out",
        )


def _names(nodes: Sequence[HBaseNode]) -> list[str]:
    return [found.name for found in nodes]


def _servers(nodes: Sequence[HBaseNode]) -> list[Server]:
    return [server for found in nodes for server in found.servers]


def _answered(ask: Callable[[], bool]) -> Callable[[], bool]:
    """A condition that does not hold while a server does not answer, or no master is active."""

    def asked() -> bool:
        try:
            return ask()
        except (OSError, InfrastructureError):
            return False

    return asked
