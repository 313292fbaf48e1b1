"""How HBase grows and shrinks, on paper: who may come and go, and what masters and NameNodes are asked."""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_testbed_hbase import specs
from test_testbed_hbase_wire import delimited, framed, serve

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts.cgroup import Group
from steelyard.hosts.local import LocalHost
from steelyard.hosts.place import Place
from steelyard.lab.timeline.perform import Context, perform
from steelyard.spec.actions import Add
from steelyard.spec.hbase import HBaseSystem
from steelyard.systems.capabilities import AddOptions
from steelyard.systems.hbase import admin, config, hadoop_rpc, hdfs, serving, wire
from steelyard.systems.hbase.layout import DATANODE, REGIONSERVER
from steelyard.systems.hbase.node import HBaseNode
from steelyard.systems.hbase.testbed import HBaseTestbed


def test_spare_nodes_come_after_masters_and_are_named_after_nodes() -> None:
    found = specs(HBaseSystem(nodes=2, masters=2, spare=2))
    assert [(spec.name, spec.number) for spec in found] == [
        ("node1", 1), ("node2", 2), ("master1", 3), ("master2", 4), ("node3", 5), ("node4", 6)
    ]  # fmt: skip
    assert found[-1].roles == (DATANODE, REGIONSERVER)
    assert len({spec.ports["dfs.datanode.address"] for spec in found if DATANODE in spec.roles}) == 4
    assert specs(HBaseSystem(nodes=2, masters=2, spare=2))[:4] == specs(HBaseSystem(nodes=2, masters=2))


def test_a_spare_node_of_colocated_masters_has_none() -> None:
    found = specs(HBaseSystem(nodes=1, roles="colocated", spare=1))
    assert found[1].roles == (DATANODE, REGIONSERVER)


def test_the_name_node_alone_reads_who_is_excluded() -> None:
    system = HBaseSystem(nodes=1, spare=1)
    found = {spec.name: config.files(system, specs(system), spec) for spec in specs(system)}
    assert [name for name, files in found.items() if hdfs.EXCLUDED in files] == ["master1"]
    assert [name for name, files in found.items() if "dfs.hosts.exclude" in files["conf/hdfs-site.xml"]] == [
        "master1"
    ]


class Joined(HBaseTestbed):
    """Up, as far as it knows."""

    def __init__(self, system: HBaseSystem, root: Path) -> None:
        super().__init__(system, name="paper", root=root, host=LocalHost())
        every = self._all("127.10.9", [])
        self.specs, self.reserve = [*every[: system.size]], [*every[system.size :]]
        self.nodes = [HBaseNode(spec, Group(), []) for spec in every[: system.size]]


def test_who_may_leave(tmp_path: Path) -> None:
    cluster = Joined(HBaseSystem(nodes=3, replication=2, spare=1), tmp_path)
    assert cluster.members() == ["node1", "node2", "node3"]
    assert cluster.spares() == ["node4"]
    with pytest.raises(InputError, match="1 nodes would stay, and each block of HDFS has 2 copies"):
        cluster.remove(["node2", "node3"], silent, silent)
    with pytest.raises(InputError, match="master1 has zookeeper and namenode and master, and cannot leave"):
        cluster.remove(["master1"], silent, silent)
    with pytest.raises(InputError, match="no node 'node4'"):
        cluster.remove(["node4"], silent, silent)


def silent(*_what: str) -> None:
    """Nobody listens."""


@pytest.mark.parametrize("options", [AddOptions(bootstrap=False), AddOptions(stream_mbit=40.0)])
def test_what_streams_would_need_is_refused(tmp_path: Path, options: AddOptions) -> None:
    cluster = Joined(HBaseSystem(nodes=1, spare=1), tmp_path)
    with pytest.raises(InputError, match="streams nothing when it joins"):
        cluster.add(["node2"], options, silent, silent)
    assert cluster.spares() == ["node2"]


def test_a_standalone_one_stays_as_it_is() -> None:
    from steelyard.spec.kind import declared

    record = declared("hbase")
    assert not record.able(HBaseSystem(standalone=True)) & {"add", "remove"}
    assert record.able(HBaseSystem()) >= {"add", "remove"}


class Life:
    """A region server: alive or dead."""

    def __init__(self, node: str, *, alive: bool = True) -> None:
        self.name, self.alive = f"{node}/regionserver", alive


def test_the_balancer_runs_until_it_moves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Joined(HBaseSystem(nodes=3), tmp_path)
    for name in ("node1", "node2", "node3"):  # the last one is dead, and would not answer
        cluster.node(name).servers = [Life(name, alive=name != "node3")]  # type: ignore[list-item]
    runs: Iterator[int | OSError | None] = iter([None, 3, OSError("failing over"), 1, 0])
    spread = {"node1": [1] * 6, "node2": []}
    said: list[tuple[str, str]] = []

    def balance(_: object) -> int | None:
        moved = next(runs)
        if isinstance(moved, OSError):
            raise moved
        for _ in range(moved or 0):
            spread["node2"].append(spread["node1"].pop())
        return moved

    monkeypatch.setattr(cluster, "_master", lambda: None)
    monkeypatch.setattr(admin, "balance", balance)
    monkeypatch.setattr(admin, "in_transition", lambda _: 0)
    monkeypatch.setattr(admin, "regions", lambda spec: spread[spec.name])
    monkeypatch.setattr("steelyard.systems.waiting.POLL_S", 0.0)
    cluster._even_out([cluster.node("node2")], lambda *what: said.append(what), silent)
    assert said == [("node2", "assigned"), ("node2", "balanced")]
    assert {name: len(found) for name, found in spread.items()} == {"node1": 2, "node2": 4}
    assert next(runs, "none left") == "none left"


def test_a_node_is_local_when_every_region_is_hbases_own_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Joined(HBaseSystem(nodes=2), tmp_path)
    cluster.node("node2").servers = [Life("node2")]  # type: ignore[list-item]
    shares = {b"t,a": [0.25, 1.0], b"t,b": [1.0], b"hbase:meta": [0.0, 0.5, 1.0]}
    compacted: list[bytes] = []

    def localities(_: object) -> list[admin.Locality]:
        return [admin.Locality(name, 8 << 20, left[0]) for name, left in shares.items()]

    def compact_one(_: object, name: bytes) -> None:
        compacted.append(name)
        del shares[name][0]

    monkeypatch.setattr(admin, "localities", localities)
    monkeypatch.setattr(admin, "compact_one", compact_one)
    monkeypatch.setattr("steelyard.systems.waiting.POLL_S", 0.0)
    assert cluster.localize("node2", silent) == (6 << 20) + (8 << 20)
    assert compacted == [b"t,a", b"hbase:meta", b"hbase:meta"]


def test_nodes_that_join_are_made_local_where_that_is_asked_for(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []
    bed = SimpleNamespace(add=lambda *_: 0, localize=lambda node, _say: 5 if node == "node4" else 7)
    context = Context(bed, tmp_path, lambda *what: told.append(what), silent, threading.Event())
    plain = Add(id="a", do="add", at=0)
    assert perform(plain, ["node4", "node5"], context) == 0
    assert told == []
    asked = Add(id="a", do="add", at=0, local=True)
    assert asked.capabilities == ("add", "localize")
    assert perform(asked, ["node4", "node5"], context) == 12
    assert told == [("node4", "local"), ("node5", "local")]


def test_a_region_without_files_is_local() -> None:
    specifier = wire.field(1, wire.field(1, 1) + wire.field(2, b"t,,1.x."))
    half = bytes([16 << 3 & 0x7F | 0x80 | 5, 1]) + struct.pack("<f", 0.5)
    some, none = wire.field(3, 2) + wire.field(5, 7), wire.field(3, 0)
    assert admin._locality(wire.parse(specifier + some + half)) == admin.Locality(b"t,,1.x.", 7 << 20, 0.5)
    assert admin._locality(wire.parse(specifier + none + half)).share == 1.0


def test_a_wait_ends_when_no_region_server_is_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Joined(HBaseSystem(nodes=1), tmp_path)
    up = [True]
    monkeypatch.setattr(cluster, "serves", lambda: up[0])
    monkeypatch.setattr("steelyard.systems.hbase.testbed.START_LIMIT_S", 0.0)
    monkeypatch.setattr(serving, "waiting_for", lambda *_: "no master")
    with pytest.raises(InfrastructureError, match="does not serve after 0 s; at last: no master"):
        cluster._wait_registered([], [])
    up[0] = False
    with pytest.raises(InfrastructureError, match="no region server is alive any more; at last: no master"):
        cluster._wait_registered([], [])
    assert cluster._while_up(lambda: True, "-")()


def test_a_node_is_missed_when_its_master_counts_it_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Joined(HBaseSystem(nodes=1), tmp_path)
    counted: set[str] = {"127.10.9.1,16020,1700"}
    monkeypatch.setattr(serving, "active_master", lambda _: cluster.specs[1])
    monkeypatch.setattr(serving, "registered", lambda _: counted)
    assert not cluster.missed("node1")
    counted.clear()
    assert cluster.missed("node1")
    monkeypatch.setattr(serving, "active_master", lambda _: None)
    assert not cluster.missed("node1")  # nobody is there to tell


# --- what goes over the wire ---


def test_a_region_server_s_name_is_a_message_and_back() -> None:
    name = "127.10.0.3,16020,1700000000001"
    assert serving.whole_name(wire.parse(admin.server(name))) == name


def test_a_region_server_tells_its_name_or_none() -> None:
    name = "127.10.0.3,16020,1700000000001"
    for told, expected in ((wire.field(1, admin.server(name)), name), (wire.field(2, 16030), "")):
        place = serve(framed(wire.field(1, 0), delimited(wire.field(1, told))))
        spec: Any = SimpleNamespace(name="node3", place=lambda _, place=place: place)
        if expected:
            assert serving.server_name(spec) == expected
        else:
            with pytest.raises(OSError, match="node3 does not tell its name"):
                serving.server_name(spec)


def test_a_master_gives_regions_to_those_that_have_reported_to_it() -> None:
    silent, told = "127.10.0.3,16020,1700000000001", "127.10.0.4,16020,1700000000002"
    live = b"".join(
        wire.field(
            2, wire.field(1, admin.server(name)) + wire.field(2, wire.field(7, began) + wire.field(8, 9))
        )
        for name, began in ((silent, 0), (told, 6))
    )
    place = serve(framed(wire.field(1, 0), delimited(wire.field(1, live))))
    assert admin.reporting(SimpleNamespace(place=lambda _: place)) == {told}  # type: ignore[arg-type]


def test_a_node_is_drained_once_others_can_take_its_regions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Joined(HBaseSystem(nodes=2), tmp_path)
    answers = [OSError("no master"), set(), {"node2"}]
    monkeypatch.setattr(serving, "active_master", lambda _: cluster.specs[-1])
    monkeypatch.setattr(serving, "server_name", lambda spec: spec.name)

    def reporting(_: object) -> object:
        if isinstance(answer := answers.pop(0), OSError):
            raise answer
        return answer

    monkeypatch.setattr(admin, "reporting", reporting)
    server = SimpleNamespace(name="node1/regionserver", alive=True)
    cluster._wait_takers(server, [cluster.specs[1]])  # type: ignore[arg-type]
    assert answers == []


def test_a_name_node_is_asked_and_answers() -> None:
    answered = framed(wire.field(1, 0) + wire.field(2, 0), delimited(wire.field(7, 5)))
    asked: list[bytes] = []
    answer = hadoop_rpc.ask(heard(answered, asked), "refreshNodes", wire.field(1, "x"))
    assert wire.number_of(answer, 7) == 5
    sent = asked[0]
    assert sent.startswith(b"hrpc\x09\x00\x00")
    context, call = frames(sent[7:])
    head, who = context
    assert (wire.number_of(head, 3), wire.number_of(head, 1)) == (5, 2)  # call -3, protocol buffers
    assert wire.string(who, 3) == hadoop_rpc.CLIENT_PROTOCOL
    head, named, param = call
    assert (wire.number_of(head, 3), wire.raw(head, 4)) == (0, wire.raw(context[0], 4))
    assert len(wire.raw(head, 4)) == 16
    assert (wire.string(named, 1), wire.number_of(named, 3), wire.string(param, 1)) == (
        "refreshNodes",
        1,
        "x",
    )


def heard(answer: bytes, asked: list[bytes]) -> Place:
    """As `serve`; what it is sent is kept."""
    import socket

    listener = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        with listener, listener.accept()[0] as link:
            asked.append(link.recv(65536))
            link.sendall(answer)

    threading.Thread(target=run, daemon=True).start()
    return Place("127.0.0.1", listener.getsockname()[1])


def frames(data: bytes) -> list[list[wire.Fields]]:
    """Each request's messages."""
    found, at = [], 0
    while at < len(data):
        (size,) = wire.LENGTH.unpack_from(data, at)
        whole, inside, messages = data[at + 4 : at + 4 + size], 0, []
        while inside < len(whole):
            one, inside = wire.delimited(whole, inside)
            messages.append(one)
        found.append(messages)
        at += 4 + size
    return found


def test_a_name_node_that_refuses_says_why() -> None:
    said = wire.field(4, "org.apache.X.AccessControlException") + wire.field(5, "not you\n at y")
    place = serve(framed(wire.field(1, 0) + wire.field(2, 1) + said))
    with pytest.raises(hadoop_rpc.HadoopRefusedError, match=r"^AccessControlException: not you$"):
        hadoop_rpc.ask(place, "refreshNodes")


@pytest.mark.parametrize("answer", [b"", framed(b"\xff\xff"), wire.LENGTH.pack(0)])
def test_anything_else_is_an_error_of_the_connection(answer: bytes) -> None:
    with pytest.raises(OSError, match=r"closed|no message"):
        hadoop_rpc.ask(serve(answer), "refreshNodes")


def test_data_nodes_are_known_by_what_their_settings_say() -> None:
    told = {"xferaddr": "127.0.0.1:9906", "adminState": "Decommission In Progress", "blockPoolUsed": 4096}
    found = hdfs.parsed({"127.10.0.3:9906": told})
    assert found == {"127.10.0.3:9906": hdfs.DataNode("127.0.0.1:9906", "Decommission In Progress", 4096)}
