"""What a local cluster does with its data at rest: keep them, and begin with kept ones."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from steelyard.errors import InfrastructureError
from steelyard.hosts.host import Host
from steelyard.hosts.say import Say
from steelyard.hosts.snapshots import Restored, Rules, Snapshot
from steelyard.systems.base import Settled
from steelyard.systems.node import NodeSpec

REST_LIMIT_S = 600.0
"""Compactions of a load may take a while; they are waited for once for each data set."""
SAME_LIMIT_S = 60.0
"""Some of what servers say of themselves is told some seconds after they serve."""
POLL_S = 0.2
ROUNDS = 5


class Restorable(ABC):
    """A cluster whose data can be kept and put back.

    Attributes:
        rules: which of a node's files are its data.
        idle_flush: whether a flush of nothing changes no file. HBase's does, by some hundred bytes.
        origin: the snapshot that the next `up` begins with; None = with no data.
        restored: what putting it back took, at the last `up` from a snapshot.
    """

    host: Host
    kind: str
    specs: list[NodeSpec]
    rules: ClassVar[Rules]
    idle_flush: ClassVar[bool] = False
    name: str
    folder: Path
    origin: Snapshot | None = None
    restored: Restored | None = None

    @property
    @abstractmethod
    def block(self) -> str:
        """Its address block."""

    @abstractmethod
    def shaped_by(self) -> dict[str, Any]:
        """What shapes its files beside what was asked of it: releases, and the settings that result."""

    @abstractmethod
    def flush_all(self) -> None:
        """Write everything in memory to files; raises InfrastructureError."""

    @abstractmethod
    def settle(self, limit_s: float, say: Say) -> Settled:
        """Wait, within the limit, until pending compactions and flushes are done."""

    @abstractmethod
    def holding(self) -> dict[str, Any]:
        """Who its nodes are, and which files of data they have; raises OSError while one does not tell."""

    @abstractmethod
    def leave(self, say: Say) -> None:
        """Stop every server in an orderly way: nothing is left to be replayed or recovered at the next start.

        Raises:
            InfrastructureError: a server did not end by itself.
        """

    def keep(self, key: str, load: Mapping[str, Any], shape: Mapping[str, Any], say: Say) -> Snapshot:
        """Bring the data to rest, stop all servers, and keep the files. The cluster must be taken down then.

        Args:
            key: of what shaped the data.
            load: what is to be said of the load.
            shape: what the key is of.

        Raises:
            InfrastructureError: no rest, no orderly end, no room; no snapshot is left then.
        """
        nodes = tuple(spec.name for spec in self.specs)
        self._rest(say)
        holding = self._written(say)
        self.leave(say)
        began = time.monotonic()
        made = Snapshot(key, self.kind, self.name, self.block, nodes, load, shape, holding)
        kept = self._keep(made)
        say(f"kept as snapshot {key}: {kept.files} files, {kept.bytes >> 20} MiB ({_since(began)})")
        return kept

    def _written(self, say: Say) -> dict[str, Any]:
        """Flush until that changes nothing: what nodes hand over to each other meanwhile is written, too."""
        for _ in range(ROUNDS):
            self.flush_all()
            self._rest(say)
            holding = self.holding()
            if not self.idle_flush:
                return holding
            self.flush_all()
            if self.holding() == holding:
                return holding
        raise InfrastructureError(f"files of data still change after {ROUNDS} flushes")

    def _rest(self, say: Say) -> None:
        settled = self.settle(REST_LIMIT_S, say)
        if not settled.quiet:
            raise InfrastructureError(f"not at rest after {REST_LIMIT_S:.0f} s: {settled.detail}")

    def _keep(self, made: Snapshot) -> Snapshot:
        return self.host.keep(made, self.folder, self.rules)

    def _restore(self, origin: Snapshot) -> Restored:
        return self.host.restore(origin, self.rules, self.folder)

    def put_back(self, say: Say) -> None:
        """Put the snapshot that this cluster begins with, if any, into its nodes' folders."""
        if self.origin is None:
            return
        done = self.restored = self._restore(self.origin)
        size = (done.copied_bytes + done.shared_bytes) >> 20
        say(f"restored from snapshot {self.origin.key}: {size} MiB ({done.seconds:.1f} s)")

    def wait_same(self, say: Say) -> None:
        """Wait until the cluster says of itself and its data what it said when they were kept.

        Raises:
            InfrastructureError: it says something else for a minute; what differs is named.
        """
        if self.origin is None:
            return
        until = time.monotonic() + SAME_LIMIT_S
        while fault := self._differs(self.origin.holding):
            if time.monotonic() > until:
                raise InfrastructureError(
                    f"restored from snapshot {self.origin.key}, but {fault}",
                    hint=f"`steelyard snapshots rm {self.origin.key}` removes it; the next run loads anew",
                )
            time.sleep(POLL_S)
        say("nodes and files of data are those of the snapshot")

    def _differs(self, then: Mapping[str, Any]) -> str:
        try:
            return difference(then, self.holding())
        except (OSError, InfrastructureError) as error:
            return f"not all of it can be told: {error}"


def difference(then: Any, now: Any, at: str = "") -> str:
    """The first thing in which two tables differ, in words; empty when they are equal."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for name in (*then, *(name for name in now if name not in then)):
            if fault := difference(then.get(name), now.get(name), f"{at} {name}".strip()):
                return fault
        return ""
    return "" if then == now else f"{at or 'it'} was {_short(then)}, is {_short(now)}"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 200 else text[:200] + "..."


def _since(began: float) -> str:
    return f"{time.monotonic() - began:.1f} s"
