"""Live tests need real servers. Where Java or Maven are missing they fail and say so; none is skipped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard.hosts.local import LocalHost
from steelyard.spec.hbase import HBaseSystem
from steelyard.spec.system import CassandraSystem
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.systems.cluster import LocalCluster
from steelyard.systems.hbase.testbed import HBaseTestbed

HERE = Path(__file__).parent
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
"""Which of those that run side by side this is, e.g. "gw1"; empty when there is one."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.live)


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A state folder of the tests' own: the user's clusters are neither seen nor touched.

    Workers that run side by side share it, as users' tools do: each cluster has addresses of its own.
    """
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if WORKER else own) / "state"
    folder.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "STEELYARD_STATE", str(folder))
        yield folder


def put_right(testbed: LocalCluster[Any]) -> None:
    """What a test left frozen or dead is brought back, so that no other fails with it; the dead are told."""
    dead = {server.name: server.why_dead() for server in testbed.servers if not server.alive}
    for server in testbed.servers:
        if server.alive:
            testbed.thaw(server.name)
    for name in sorted(dead):  # masters first: others wait for them
        testbed.restart(name)
    assert not dead


@pytest.fixture(scope="session")
def shared_cassandra(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[CassandraTestbed]:
    system = CassandraSystem(nodes=3, profile="quick")
    testbed = CassandraTestbed(
        system, name=f"shared3{WORKER}", root=tmp_path_factory.mktemp("nodes"), host=LocalHost()
    )
    testbed.up(print)
    yield testbed
    testbed.down(print)


@pytest.fixture
def cassandra3(shared_cassandra: CassandraTestbed) -> Iterator[CassandraTestbed]:
    """Three nodes of Cassandra 5.0, shared; a test that changes one puts it right again."""
    yield shared_cassandra
    put_right(shared_cassandra)


@pytest.fixture(scope="session")
def shared_hbase(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[HBaseTestbed]:
    system = HBaseSystem(nodes=3, masters=2, profile="quick")
    testbed = HBaseTestbed(
        system, name=f"hshared3{WORKER}", root=tmp_path_factory.mktemp("hbase"), host=LocalHost()
    )
    testbed.up(print)
    yield testbed
    testbed.down(print)


@pytest.fixture
def hbase3(shared_hbase: HBaseTestbed) -> Iterator[HBaseTestbed]:
    """Three nodes and two masters of HBase 2.6, shared; a test that changes one puts it right again."""
    yield shared_hbase
    put_right(shared_hbase)


@pytest.fixture
def cluster(
    tmp_path: Path,
) -> Iterator[Callable[..., CassandraTestbed]]:
    """Makes clusters that are taken down with the test; not yet up."""
    made: list[CassandraTestbed] = []

    def make(name: str, **settings: object) -> CassandraTestbed:
        system = CassandraSystem.model_validate({"profile": "quick", **settings})
        made.append(CassandraTestbed(system, name=name, root=tmp_path, host=LocalHost()))
        return made[-1]

    yield make
    for testbed in made:
        testbed.down(print)


@pytest.fixture
def hbase_cluster(tmp_path: Path) -> Iterator[Callable[..., HBaseTestbed]]:
    """The same of HBase."""
    made: list[HBaseTestbed] = []

    def make(name: str, **settings: object) -> HBaseTestbed:
        system = HBaseSystem.model_validate({"profile": "quick", "roles": "colocated", **settings})
        made.append(HBaseTestbed(system, name=name, root=tmp_path, host=LocalHost()))
        return made[-1]

    yield make
    for testbed in made:
        testbed.down(print)
