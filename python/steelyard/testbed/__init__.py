"""Testbeds bring up a system under test, tell its facts, and always take it down again.

What is here knows processes, control groups, namespaces and server configuration; it knows nothing of
workloads or results.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.spec.system import System
from steelyard.testbed.base import LocalTestbed, Testbed

if TYPE_CHECKING:
    from steelyard.testbed.process import Identity

__all__ = ["LOCAL", "TESTBEDS", "create"]


def _cassandra(system: Any, name: str, root: Path, owner: Identity | None) -> LocalTestbed:
    from steelyard.testbed.cassandra import CassandraTestbed

    return CassandraTestbed(system, name=name, root=root, owner=owner)


def _hbase(system: Any, name: str, root: Path, owner: Identity | None) -> LocalTestbed:
    from steelyard.testbed.hbase import HBaseTestbed

    return HBaseTestbed(system, name=name, root=root, owner=owner)


def _owned(kind: str) -> Callable[[Any, str, Path], Testbed]:
    def make(system: Any, name: str, root: Path) -> Testbed:
        from steelyard.testbed.process import own_identity

        return LOCAL[kind](system, name, root, own_identity())

    return make


def _hbase_hosts(system: Any, name: str, root: Path) -> Testbed:  # noqa: ARG001 - nothing is made
    from steelyard.testbed.hbase import HBaseHostsTestbed

    return HBaseHostsTestbed(system)


def _embedded(system: Any, name: str, root: Path) -> Testbed:  # noqa: ARG001 - a store needs no name
    from steelyard.testbed.embedded import EmbeddedTestbed

    return EmbeddedTestbed(system, root=root)


def _hosts(system: Any, name: str, root: Path) -> Testbed:  # noqa: ARG001 - nothing is made
    from steelyard.testbed.hosts import HostsTestbed

    return HostsTestbed(system)


def _null(system: Any, name: str, root: Path) -> Testbed:  # noqa: ARG001 - nothing is made
    from steelyard.testbed.null import NullTestbed

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
