"""A local Cassandra cluster that changes while it serves: nodes join and leave, limits are set."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts.cgroup import Group
from steelyard.hosts.say import Say
from steelyard.spec.system import CassandraSystem
from steelyard.systems.capabilities import AddOptions, Note
from steelyard.systems.cassandra import config, moving, replication, ring
from steelyard.systems.cassandra.config import CassandraSpec
from steelyard.systems.cassandra.inside import Inside
from steelyard.systems.cassandra.moving import Milestones
from steelyard.systems.cassandra.node import LocalNode
from steelyard.systems.cassandra.tokens import joining_tokens
from steelyard.systems.cluster import START_LIMIT_S, LocalCluster
from steelyard.systems.node import NodeSpec
from steelyard.systems.waiting import wait_until

OPERATION_LIMIT_S = 24 * 3600.0
"""Of a cleanup, a repair: the action that asks for it has its own limit."""
ALLOCATION = "allocate_tokens_for_local_replication_factor"
SEVERAL = "-Dcassandra.consistent.rangemovement=false"
"""Otherwise a node refuses to join while another does."""
SETTLED = "-Dcassandra.skip_wait_for_gossip_to_settle=-1"
"""Upstream's, whatever the profile says: of a keyspace that a node has not heard of yet nothing is streamed
to it, and it joins without a word."""
NEVER_NOTHING = 1 << 20
"""A joiner's share of so many bytes is not nothing."""
BITS_PER_MIB = 8 * 2**20


class ChangingCassandra(LocalCluster[LocalNode]):
    """What a local cluster can do beside serving; of `CassandraTestbed`, which says what its nodes are."""

    system: CassandraSystem
    shared: dict[str, Any]

    @abstractmethod
    def _make_with(self, spec: NodeSpec, group: Group, yaml: dict[str, Any], *options: str) -> LocalNode:
        """Write a node's files, of these settings, and name its server, with further options of its JVM."""

    @abstractmethod
    def _agent_port(self) -> int | None:
        """Where the agents listen; None where there are none."""

    @property
    def ring_name(self) -> str:
        """What its nodes call it: its files know the name of the cluster they were loaded on."""
        return self.origin.cluster if self.origin else self.name

    # --- nodes that come ---

    def add(self, names: Sequence[str], options: AddOptions, note: Note, say: Say) -> int | None:
        """Have spare nodes join, all at once. See `capabilities.Adds`."""
        if self.system.secure and not options.bootstrap:
            raise InputError(
                "a node that joins without data knows no users, and lets nobody in",
                hint="bootstrap = true, or leave secure out",
            )
        others = list(self.nodes)
        alive = [found for found in others if found.alive]
        if not alive:
            raise InfrastructureError("no node is alive that another could join")
        tokens = dict(zip(names, self._joining_tokens(alive[0], len(names)), strict=True))
        properties = [SETTLED, *([SEVERAL] if len(names) > 1 else [])]
        shared = {**self.shared, "auto_bootstrap": options.bootstrap}

        def make(spec: NodeSpec, group: Group) -> LocalNode:
            assert isinstance(spec, CassandraSpec)  # noqa: S101 - it came from `_reserved`
            seed, token = alive[0].spec.address, self._given(spec) or tokens[spec.name]
            yaml = config.node_settings(shared, spec, self.ring_name, seed, token)
            return self._make_with(spec, group, yaml, *properties)

        port = (
            self._port_inside()
        )  # before anything is started: without it nobody knows when they have joined
        joiners = self._grow(names, make, limited=options.limited)
        say(f"{', '.join(names)} join{'s' * (len(names) == 1)}")
        with self._streams_limited(alive, options.stream_mbit):
            for found in joiners:
                found.start()
            received = moving.wait_joined(joiners, others, port, Milestones(note))
        for found in [] if options.limited else joiners:
            self._limit_node(found)
        if options.bootstrap:
            self._check_received(received, alive)
        moved = sum(received.values())
        say(f"{', '.join(names)} joined, {moved / 2**20:.1f} MiB were streamed")
        return moved

    def _check_received(self, received: Mapping[str, int], members: Sequence[LocalNode]) -> None:
        """See that no joiner missed its data: it would serve as if there were none."""
        empty = [name for name, count in received.items() if not count]
        if not empty:
            return
        held = 0
        for found in members:
            with Inside(found, self._port_inside()) as inside:
                held += inside.held()
        if held > NEVER_NOTHING:
            raise InfrastructureError(
                f"{', '.join(empty)} joined and was streamed nothing of {held >> 20} MiB: reads of its "
                "ranges miss what is there",
                hint="its system.log tells which keyspaces it knew when it began",
            )

    def _given(self, spec: NodeSpec) -> str | None:
        """The user's token for a node in reserve."""
        listed = config.given_tokens(self.system)
        return listed[spec.number - 1] if len(listed) >= spec.number else None

    def _joining_tokens(self, member: LocalNode, joiners: int) -> Sequence[str | None]:
        """What joiners are given; None where each finds tokens by itself, as upstream does it.

        Upstream's allocation looks at the ring as it is: several that join at once would find the same.
        """
        ours = config.at_once(self.shared) or (joiners > 1 and ALLOCATION in self.shared)
        if not ours or len(config.given_tokens(self.system)) > self.system.size:
            return [None] * joiners
        try:
            there = ring.tokens(member.place)
        except OSError as error:
            raise InfrastructureError(f"{member.name} does not tell the ring's tokens: {error}") from error
        each = int(self.shared.get("num_tokens", 1))
        return joining_tokens(self.system.partitioner, there, joiners, each)

    @contextmanager
    def _streams_limited(self, senders: Sequence[LocalNode], mbit: float | None) -> Iterator[None]:
        """Meanwhile each may stream so much; after that what it may now."""
        before = {}
        for found in senders if mbit is not None else ():
            with Inside(found, self._port_inside()) as inside:
                before[found] = inside.stream_limit()
                inside.limit_streams(_whole_mbit(mbit or 0.0))
        try:
            yield
        finally:
            for found, limits in before.items():
                with suppress(InfrastructureError), Inside(found, self._port_inside()) as inside:
                    inside.limit_streams(*limits)

    # --- nodes that go ---

    def remove(self, names: Sequence[str], note: Note, say: Say) -> int | None:
        """Have nodes leave, one after the other. See `capabilities.Removes`."""
        leavers = [self.node(name) for name in names]
        staying = [found for found in self.nodes if found not in leavers]
        replication.check_left(self.system.access, [found.spec for found in staying])
        milestones, moved = Milestones(note), 0
        for found in leavers:
            others = [other for other in self.nodes if other is not found]
            leave = moving.decommission if found.alive else moving.remove_dead
            say(f"{found.name} leaves")
            moved += leave(found, others, self._port_inside(), milestones)
            found.server.stop()
            self._shrink([found])
            milestones.reached(found, "stopped")
        say(f"{', '.join(names)} left, {moved / 2**20:.1f} MiB were streamed")
        return moved

    def missed(self, node: str) -> bool:
        """Whether every other node that answers counts a node as down. See `capabilities.Detects`."""
        gone, told = self.node(node), []
        for found in self.nodes:
            if found is not gone and found.alive:
                with Inside(found, self._port_inside()) as inside:
                    told.append(inside.unreachable())
        seen = [one for one in told if one is not None]
        return bool(seen) and all(gone.spec.address in one for one in seen)

    def _wait_counted(self, chosen: Sequence[LocalNode]) -> None:
        """A node that answers may still take those for dead whom it has not heard of since its start."""
        wait_until(
            lambda: not any(self.missed(found.name) for found in chosen),
            [found.server for found in chosen],
            START_LIMIT_S,
            "others do not count a node that serves again",
        )

    # --- limits and housekeeping ---

    def limit_streams(self, node: str, mbit: float) -> None:
        """Limit what a node streams to others, in Mbit/s; 0 lifts the limit."""
        with self._inside(node) as inside:
            inside.limit_streams(_whole_mbit(mbit))

    def limit_compactions(self, node: str, mbit: float) -> None:
        """Limit what a node's compactions write, in Mbit/s as MiB/s (the least is 1); 0 lifts the limit."""
        mib = max(1, round(mbit * 1e6 / BITS_PER_MIB)) if mbit else 0
        with self._inside(node) as inside:
            inside.operate("compactionthroughput", str(mib))

    def flush(self, node: str, keyspace: str | None = None) -> None:
        """Write a node's memtables to disk."""
        self._operate(node, "flush", keyspace)

    def compact(self, node: str, keyspace: str | None = None) -> None:
        """Compact all tables of a node, or of one keyspace."""
        self._operate(node, "compact", keyspace)

    def cleanup(self, node: str, keyspace: str | None = None) -> None:
        """Drop what a node has of ranges that are no longer its own, of all keyspaces or of one."""
        self._operate(node, "cleanup", keyspace)

    def repair(self, node: str, keyspace: str | None = None) -> None:
        """Compare a node's ranges with their other replicas in full, and stream what differs."""
        self._operate(node, "repair", keyspace)

    def _operate(self, node: str, operation: str, keyspace: str | None) -> None:
        with self._inside(node) as inside:
            inside.operate(operation, *([keyspace] if keyspace else []), timeout_s=OPERATION_LIMIT_S)

    def _inside(self, node: str) -> Inside:
        return Inside(self.node(node), self._port_inside())

    def _port_inside(self) -> int:
        port = self._agent_port()
        if port is None:
            raise InfrastructureError("this needs the metrics agent", hint="watch = true, and a JDK")
        return port


def _whole_mbit(mbit: float) -> int:
    """Cassandra takes whole Mbit/s, and 0 as no limit."""
    return math.ceil(mbit)
