"""A kind of system as one record: what the spec asks in words, and what operates such a system.

A record is registered once: Steelyard's own stand in `steelyard.systems.kinds`, another package's under the
entry points `steelyard.systems`. docs/extending.md walks through one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.errors import InfrastructureError
from steelyard.spec.kind import Fault, SystemDeclaration, declared

if TYPE_CHECKING:
    from steelyard.hosts.host import Host
    from steelyard.hosts.records import Record
    from steelyard.spec.ycsb_binding import Binding
    from steelyard.systems.base import LocalTestbed, Testbed
    from steelyard.systems.ledger import Line
    from steelyard.systems.status import NodeStatus


@dataclass(frozen=True)
class Needs:
    """What servers of a kind need of this host.

    Attributes:
        title: the system's name for people.
        javas: release line -> versions of Java it runs on, the best first.
        ports: they listen on, if no setting moves them.
        jars: release line -> what the newest release's jars are called in the cache.
        no_step: from one line to another -> why a cluster cannot be brought from the one to the other.
        nodes_in: from a profile and MiB of memory to how many nodes fit; the profiles are `profiles`.
    """

    title: str
    javas: Mapping[str, Sequence[int]]
    jars: Mapping[str, str]
    no_step: Callable[[str, str], Fault | None]
    ports: Sequence[int]
    profiles: Sequence[str]
    nodes_in: Callable[[str, int], int]


class SystemKind(SystemDeclaration):
    """One kind of system.

    Attributes:
        columns: what `cluster status` calls a node's place, and what it sees.
        laid_over: its nodes can be on several machines, `ServerHosts`; the testbed sees to it.
    """

    laid_over: bool = False
    columns: tuple[str, str] = ("place", "sees")

    def testbed(self, system: Any, *, name: str, root: Path, host: Host) -> Testbed:
        """A testbed of it that goes with this process, not yet up; arguments as of `systems.create`."""
        raise NotImplementedError

    def lasting(self, system: Any, *, name: str, root: Path, host: Host) -> LocalTestbed:
        """A testbed whose cluster stays when this process ends; kinds that are `local` have it."""
        raise NotImplementedError

    def status(self, host: Host, record: Record, node: Mapping[str, Any]) -> NodeStatus:
        """How a node of a cluster that stays is now."""
        raise NotImplementedError

    def needs(self) -> Needs | None:
        """What its servers need of this host; None when it starts none."""
        return None

    def ledger(self) -> Mapping[str, Line]:
        """What the words of a study promise on it: lines of `report.study.ledger`, and lines of its own."""
        return {}

    def bindings(self) -> Sequence[Binding]:
        """YCSB's names for it."""
        return ()


def kind_of(name: str) -> SystemKind:
    """The record of a kind, to operate it.

    Raises:
        InfrastructureError: no such kind is installed here.
    """
    found = declared(name)
    if not isinstance(found, SystemKind):
        raise InfrastructureError(
            f"systems of kind '{name}' are not known here", hint="install the package that adds them"
        )
    return found
