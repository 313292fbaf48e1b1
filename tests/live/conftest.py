"""Live tests need real servers. Where Java or Maven are missing they fail and say so.

What needs root is skipped without it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from steelyard.hosts.local import LocalHost
from steelyard.spec.hbase import HBaseSystem
from steelyard.spec.system import CassandraSystem
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.systems.cluster import LocalCluster
from steelyard.systems.hbase.testbed import HBaseTestbed

HERE = Path(__file__).parent
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
"""Which of those that run side by side this is, e.g. "gw1"; empty when there is one."""


def _cassandra(root: Path) -> CassandraTestbed:
    system = CassandraSystem(nodes=3, profile="quick")
    return CassandraTestbed(system, name=f"shared3{WORKER}", root=root, host=LocalHost())


def _hbase(root: Path) -> HBaseTestbed:
    system = HBaseSystem(nodes=3, masters=2, profile="quick")
    return HBaseTestbed(system, name=f"hshared3{WORKER}", root=root, host=LocalHost())


SHARED: dict[str, Callable[[Path], LocalCluster[Any]]] = {"cassandra3": _cassandra, "hbase3": _hbase}
"""Clusters that tests share, by the fixtures' names, and how each is made in a folder."""


def shared_by(item: pytest.Item | None) -> list[str]:
    """Which shared clusters a test needs: those it asks for, and those its parameters name."""
    if item is None:
        return []
    of = getattr(item, "callspec", None)
    named = {*getattr(item, "fixturenames", ()), *(map(str, of.params.values()) if of else ())}
    return [name for name in SHARED if name in named]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of a shared cluster follow each other.

    Where one needs the secure cluster, too, it is the last of them, and all others of that follow.
    """
    live = [item for item in items if HERE in item.path.parents]
    for item in live:
        item.add_marker(pytest.mark.live)
    order = [*SHARED, ""]

    def place(item: pytest.Item) -> tuple[int, bool]:
        shared, secure = [*shared_by(item), ""][0], "shared_secure" in getattr(item, "fixturenames", ())
        return order.index(shared), secure if shared else not secure

    live.sort(key=place)
    items[:] = [*(item for item in items if HERE not in item.path.parents), *live]


class ByClusters(LoadScopeScheduling):
    """All files that name a shared cluster go to one worker, where it is up once; each other goes whole."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, _ = nodeid.partition("::")
        text = (HERE / Path(file).name).read_text(encoding="utf-8")
        return next((name for name in reversed(SHARED) if name in text), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByClusters:
    """Live tests are laid out so whatever `--dist` says."""
    return ByClusters(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """A shared cluster that the next test does not need is taken down: idle, it takes a tenth of a core."""
    yield
    if shared := item.config.stash.get(CLUSTERS, None):
        shared.keep(shared_by(nextitem))


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


class Shared:
    """Clusters that tests share, each from the first test that needs it until one follows that does not."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._up: dict[str, LocalCluster[Any]] = {}

    def cluster(self, name: str) -> Any:
        """The cluster of a fixture's name, up."""
        if name not in self._up:
            self._up[name] = SHARED[name](self._folders.mktemp(name))
            self._up[name].up(print)
        return self._up[name]

    def keep(self, names: Collection[str]) -> None:
        """Take down all but these."""
        for name in [name for name in self._up if name not in names]:
            self._up.pop(name).down(print)


CLUSTERS = pytest.StashKey[Shared]()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Shared]:
    pytestconfig.stash[CLUSTERS] = made = Shared(tmp_path_factory)
    yield made
    made.keep([])


@pytest.fixture
def cassandra3(shared: Shared) -> Iterator[CassandraTestbed]:
    """Three nodes of Cassandra 5.0, shared; a test that changes one puts it right again."""
    yield (three := shared.cluster("cassandra3"))
    put_right(three)


@pytest.fixture
def hbase3(shared: Shared) -> Iterator[HBaseTestbed]:
    """Three nodes and two masters of HBase 2.6, shared; a test that changes one puts it right again."""
    yield (three := shared.cluster("hbase3"))
    put_right(three)


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
