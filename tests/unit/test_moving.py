"""What is told of a node that joins or leaves a ring, and when it is over; the nodes are made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import InfrastructureError
from steelyard.hosts.local import LocalHost
from steelyard.spec.system import CassandraSystem
from steelyard.systems.cassandra import changing, moving, ring
from steelyard.systems.cassandra.config import CassandraSpec
from steelyard.systems.cassandra.moving import Milestones
from steelyard.systems.cassandra.testbed import CassandraTestbed

PORT = 7300
MIB = 1 << 20


class Server:
    """Alive as long as it is not said to be dead."""

    def __init__(self, name: str) -> None:
        self.name, self.alive = name, True

    def why_dead(self) -> str:
        return "killed by SIGKILL" if not self.alive else "the last line of its log"


class Made:
    """A node, by its number."""

    def __init__(self, number: int) -> None:
        self.name = f"node{number}"
        self.spec = CassandraSpec(number, self.name, f"127.10.9.{number}", Path("/none"))
        self.server = Server(self.name)
        self.place = self.spec.address

    @property
    def alive(self) -> bool:
        return self.server.alive


@dataclass
class Said:
    """What nodes say at one look: mode by name, who is joining, bytes received and sent."""

    modes: dict[str, str]
    joining: frozenset[str] = frozenset()
    received: int = 0
    sent: int = 0
    members: frozenset[str] = frozenset()


@dataclass
class Scene:
    """One look after the other; the last stays. A look is over when a mode has been asked `each` times."""

    looks: list[Said]
    each: int = 1
    asked: int = 0
    operations: list[tuple[str, ...]] = field(default_factory=list)
    operation: Callable[[], Any] = lambda: None

    @property
    def now(self) -> Said:
        return self.looks[min(max(0, self.asked - 1) // self.each, len(self.looks) - 1)]

    def mode(self, name: str) -> str:
        self.asked += 1
        return self.now.modes.get(name, "")


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Scene]:
    def set_up(*looks: Said, each: int = 1, operation: Callable[[], Any] = lambda: None) -> Scene:
        scene = Scene(list(looks), each, operation=operation)

        class Inside:
            def __init__(self, node: Made, _port: int) -> None:
                self._node = node

            def __enter__(self) -> Inside:
                return self

            def __exit__(self, *_: object) -> None:
                """Nothing is open."""

            def mode(self) -> str:
                return scene.mode(self._node.name)

            def joining(self) -> frozenset[str]:
                return scene.now.joining

            def unreachable(self) -> frozenset[str]:
                return frozenset(ALL - scene.now.members)

            def received(self) -> int:
                return scene.now.received

            def sent(self) -> int:
                return scene.now.sent

            def hosts(self) -> dict[str, str]:
                return {"/127.10.9.3": "the id of node3"}

            def operate(self, *words: str, timeout_s: float) -> Any:
                assert timeout_s
                scene.operations.append(words)
                return scene.operation()

        monkeypatch.setattr(moving, "Inside", Inside)
        monkeypatch.setattr(ring, "members_seen", lambda _place: scene.now.members)
        return scene

    return set_up


def told(run: Callable[[Milestones], Any]) -> tuple[list[tuple[str, str]], Any]:
    found: list[tuple[str, str]] = []
    result = run(Milestones(lambda *what: found.append(what)))
    return found, result


ALL = frozenset({"127.10.9.1", "127.10.9.2", "127.10.9.3"})


def test_a_joiner_is_joined_when_all_who_live_agree(stage: Callable[..., Scene]) -> None:
    first, dead, joiner = Made(1), Made(2), Made(3)
    dead.server.alive = False
    joining = frozenset({joiner.spec.address})
    scene = stage(
        Said({}),
        Said({"node3": "STARTING"}),
        Said({"node3": "JOINING"}, joining),
        Said({"node3": "JOINING"}, joining, received=10),
        Said({"node3": "NORMAL"}, received=30, members=frozenset({first.spec.address})),
        Said({"node3": "NORMAL"}, received=30, members=ALL - {dead.spec.address}),
    )
    nodes: Any = ([joiner], [first, dead])
    found, received = told(lambda milestones: moving.wait_joined(*nodes, PORT, milestones))
    assert found == [("node3", what) for what in ("up", "announced", "streaming", "normal", "joined")]
    assert received == {"node3": 30}
    assert scene.asked == 6


def test_each_of_several_joiners_is_joined_in_its_own_time(stage: Callable[..., Scene]) -> None:
    first, *joiners = Made(1), Made(2), Made(3)
    one = frozenset({first.spec.address})
    scene = stage(
        Said({"node2": "JOINING", "node3": "JOINING"}, members=one),
        Said({"node2": "NORMAL", "node3": "JOINING"}, members=one | {"127.10.9.2"}),
        Said({"node2": "NORMAL", "node3": "NORMAL"}, members=ALL),
        each=2,
    )
    at: list[tuple[str, int]] = []
    milestones = Milestones(lambda node, what: at.append((node, scene.asked)) if what == "joined" else None)
    nodes: Any = (joiners, [first])
    moving.wait_joined(*nodes, PORT, milestones)
    assert at == [("node2", 4), ("node3", 6)]


def test_a_joiner_that_gives_up_or_dies_is_told(stage: Callable[..., Scene]) -> None:
    joiner: Any = Made(3)
    stage(Said({"node3": "JOINING"}), Said({"node3": "JOINING_FAILED"}))
    with pytest.raises(InfrastructureError, match="node3 could not join: it says JOINING_FAILED"):
        told(lambda milestones: moving.wait_joined([joiner], [], PORT, milestones))
    stage(Said({"node3": "JOINING"}))
    joiner.server.alive = False
    with pytest.raises(InfrastructureError, match="node3 died while it joined: killed by SIGKILL"):
        told(lambda milestones: moving.wait_joined([joiner], [], PORT, milestones))


def test_a_leaver_has_left_when_nobody_knows_it(stage: Callable[..., Scene]) -> None:
    first, leaver = Made(1), Made(3)
    scene = stage(
        Said({"node3": "LEAVING"}, members=ALL),
        Said({"node3": "LEAVING"}, sent=7, members=ALL),
        Said({"node3": "DECOMMISSIONED"}, sent=40, members=ALL - {leaver.spec.address}),
    )
    scene.operation = lambda: moving.wait_until(lambda: scene.asked >= 3, [], 60.0, "never asked")
    nodes: Any = (leaver, [first])
    found, sent = told(lambda milestones: moving.decommission(*nodes, PORT, milestones))
    assert found == [("node3", what) for what in ("leaving", "streaming", "left")]
    assert sent == 40
    assert scene.operations == [("decommission", "force")]


def test_a_leaver_that_refuses_is_told(stage: Callable[..., Scene]) -> None:
    def refuse() -> None:
        raise InfrastructureError("refused: other nodes are moving")

    stage(Said({"node3": "NORMAL"}), operation=refuse)
    nodes: Any = (Made(3), [Made(1)])
    with pytest.raises(InfrastructureError, match="other nodes are moving"):
        told(lambda milestones: moving.decommission(*nodes, PORT, milestones))


def test_a_dead_node_is_removed_by_its_host_id(stage: Callable[..., Scene]) -> None:
    first, dead = Made(1), Made(3)
    scene = stage(Said({}, members=ALL - {dead.spec.address}))
    nodes: Any = (dead, [first])
    found, _ = told(lambda milestones: moving.remove_dead(*nodes, PORT, milestones))
    assert found == [("node3", "leaving"), ("node3", "left")]
    assert scene.operations == [("removenode", "the id of node3")]
    first.server.alive = False
    with pytest.raises(InfrastructureError, match="so is every other node"):
        told(lambda milestones: moving.remove_dead(*nodes, PORT, milestones))


class Dying(Made):
    """Alive when it is asked for the first time."""

    asked = 0

    @property
    def alive(self) -> bool:
        self.asked += 1
        return self.asked == 1


def test_nobody_waits_for_nodes_that_are_all_dead(
    stage: Callable[..., Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "MOVE_LIMIT_S", 1e-9)
    stage(Said({}, members=ALL))
    nodes: Any = (Made(3), [Dying(1)])
    with pytest.raises(InfrastructureError, match="node3 was to leave, and no other node is alive"):
        told(lambda milestones: moving.remove_dead(*nodes, PORT, milestones))
    nodes[1][0].asked = 1
    with pytest.raises(InfrastructureError, match="node3 was to leave, and no other node is alive"):
        moving._wait_forgotten(*nodes)


@pytest.mark.parametrize(("held", "fails"), [(5 * MIB, True), (1000, False)])
def test_a_joiner_that_was_streamed_nothing_is_no_success(
    held: int, fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Inside:
        def __init__(self, *_: object) -> None:
            """Of any node."""

        def __enter__(self) -> Inside:
            return self

        def __exit__(self, *_: object) -> None:
            """Nothing is open."""

        def held(self) -> int:
            return held

    monkeypatch.setattr(changing, "Inside", Inside)
    bed = CassandraTestbed(CassandraSystem(nodes=1, spare=2), name="x", root=tmp_path, host=LocalHost())
    monkeypatch.setattr(bed, "_agent_port", lambda: PORT)
    member: Any = Made(1)
    bed._check_received({"node2": 7, "node3": 9}, [member])
    if fails:
        with pytest.raises(InfrastructureError, match="node3 joined and was streamed nothing of 5 MiB"):
            bed._check_received({"node2": 7, "node3": 0}, [member])
    else:
        bed._check_received({"node2": 7, "node3": 0}, [member])
