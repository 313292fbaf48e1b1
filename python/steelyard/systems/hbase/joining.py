"""How nodes join an HBase cluster while it serves.

Regions move, and no data: a region's files stay where they are in HDFS, until a compaction writes new ones on
the node that serves it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts.say import Say
from steelyard.systems.capabilities import AddOptions, Note
from steelyard.systems.cluster import START_LIMIT_S
from steelyard.systems.hbase import admin, serving
from steelyard.systems.hbase.administered import MOVE_LIMIT_S, AdministeredHBase, answered
from steelyard.systems.hbase.layout import REGIONSERVER
from steelyard.systems.hbase.node import HBaseNode
from steelyard.systems.server import Server
from steelyard.systems.waiting import wait_until

WHOLE = 0.9999
"""A share, in single precision, that is all."""
ROUNDS_MAX = 20
"""Runs of the balancer; mostly the second moves nothing."""
Reached = Callable[[HBaseNode], bool]


class JoiningHBase(AdministeredHBase):
    """A local HBase cluster that can grow."""

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
        self._let_in(names)
        for found in joined:
            found.start()
        _note_each(joined, "up", _up, note)
        _note_each(joined, "registered", self._registered, note)
        self._wait_registered([found.spec for found in joined], _servers(joined))
        say(f"{', '.join(names)} joined")
        if options.balance:
            self._even_out(joined, note, say)
        for found in joined if not options.limited else ():
            self._limit_node(found)
        return 0

    def localize(self, node: str, say: Say) -> int:
        """Compact the regions of a node whose files are not all on it, into files that are; HBase's own, too.
        See `capabilities.Localizes`.

        Where the first copy of a new file is known to HDFS after others the region does not count it as
        local: such a region is compacted again.
        """
        found = self.node(node)
        first = self._ask(lambda: admin.localities(found.spec), f"{node} does not tell where its files are")
        remote = sum(round(one.bytes * (1 - one.share)) for one in first)
        away = [one for one in first if one.share < WHOLE]
        say(f"{node}: files of {len(away)} of {len(first)} regions are on others, {remote >> 20} MiB")

        def whole() -> bool:
            away = [one for one in admin.localities(found.spec) if one.share < WHOLE]
            for one in away:
                admin.compact_one(found.spec, one.name)
            return not away

        wait_until(answered(whole), [found.server(REGIONSERVER)], MOVE_LIMIT_S, f"{node} is not local")
        return remote

    def _let_in(self, names: Sequence[str]) -> None:
        """HDFS takes DataNodes that have left before."""
        others = {name: address for name, address in self._excluded.items() if name not in names}
        if others != self._excluded:
            self._exclude(others)

    def _registered(self, found: HBaseNode) -> bool:
        return serving.server_name(found.spec) in serving.registered(self._master())

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
        else:
            raise InfrastructureError(f"the balancer still moves regions after {ROUNDS_MAX} runs")
        for found in joined:
            note(found.name, "balanced")

    def _spread(self) -> dict[str, int]:
        """Regions of tables by node, as far as its region server is alive."""
        there = [found for found in self.nodes if REGIONSERVER in found.spec.roles]
        specs = [found.spec for found in there if found.server(REGIONSERVER).alive]
        counts = "a server does not tell its regions"
        return self._ask(lambda: {spec.name: len(admin.regions(spec)) for spec in specs}, counts)

    def _balance_once(self, joined: Sequence[HBaseNode]) -> int:
        """Have the balancer run, as soon as the master lets it; returns how many regions it moves."""
        moved: list[int] = []

        def ran() -> bool:
            done = self._ask(lambda: admin.balance(self._master()), "the balancer did not run")
            moved.extend([] if done is None else [done])
            return bool(moved)

        wait_until(answered(ran), _servers(joined), MOVE_LIMIT_S, "the master does not run the balancer")
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

        wait_until(answered(moved), _servers(joined), MOVE_LIMIT_S, "regions are still under way")


def _check(options: AddOptions) -> None:
    if not options.bootstrap or options.stream_mbit is not None:
        raise InputError(
            "a node of HBase streams nothing when it joins: regions move, and no data",
            hint="leave bootstrap and stream_mbit out",
        )


def _note_each(joined: Sequence[HBaseNode], what: str, reached: Reached, note: Note) -> None:
    """Note of each node when it has reached something; returns when all have."""
    left = list(joined)

    def all_have() -> bool:
        for found in tuple(left):
            if reached(found):
                note(found.name, what)
                left.remove(found)
        return not left

    wait_until(answered(all_have), _servers(joined), START_LIMIT_S, f"not all nodes are {what}")


def _up(found: HBaseNode) -> bool:
    return all(serving.serves(found.spec, role) for role in found.spec.roles)


def _servers(nodes: Sequence[HBaseNode]) -> list[Server]:
    return [server for found in nodes for server in found.servers]
