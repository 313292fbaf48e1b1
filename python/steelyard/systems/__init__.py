"""What a system under test is: it comes up, tells its facts, and is always taken down again; a folder a kind.

What is here knows server configuration and how servers change; it knows nothing of workloads or results.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.spec.system import System
from steelyard.systems.base import LocalTestbed, Testbed

if TYPE_CHECKING:
    from steelyard.hosts.process import Identity

__all__ = ["LOCAL", "TESTBEDS", "create"]


def _cassandra(system: Any, name: str, root: Path, owner: Identity | None) -> LocalTestbed:
    from steelyard.systems.cassandra import CassandraTestbed

    return CassandraTestbed(system, name=name, root=root, owner=owner)


def _hbase(system: Any, name: str, root: Path, owner: Identity | None) -> LocalTestbed:
    from steelyard.systems.hbase import HBaseTestbed

    return HBaseTestbed(system, name=name, root=root, owner=owner)


def _owned(kind: str) -> Callable[[Any, str, Path], Testbed]:
    def make(system: Any, name: str, root: Path) -> Testbed:
        from steelyard.hosts.process import own_identity

        return LOCAL[kind](system, name, root, own_identity())

    return make


def _hbase_hosts(system: Any, name: str, root: Path) -> Testbed:  # noqa: ARG001 - nothing is made
    from steelyard.systems.hbase import HBaseHostsTestbed

    return HBaseHostsTestbed(system)


def _embedded(system: Any, name: str, root: Path) -> Testbed:  # noqa: ARG001 - a store needs no name
    from steelyard.systems.embedded import EmbeddedTestbed

    return EmbeddedTestbed(system, root=root)


def _hosts(system: Any, name: str, root: Path) -> Testbed:  # noqa: ARG001 - nothing is made
    from steelyard.systems.cassandra.given import HostsTestbed

    return HostsTestbed(system)


def _null(system: Any, name: str, root: Path) -> Testbed:  # noqa: ARG001 - nothing is made
    from steelyard.systems.null import NullTestbed

    return NullTestbed()


LOCAL: dict[str, Callable[[Any, str, Path, Identity | None], LocalTestbed]] = {
    "cassandra": _cassandra,
    "hbase": _hbase,
}
"""A kind of local cluster -> what makes its testbed; the last argument is its owner, or None."""

TESTBEDS: dict[str, Callable[[Any, str, Path], Testbed]] = {
    **{kind: _owned(kind) for kind in LOCAL},
    "embedded": _embedded,
    "hbase-hosts": _hbase_hosts,
    "hosts": _hosts,
    "null": _null,
}
"""A system's kind -> what makes its testbed; a new kind of system is one entry more."""


def create(system: System, *, name: str, root: Path) -> Testbed:
    """The testbed of a system, not yet up.

    Args:
        system: what is to be tested.
        name: names what is made for it: record, control groups, namespaces.
        root: a folder on disk for what it stores; what is made in it is removed by `down`.

    Raises:
        InputError: settings that this system cannot have.
    """
    return TESTBEDS[system.kind](system, name, root)
