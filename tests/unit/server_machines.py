"""Three machines behind a wire, each with a state folder of its own, and a cluster that is laid over them."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from test_host_port import SERVER, StandIn

from steelyard.hosts.cgroup import Group
from steelyard.hosts.host import HostLostError
from steelyard.hosts.local import LocalHost
from steelyard.hosts.process import Identity
from steelyard.hosts.server_hosts import ServerHost, ServerHosts
from steelyard.hosts.snapshots import Rules
from steelyard.spec.local import LocalSystem
from steelyard.systems.node import Node, NodeSpec
from steelyard.systems.server import ServerSpec

NAMES = ("a", "b", "c")


class Machine:
    """A machine behind a wire, with a state folder of its own; it can be lost.

    Attributes:
        asked: the methods of the port that it was asked.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.lost, self.asked = folder, False, list[str]()
        self._there = LocalHost()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*given: Any, **words: Any) -> Any:
            if self.lost:
                raise HostLostError("the host b is lost")
            self.asked.append(name)
            before = os.environ["STEELYARD_STATE"]
            os.environ["STEELYARD_STATE"] = str(self.folder)
            try:
                done = getattr(self._there, name)(*carried(given), **carried(words))
            finally:
                os.environ["STEELYARD_STATE"] = before
            return done if name == "watch" else carried(done)

        return call


def carried(value: Any) -> Any:
    """What arrives at the other end of a wire."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes


def never(_path: PurePosixPath) -> bool:
    """No file is linked."""
    return False


class Spread(StandIn):
    """The stand-in, whose nodes' files are where they are."""

    rules = Rules(("data",), never)

    def _make_node(self, spec: NodeSpec, group: Group) -> Node:
        self.host_of(spec).put(spec.folder / "conf" / "settings", "quick")
        words = [sys.executable, "-c", SERVER]
        server = ServerSpec(spec.name, spec.folder, lambda: words, host=spec.host)
        return Node(spec, group, [self._server(server, group)])

    def _wait_serves(self, found: Node, say: Callable[[str], None]) -> None:
        while b"serving" not in found.host.get(found.spec.folder / "logs" / "stdout.log"):
            assert found.alive
        say(f"{found.name} serves")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_STATE", str(tmp_path / "state"))


@pytest.fixture
def hosts(tmp_path: Path) -> ServerHosts:
    """Three machines: a, b and c."""
    return ServerHosts(
        [
            ServerHost(name, machine, f"127.0.0.{place}", tmp_path / name / "clusters")  # type: ignore[arg-type]
            for place, name in enumerate(NAMES, 2)
            for machine in [Machine(tmp_path / name)]
        ]
    )


@pytest.fixture
def make(tmp_path: Path, hosts: ServerHosts) -> Iterator[Callable[..., Spread]]:
    made: list[Spread] = []

    def cluster(name: str = "one", *, stays: bool = False, **words: Any) -> Spread:
        system = LocalSystem.model_validate({"kind": "stand-in", "nodes": 2, **words})
        made.append(Spread(system, name=name, root=tmp_path / "work", host=hosts, stays=stays))
        return made[-1]

    yield cluster
    for found in made:
        for machine in hosts.machines:
            there(machine).lost = False
        found.down(lambda _: None)


def there(machine: ServerHost) -> Machine:
    found: Any = machine.host
    assert isinstance(found, Machine)
    return found


def recorded(hosts: ServerHosts) -> dict[str, list[str]]:
    """Machine -> the nodes that its records have."""
    return {
        machine.name: [str(node["name"]) for record in machine.host.records() for node in record.nodes]
        for machine in hosts.machines
    }


def identity(cluster: Spread, name: str) -> Identity:
    found = cluster.node(name).servers[0].identity
    assert found is not None
    return found
