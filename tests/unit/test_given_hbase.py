"""Who belongs to a given HBase, by its master and by ZooKeeper; what is asked of whom."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

import pytest

from steelyard.hosts.place import Place, exactly
from steelyard.spec.hbase import HBaseHostsSystem
from steelyard.systems.hbase import members, wire, zookeeper
from steelyard.systems.hbase.given import HBaseHostsTestbed
from steelyard.systems.hbase.members import Member

LIMIT_S = 10.0


def server(host: str, port: int) -> bytes:
    return wire.field(1, host) + wire.field(2, port) + wire.field(3, 1_700_000_000_000)


def live(host: str, port: int, info_port: int) -> bytes:
    return wire.field(1, server(host, port)) + wire.field(2, wire.field(9, info_port))


def status(*parts: bytes) -> wire.Fields:
    return wire.parse(wire.field(1, b"".join(parts)))


def answering(monkeypatch: pytest.MonkeyPatch, second_info_port: int) -> None:
    """Two region servers, one beside the active master, and a master that stands by."""
    answers: Mapping[str, wire.Fields] = {
        "GetClusterId": wire.parse(wire.field(1, "abc")),
        "GetActiveMaster": wire.parse(wire.field(1, server("127.0.0.1", 16000))),
        "GetClusterStatus": status(
            wire.field(2, live("127.0.0.1", 16020, 16030)),
            wire.field(2, live("127.0.0.2", 16020, second_info_port)),
            wire.field(7, server("127.0.0.1", 16000)),
            wire.field(8, server("127.0.0.3", 17000)),
            wire.field(10, 16011),
        ),
    }

    def ask(_place: Place, _service: str, method: str, *_: object, **__: object) -> wire.Fields:
        return answers[method]

    monkeypatch.setattr(wire, "ask", ask)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, 26030)


@pytest.mark.usefixtures("cluster")
def test_each_server_is_asked_where_it_says() -> None:
    testbed = HBaseHostsTestbed(HBaseHostsSystem(hosts=("127.0.0.1",)))
    testbed.up(lambda _: None)
    asked = {t.name: [(role.name, port) for role, _, port in t.jmx] for t in testbed.targets()}
    assert asked == {
        "127.0.0.1": [("regionserver", 16030), ("master", 16011)],
        "127.0.0.2": [("regionserver", 26030)],
        "127.0.0.3": [("master", 17010)],
    }
    assert all(target.outside for target in testbed.targets())
    nodes = testbed.facts()["nodes"]
    assert [node["roles"] for node in nodes] == [["regionserver", "master"], ["regionserver"], ["master"]]
    assert testbed.facts()["warnings"] == []


def test_servers_that_come_are_told_and_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, 26030)
    testbed = HBaseHostsTestbed(HBaseHostsSystem(hosts=("127.0.0.1",)))
    testbed.up(lambda _: None)
    serving = wire.field(1, server("127.0.0.4", 16020)) + wire.field(2, wire.field(5, b"") + wire.field(9, 1))
    now = status(
        wire.field(2, live("127.0.0.1", 16020, 16030)), wire.field(2, serving),
        wire.field(7, server("127.0.0.1", 16000)),
    )  # fmt: skip
    before = wire.ask

    def ask(place: Place, service: str, method: str, *_: object, **__: object) -> wire.Fields:
        return now if method == "GetClusterStatus" else before(place, service, method)

    monkeypatch.setattr(wire, "ask", ask)
    assert [(one.key, one.name, one.passed, one.facts["address"]) for one in testbed.roll()] == [
        ("127.0.0.1:16020", "127.0.0.1", ("registered",), "127.0.0.1"),
        ("127.0.0.4:16020", "127.0.0.4", ("registered", "assigned"), "127.0.0.4"),
    ]
    assert [target.name for target in testbed.targets()] == [f"127.0.0.{n}" for n in (1, 2, 3, 4)]
    testbed.end_roll()
    assert [target.name for target in testbed.targets()] == ["127.0.0.1", "127.0.0.4"]
    assert [node["name"] for node in testbed.facts()["nodes"]] == ["127.0.0.1", "127.0.0.4"]


def test_masters_are_no_members(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, 26030)
    testbed = HBaseHostsTestbed(HBaseHostsSystem(hosts=("127.0.0.1",)))
    testbed.up(lambda _: None)
    assert [one.name for one in testbed.roll()] == ["127.0.0.1", "127.0.0.2"]


@pytest.mark.parametrize("off", [2**32 - 1, 2**64 - 1, 65536])
def test_a_server_without_pages_is_named_and_not_asked(monkeypatch: pytest.MonkeyPatch, off: int) -> None:
    """Its port is told as -1, of 32 or of 64 bits."""
    answering(monkeypatch, off)
    testbed, said = HBaseHostsTestbed(HBaseHostsSystem(hosts=("127.0.0.1",))), list[str]()
    testbed.up(said.append)
    assert [target.name for target in testbed.targets()] == ["127.0.0.1", "127.0.0.3"]
    why = "127.0.0.2 is not watched: the regionserver 127.0.0.2:16020 has no pages"
    assert testbed.facts()["warnings"] == [why] == said[-1:]
    assert [node["info_ports"] for node in testbed.facts()["nodes"]][1] == {}
    with pytest.raises(OSError, match="has no pages"):
        testbed._pending()


@pytest.mark.usefixtures("cluster")
def test_a_new_table_has_regions_for_each_server() -> None:
    testbed = HBaseHostsTestbed(HBaseHostsSystem(hosts=("127.0.0.1",)))
    assert testbed.driver()["regions"] == 1
    testbed.up(lambda _: None)
    assert testbed.driver()["regions"] == 6
    assert testbed.driver()["regions_fit"], "nobody asked for just so many"
    said = HBaseHostsSystem.model_validate({"hosts": ("127.0.0.1",), "access": {"regions": 5}})
    testbed = HBaseHostsTestbed(said)
    testbed.up(lambda _: None)
    assert testbed.driver()["regions"] == 5
    assert not testbed.driver()["regions_fit"]


@pytest.mark.usefixtures("cluster")
def test_ports_can_be_said_and_watching_left_out() -> None:
    said = {"hosts": ("127.0.0.1",), "master_info_port": 1, "region_server_info_port": 2}
    testbed = HBaseHostsTestbed(HBaseHostsSystem.model_validate(said))
    testbed.up(lambda _: None)
    assert {
        port for target in testbed.targets() for role, _, port in target.jmx if role.name == "master"
    } == {1}
    assert {port for t in testbed.targets() for role, _, port in t.jmx if role.name != "master"} == {2}
    testbed = HBaseHostsTestbed(HBaseHostsSystem.model_validate({**said, "watch": False}))
    testbed.up(lambda _: None)
    assert (testbed.targets(), len(testbed.facts()["nodes"])) == ([], 3)


def test_several_region_servers_of_a_machine_are_told_apart_by_their_ports() -> None:
    web = Place("a", 1)
    found = [Member("regionserver", Place("a", port), web) for port in (16020, 16120)]
    assert [node.name for node in members.nodes(found)] == ["a:16020", "a:16120"]


def test_a_cluster_that_does_not_tell_is_measured_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(_place: Place, _service: str, method: str, *_: object, **__: object) -> wire.Fields:
        if method == "GetClusterId":
            return wire.parse(wire.field(1, "abc"))
        raise wire.HBaseRefusedError("AccessDeniedException: not this user")

    monkeypatch.setattr(wire, "ask", ask)
    testbed, said = HBaseHostsTestbed(HBaseHostsSystem(hosts=("127.0.0.1",))), list[str]()
    testbed.up(said.append)
    assert testbed.targets() == []
    assert "its servers are not known, and not watched" in said[-1]
    assert "AccessDeniedException" in testbed.facts()["warnings"][0]


# --- ZooKeeper ---


@contextmanager
def ensemble(nodes: Mapping[str, bytes]) -> Iterator[Place]:
    """A server of ZooKeeper's protocol that knows these nodes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                while True:
                    (length,) = struct.unpack(">i", exactly(connection, 4))
                    answer = _answered(exactly(connection, length), nodes)
                    connection.sendall(struct.pack(">i", len(answer)) + answer)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield Place("127.0.0.1", listening.getsockname()[1])
        listening.shutdown(socket.SHUT_RDWR)


def _answered(request: bytes, nodes: Mapping[str, bytes]) -> bytes:
    if len(request) == zookeeper.CONNECT.size:
        return struct.pack(">iiqi", 0, 10_000, 77, 16) + bytes(17)
    number, kind = struct.unpack_from(">ii", request)
    if kind != zookeeper.GET:
        return struct.pack(">iqi", number, 1, 0)
    (length,) = struct.unpack_from(">i", request, 8)
    data = nodes.get(request[12 : 12 + length].decode())
    if data is None:
        return struct.pack(">iqi", number, 1, zookeeper.NO_NODE)
    return struct.pack(">iqi", number, 1, 0) + struct.pack(">i", len(data)) + data + bytes(68)


def written(message: bytes) -> bytes:
    """As HBase writes a node."""
    who = b"master:16000"
    return bytes([0xFF]) + struct.pack(">i", len(who)) + who + b"PBUF" + message


def test_zookeeper_tells_of_the_master() -> None:
    with ensemble({"/mine/master": written(wire.field(1, server("hm1", 16000)))}) as place:
        assert zookeeper.active_master(place, "/mine", LIMIT_S) == Place("hm1", 16000)
        with pytest.raises(OSError, match="/hbase/master is not there in ZooKeeper"):
            zookeeper.active_master(place, "/hbase", LIMIT_S)


@pytest.mark.parametrize("data", [b"", b"\xff", b"\xff\xff\xff\xff\xff", b"hm1,16000,1", written(b"\xff")])
def test_what_is_no_node_of_hbase_is_told(data: bytes) -> None:
    with ensemble({"/hbase/master": data}) as place, pytest.raises(OSError, match="cannot be read"):
        zookeeper.active_master(place, "/hbase", LIMIT_S)
