"""A local Cassandra cluster that is brought to another version while it serves, one node after the other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts.cgroup import Group
from steelyard.hosts.say import Say
from steelyard.systems.capabilities import Note
from steelyard.systems.cassandra import config, old_names, secured, versions
from steelyard.systems.cassandra.changing import ChangingCassandra
from steelyard.systems.cassandra.config import CassandraSpec
from steelyard.systems.cassandra.inside import Inside
from steelyard.systems.cassandra.launch import Launch
from steelyard.systems.cassandra.node import LocalNode
from steelyard.systems.cassandra.versions import Line
from steelyard.systems.cluster import START_LIMIT_S
from steelyard.systems.node import ask_to_leave
from steelyard.systems.placement import Launches
from steelyard.systems.waiting import wait_until

STOP_LIMIT_S = 120.0


@dataclass(frozen=True)
class Release:
    """A version that is ready to run.

    Attributes:
        version: in full.
        line: it belongs to.
        shared: the settings that all nodes share under it.
        launches: what servers of each machine are started with.
    """

    version: str
    line: Line
    shared: Mapping[str, Any]
    launches: Launches[Launch]


class UpgradingCassandra(ChangingCassandra):
    """What `CassandraTestbed` can do about its version.

    Attributes:
        version: what all nodes run, or will when an upgrade that goes on has come to all.
        line: it belongs to.
        launches: what its servers are started with.
    """

    version: str
    line: Line
    launches: Launches[Launch]
    _ready: Mapping[str, Release] = {}
    _runs: Mapping[str, str] = {}
    """Node -> its version, of those that have served with one that they were brought to."""

    @abstractmethod
    def _launches_of(self, version: str, line: Line, say: Say) -> Launches[Launch]:
        """Find Java for a version, and fetch its jars, on each machine."""

    @abstractmethod
    def _make_of(
        self, release: Release, spec: CassandraSpec, group: Group, yaml: dict[str, Any]
    ) -> LocalNode:
        """As `_make_with`, of another version."""

    def _make_ready(self, say: Say) -> None:
        """Fetch what the versions need that it may be brought to; none is fetched while it serves."""
        self._runs = {}
        self._ready = {said: self._release(*versions.resolve(said), say) for said in self.system.upgrades}

    def _release(self, version: str, line: Line, say: Say) -> Release:
        return Release(version, line, self._shared_under(line), self._launches_of(version, line, say))

    def _shared_under(self, line: Line) -> dict[str, Any]:
        """The settings under another line.

        A node keeps its number of tokens, and refuses to start with another. Of a setting that the user gave
        by its old name the new one is left out: both would be refused.
        """
        found = config.settings(self.system, line) | secured.settings(self.system, line)
        for old, new in old_names.NEW_NAMES.items():
            if old in self.system.settings and not line.old_names:
                found.pop(new, None)
        return found | {"num_tokens": self.shared.get("num_tokens", 1)}

    def upgrade_order(self) -> Sequence[str]:
        """Its nodes, the first one first. See `capabilities.Upgrades`."""
        return self.members()

    def upgrade(self, name: str, version: str, note: Note, say: Say) -> None:
        """Drain and stop a node, and start it with another version; see `capabilities.Upgrades`.

        Milestones: "drained" (it has flushed, and clients are sent away), "stopped", "up" (it answers
        clients), "serves" (all nodes count each other as up).
        """
        release, found = self._asked(version), self.node(name)
        if not found.alive:
            raise InfrastructureError(f"{name} is dead, and cannot be drained", hint="restart it before")
        self._operate(name, "drain", None)
        note(name, "drained")
        ask_to_leave([found.server], STOP_LIMIT_S)
        note(name, "stopped")
        again = self._renew(found, release)
        again.start()
        self._wait_serves(again, say)
        self._runs = {**self._runs, name: release.version}
        note(name, "up")
        self._wait_all_up(again)
        note(name, "serves")
        say(f"{name} runs {release.version}")
        if all(self._runs.get(node.name) == release.version for node in self.nodes):
            self._taken(release)

    def versions(self) -> Mapping[str, str]:
        """The version that each node has served with last. See `capabilities.Upgrades`."""
        return {node.name: self._runs.get(node.name, self.version) for node in self.nodes}

    def rewrite(self, node: str) -> None:
        """Write a node's files anew that an earlier version wrote (upgradesstables)."""
        self._operate(node, "upgradesstables", None)

    def _asked(self, version: str) -> Release:
        if version not in self._ready:
            raise InputError(
                f"Cassandra {version} was not made ready before the cluster started",
                hint=f'upgrades = ["{version}"]',
            )
        return self._ready[version]

    def _renew(self, found: LocalNode, release: Release) -> LocalNode:
        """The same node, not started, with another version's files, in place of the old one.

        It knows its tokens by itself.
        """
        seeds = config.seeds(self.specs[0].address, found.spec.address)
        yaml = config.node_settings(release.shared, found.spec, self.ring_name, seeds, None)
        again = self._make_of(release, found.spec, found.group, yaml)
        with self._changing:
            self.nodes = [again if node is found else node for node in self.nodes]
        return again

    def _taken(self, release: Release) -> None:
        """All nodes run it: those that join from now on do, too."""
        self.version, self.line, self.launches = release.version, release.line, release.launches
        self.shared = dict(release.shared)

    def _wait_all_up(self, again: LocalNode) -> None:
        """Wait until it and all others that live count each other as up."""
        there = [node for node in self.nodes if node.alive]
        wanted = {node.spec.address for node in there}
        with ExitStack() as opened:
            inside = [opened.enter_context(Inside(node, self._port_inside())) for node in there]
            wait_until(
                lambda: all(wanted <= one.live() for one in inside),
                [again.server],
                START_LIMIT_S,
                f"not all nodes count each other as up after {again.name} was upgraded",
            )
