"""Clusters of paper that are upgraded: which version each node is told with, what each server passes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from steelyard.errors import InfrastructureError
from steelyard.hosts.local import LocalHost
from steelyard.spec.hbase import HBaseSystem
from steelyard.spec.system import CassandraSystem
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.systems.hbase.testbed import HBaseTestbed


def silent(*_what: object) -> None:
    """Nobody listens."""


def never(*_what: object) -> None:
    raise InfrastructureError("it does not serve")


def test_a_node_that_did_not_come_up_again_is_told_with_its_old_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = CassandraTestbed(CassandraSystem(version="4.1"), name="paper", root=tmp_path, host=LocalHost())
    paper = {"name": "node1", "spec": SimpleNamespace(address=""), "server": None, "group": None}
    old, again = SimpleNamespace(**paper, alive=True), SimpleNamespace(**paper, alive=False, start=silent)
    cluster.nodes, cluster.specs = [old], [old.spec]  # type: ignore[list-item]
    release = SimpleNamespace(version="5.0.7", shared={}, line=None, launches=None)
    cluster._ready = {"5.0": release}  # type: ignore[dict-item]
    monkeypatch.setattr("steelyard.systems.cassandra.config.node_settings", silent)
    monkeypatch.setattr("steelyard.systems.cassandra.upgrading.ask_to_leave", silent)
    for name, of in {"_operate": silent, "_make_of": lambda *_: again, "_wait_serves": never}.items():
        monkeypatch.setattr(cluster, name, of)
    with pytest.raises(InfrastructureError):
        cluster.upgrade("node1", "5.0", silent, silent)
    assert cluster.nodes == [again]
    assert cluster.versions() == {"node1": cluster.version}
    again.alive = True
    for name in ("_wait_serves", "_wait_all_up"):
        monkeypatch.setattr(cluster, name, silent)
    cluster.upgrade("node1", "5.0", silent, silent)
    assert cluster.versions() == {"node1": "5.0.7"}


def hbase(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> HBaseTestbed:
    """A cluster of paper whose upgrades succeed at once.

    Args:
        names: its servers, as `node1/master`.
    """
    cluster = HBaseTestbed(HBaseSystem(version="2.4"), name="paper", root=folder, host=LocalHost())
    roles: dict[str, list[str]] = {}
    for name in names:
        roles.setdefault(name.partition("/")[0], []).append(name.partition("/")[2])
    server = {name: SimpleNamespace(name=name, stop=silent, start=silent) for name in names}
    cluster.nodes = [
        SimpleNamespace(  # type: ignore[misc]
            name=node,
            spec=SimpleNamespace(name=node, roles=tuple(of)),
            servers=[server[f"{node}/{role}"] for role in of],
            server=lambda role, node=node: server[f"{node}/{role}"],
        )
        for node, of in roles.items()
    ]
    cluster._ready = dict.fromkeys(("2.4.17", "2.6"))  # type: ignore[misc]
    paper = {"_renew": lambda found, role, _: found.server(role), "_emptied": lambda *_: []}
    for name, does in {**paper, "_wait_serving": silent, "_give_back_regions": silent}.items():
        monkeypatch.setattr(cluster, name, does)
    return cluster


def test_a_region_server_that_did_not_come_up_again_is_told_with_its_old_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = hbase(tmp_path, monkeypatch, "node1/regionserver", "node1/master", "node2/regionserver")
    cluster.upgrade("node1/master", "2.6", silent, silent)
    monkeypatch.setattr(cluster, "_wait_serving", never)
    with pytest.raises(InfrastructureError):
        cluster.upgrade("node1/regionserver", "2.6", silent, silent)
    assert cluster.versions() == {"node1": "2.4.16", "node2": "2.4.16"}


def test_nodes_that_left_after_an_upgrade_do_not_hold_up_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = hbase(tmp_path, monkeypatch, "node1/master", "node1/regionserver", "node2/regionserver")
    for name in ("node1/master", "node1/regionserver", "node2/regionserver"):
        cluster.upgrade(name, "2.4.17", silent, silent)
    assert cluster.version == "2.4.17"
    cluster.nodes = cluster.nodes[:1]
    for name in ("node1/master", "node1/regionserver"):
        assert cluster.version == "2.4.17"
        cluster.upgrade(name, "2.6", silent, silent)
    assert cluster.version == "2.6.4"


def test_what_a_master_passes_is_kept_apart_from_its_node_s_region_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = hbase(tmp_path, monkeypatch, "node1/master", "node1/regionserver", "master2/master")
    told: list[tuple[str, str]] = []
    for name in ("master2/master", "node1/master", "node1/regionserver"):
        cluster.upgrade(name, "2.6", lambda *what: told.append(what), silent)
    each = [("master2", "stopped"), ("master2", "serves"), ("node1/master", "stopped")]
    each += [("node1/master", "serves"), ("node1", "stopped"), ("node1", "serves"), ("node1", "assigned")]
    assert told == each
