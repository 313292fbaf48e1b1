"""How nodes leave an HBase cluster while it serves: their regions first, then what their DataNodes hold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from steelyard.errors import InputError
from steelyard.hosts.say import Say
from steelyard.systems.capabilities import Note
from steelyard.systems.cluster import START_LIMIT_S
from steelyard.systems.hbase import admin, hdfs, serving
from steelyard.systems.hbase.administered import MOVE_LIMIT_S, AdministeredHBase, answered
from steelyard.systems.hbase.layout import DATANODE, NAMENODE, REGIONSERVER, HBaseSpec, having
from steelyard.systems.hbase.node import HBaseNode
from steelyard.systems.node import ask_to_leave
from steelyard.systems.server import Server
from steelyard.systems.waiting import wait_until

LEAVE_LIMIT_S = 120.0
ROLES = (DATANODE, REGIONSERVER)
"""What a node has that may leave."""


class LeavingHBase(AdministeredHBase):
    """A local HBase cluster that can shrink."""

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
        others = self._others(found)
        if not server.alive:
            self._wait_registered(others, [])
            return
        name = self._ask(lambda: serving.server_name(found.spec), f"{server.name} does not tell its name")
        self._wait_takers(server, others)

        def drained() -> bool:
            if admin.in_transition(self._master()):
                return False
            if admin.held(found.spec) == 0:
                return True
            admin.decommission(self._master(), [name])  # again: a region may have been opened meanwhile
            return False

        self._ask(lambda: admin.decommission(self._master(), [name]), f"{found.name} could not be drained")
        wait_until(answered(drained), [server], MOVE_LIMIT_S, f"{found.name} still serves regions")
        ask_to_leave([server], LEAVE_LIMIT_S)
        gone = answered(lambda: name not in serving.registered(self._master()))
        what = f"the master still counts {found.name}"
        wait_until(self._while_up(gone, what), [], START_LIMIT_S, what)
        self._wait_registered(others, [])
        self._ask(lambda: admin.recommission(self._master(), name), "its mark could not be taken away")

    def _wait_takers(self, server: Server, others: Collection[HBaseSpec]) -> None:
        """Wait until the master, which may have taken over just now, gives regions to these."""

        def ready() -> bool:
            return {serving.server_name(spec) for spec in others} <= admin.reporting(self._master())

        what = f"regions of {server.name} have nowhere to go: others have not reported to the master"
        wait_until(answered(ready), [server], START_LIMIT_S, what)

    def _others(self, leaver: HBaseNode) -> list[HBaseSpec]:
        """The region servers that live and stay."""
        there = [found for found in self.nodes if found is not leaver and REGIONSERVER in found.spec.roles]
        return [found.spec for found in there if found.server(REGIONSERVER).alive]

    def _hand_over(self, found: HBaseNode) -> int:
        """Have what a node's DataNode holds copied to others; returns its bytes."""
        names = hdfs.name_node(self._layout)
        known = self._ask(lambda: hdfs.data_node(names, found.spec), f"{found.name} is unknown to HDFS")
        self._exclude({**self._excluded, found.name: known.address})
        self._roll_logs(self._others(found))
        seen = [known]

        def empty() -> bool:
            seen.append(hdfs.data_node(names, found.spec))
            return seen[-1].state == hdfs.EMPTY

        what = f"{found.name} still holds blocks that HDFS needs"
        wait_until(answered(empty), [self.node(names.name).server(NAMENODE)], MOVE_LIMIT_S, what)
        return seen[-1].bytes

    def _roll_logs(self, specs: Collection[HBaseSpec]) -> None:
        """Logs begin new files, on DataNodes that stay: a block that is being written is not copied."""
        for spec in specs:
            self._ask(partial(admin.roll_log, spec), f"{spec.name} could not roll its log")
