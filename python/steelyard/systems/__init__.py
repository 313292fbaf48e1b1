"""What a system under test is: it comes up, tells its facts, and is always taken down again; a folder a kind.

What is here knows server configuration and how servers change; it knows nothing of workloads or results.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from steelyard.hosts.host import Host
from steelyard.spec.system import System
from steelyard.systems.base import LocalTestbed, Testbed

__all__ = ["LOCAL", "TESTBEDS", "create"]


def _cassandra(system: Any, name: str, root: Path, host: Host, *, stays: bool) -> LocalTestbed:
    from steelyard.systems.cassandra import CassandraTestbed

    return CassandraTestbed(system, name=name, root=root, host=host, stays=stays)


def _hbase(system: Any, name: str, root: Path, host: Host, *, stays: bool) -> LocalTestbed:
    from steelyard.systems.hbase import HBaseTestbed

    return HBaseTestbed(system, name=name, root=root, host=host, stays=stays)


def _ending_with_us(kind: str) -> Callable[[Any, str, Path, Host], Testbed]:
    return lambda system, name, root, host: LOCAL[kind](system, name, root, host, stays=False)


def _hbase_hosts(system: Any, name: str, root: Path, host: Host) -> Testbed:  # noqa: ARG001 - nothing is made
    from steelyard.systems.hbase import HBaseHostsTestbed

    return HBaseHostsTestbed(system)


def _embedded(system: Any, name: str, root: Path, host: Host) -> Testbed:  # noqa: ARG001 - a store needs no name
    from steelyard.systems.embedded import EmbeddedTestbed

    return EmbeddedTestbed(system, root=root)


def _hosts(system: Any, name: str, root: Path, host: Host) -> Testbed:  # noqa: ARG001 - nothing is made
    from steelyard.systems.cassandra.given import HostsTestbed

    return HostsTestbed(system)


def _null(system: Any, name: str, root: Path, host: Host) -> Testbed:  # noqa: ARG001 - nothing is made
    from steelyard.systems.null import NullTestbed

    return NullTestbed()


LOCAL: dict[str, Callable[..., LocalTestbed]] = {"cassandra": _cassandra, "hbase": _hbase}
"""A kind of cluster that we start -> what makes its testbed from system, name, root, host and `stays`."""

TESTBEDS: dict[str, Callable[[Any, str, Path, Host], Testbed]] = {
    **{kind: _ending_with_us(kind) for kind in LOCAL},
    "embedded": _embedded,
    "hbase-hosts": _hbase_hosts,
    "hosts": _hosts,
    "null": _null,
}
"""A system's kind -> what makes its testbed; a new kind of system is one entry more."""


def create(system: System, *, name: str, root: Path, host: Host | None = None) -> Testbed:
    """The testbed of a system, not yet up.

    Args:
        system: what is to be tested.
        name: names what is made for it: record, control groups, namespaces.
        root: a folder on disk for what it stores; what is made in it is removed by `down`.
        host: where its servers run, if it starts any; None = this machine.

    Raises:
        InputError: settings that this system cannot have.
    """
    from steelyard.hosts.local import LocalHost

    return TESTBEDS[system.kind](system, name, root, host or LocalHost())
