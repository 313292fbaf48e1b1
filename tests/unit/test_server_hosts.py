"""Clusters laid over several machines: which node is where, what each records, and what is refused."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from getpass import getuser
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from server_machines import NAMES, Spread, hosts, identity, make, recorded, state, there
from test_remote_hosts import Actor, manifest

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts import process
from steelyard.hosts.artifacts import Jars
from steelyard.hosts.cgroup import Group
from steelyard.hosts.host import HostLostError
from steelyard.hosts.java import Java
from steelyard.hosts.local import LocalHost
from steelyard.hosts.network import Endpoint
from steelyard.hosts.process import Identity
from steelyard.hosts.remote.engine import _files
from steelyard.hosts.remote.host import RemoteHost
from steelyard.hosts.server_hosts import JoinedWatch, ServerHost, ServerHosts
from steelyard.hosts.snapshots import Snapshot
from steelyard.lab.server_hosts import ServerMachines
from steelyard.spec.hbase import HBaseSystem
from steelyard.spec.local import LocalSystem
from steelyard.spec.system import CassandraSystem, NullSystem
from steelyard.systems import create
from steelyard.systems.capabilities import AddOptions, require
from steelyard.systems.cassandra.config import AGENT_PORT, CassandraSpec
from steelyard.systems.cassandra.inside import Inside
from steelyard.systems.cassandra.secured import KEYSTORE, PASSWORD
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.systems.hbase.launch import Launch, Parts
from steelyard.systems.hbase.layout import DATANODE, REGIONSERVER
from steelyard.systems.hbase.testbed import HBaseTestbed
from steelyard.systems.node import Node
from steelyard.systems.placement import unlike
from steelyard.systems.server import ServerSpec
from steelyard.watch.table import Table

__all__ = ["hosts", "make", "state"]
"""Fixtures."""

# --- where nodes are ---


def test_each_node_is_on_its_machine_and_at_its_address(
    make: Callable[..., Spread], hosts: ServerHosts, tmp_path: Path
) -> None:
    cluster = make(nodes=3, spare=1)
    cluster.up(lambda _: None)
    assert [(n.spec.host, n.spec.address) for n in cluster.nodes] == [
        ("a", "127.0.0.2"), ("b", "127.0.0.3"), ("c", "127.0.0.4")
    ]  # fmt: skip
    assert [spec.host for spec in cluster.reserve] == ["a"]  # from the first on again
    assert recorded(hosts) == {"a": ["node1"], "b": ["node2"], "c": ["node3"]}
    folder = tmp_path / "b" / "clusters" / "one" / "node2"
    assert (folder / "conf" / "settings").read_text() == "quick"
    assert "serving" in (folder / "logs" / "stdout.log").read_text()
    assert [node["host"] for node in cluster.facts()["nodes"]] == [*NAMES]
    assert {record.block for machine in hosts.machines for record in machine.host.records()} == {
        "127.0.0.2", "127.0.0.3", "127.0.0.4"
    }  # fmt: skip
    cluster.collect(tmp_path / "kept")
    assert (tmp_path / "kept" / "node3" / "conf" / "settings").read_text() == "quick"
    cluster.down(lambda _: None)
    assert recorded(hosts) == {"a": [], "b": [], "c": []}
    assert not (tmp_path / "b" / "clusters" / "one").exists()


def test_what_is_done_to_a_node_is_done_where_it_is(make: Callable[..., Spread], hosts: ServerHosts) -> None:
    cluster = make(spare=1)
    cluster.up(lambda _: None)
    for machine in hosts.machines:
        there(machine).asked.clear()
    first = identity(cluster, "node2")
    cluster.kill("node2")
    cluster.restart("node2")
    cluster.freeze("node2")
    cluster.thaw("node2")
    cluster.resize("node2", None)
    assert {"signal", "start", "limit_cpu"} <= {*there(hosts.machines[1]).asked}
    assert there(hosts.machines[0]).asked == there(hosts.machines[2]).asked == []
    assert identity(cluster, "node2") != first
    cluster.add(["node3"], AddOptions(), lambda *_: None, lambda _: None)
    assert recorded(hosts) == {"a": ["node1"], "b": ["node2"], "c": ["node3"]}
    cluster.remove(["node3"], lambda *_: None, lambda _: None)
    assert recorded(hosts) == {"a": ["node1"], "b": ["node2"], "c": []}


def test_a_name_that_is_taken_on_one_machine_is_left_free_on_the_others(
    make: Callable[..., Spread], hosts: ServerHosts, tmp_path: Path
) -> None:
    other = ServerHosts(hosts.machines[1:2])
    taken = Spread(LocalSystem(kind="stand-in"), name="one", root=tmp_path / "work", host=other)
    taken.up(lambda _: None)
    try:
        with pytest.raises(InputError, match="a cluster named 'one' is up"):
            make().up(lambda _: None)
        assert recorded(hosts) == {"a": [], "b": ["node1"], "c": []}
        assert taken.dead() == []
    finally:
        taken.down(lambda _: None)


def test_servers_of_a_lost_machine_are_dead(make: Callable[..., Spread], hosts: ServerHosts) -> None:
    cluster, said = make(), list[str]()
    cluster.up(lambda _: None)
    there(hosts.machines[1]).lost = True
    [death] = cluster.dead()
    assert (death.server, death.why) == ("node2", "the host b is lost")
    assert cluster.serves()
    with pytest.raises(HostLostError):
        cluster.restart("node2")
    cluster.kill_servers()
    process.wait_gone([identity(cluster, "node1")], 10.0)
    assert not cluster.serves()
    cluster.down(said.append)
    assert any("b is lost: what is left of one there ends at the host's next use" in text for text in said)
    there(hosts.machines[1]).lost = False
    assert recorded(hosts) == {"a": [], "b": ["node2"], "c": []}
    hosts.machines[1].host.take_down("one")


def test_leftovers_are_ended_on_every_machine(
    make: Callable[..., Spread], hosts: ServerHosts, tmp_path: Path
) -> None:
    cluster = make()
    cluster.up(lambda _: None)
    for machine in hosts.machines[:2]:
        [record] = machine.host.records()
        gone = Identity(2**22 - 1, 1, process.boot_id())  # no process has this number
        path = tmp_path / machine.name / "clusters" / "one" / "cluster.json"
        assert record.owner is not None
        path.write_text(path.read_text().replace(f'"pid": {record.owner.pid},', f'"pid": {gone.pid},', 1))
    said = hosts.end_leftovers()
    assert [text.partition(",")[0] for text in said] == ["a: ended one", "b: ended one"]
    assert not any(process.alive(identity(cluster, name)) for name in ("node1", "node2"))
    assert recorded(hosts) == {"a": [], "b": [], "c": []}


# --- data that are kept ---


def kept(make: Callable[..., Spread]) -> Snapshot:
    """Data of two nodes, kept on their machines; the cluster is down again."""
    cluster = make()
    cluster.up(lambda _: None)
    for found in cluster.nodes:
        found.host.put(found.spec.folder / "data" / "file", f"of {found.name}")
    shape = {"result": cluster.placement.shape()}
    made = cluster.keep("0a1b", {"id": "one", "records": 1}, shape, lambda _: None)
    cluster.down(lambda _: None)
    return made


def test_data_are_kept_and_put_back_on_each_machine(make: Callable[..., Spread], hosts: ServerHosts) -> None:
    made = kept(make)
    assert (made.nodes, made.files, made.bytes) == (("node1", "node2"), 2, 2 * len("of node1"))
    assert hosts.snapshot("0a1b") == made
    assert hosts.snapshot("2c3d") is None
    parts_there = [machine.host.snapshot("0a1b") for machine in hosts.machines]
    assert [part and (part.nodes, part.block) for part in parts_there] == [
        (("node1",), "127.0.0.2"), (("node2",), "127.0.0.3"), None
    ]  # fmt: skip
    again = make("two")
    again.origin = made
    again.up(lambda _: None)
    texts = [found.host.get(found.spec.folder / "data" / "file") for found in again.nodes]
    assert texts == [b"of node1", b"of node2"]
    assert again.restored is not None
    assert again.restored.copied_bytes == made.bytes
    hosts.check_room(Path("/nowhere"), 2, 2)
    with pytest.raises(InfrastructureError):
        hosts.check_room(Path("/nowhere"), 2**62, 2)


def test_data_of_which_a_part_is_gone_are_loaded_anew(
    make: Callable[..., Spread], hosts: ServerHosts
) -> None:
    made = kept(make)
    hosts.machines[1].host.drop_snapshot("0a1b")
    again = make("two")
    again.origin = made
    with pytest.raises(InfrastructureError, match="b: the snapshot 0a1b has been removed"):
        again.up(lambda _: None)
    assert hosts.snapshot("0a1b") is None
    assert [machine.host.snapshot("0a1b") for machine in hosts.machines] == [None] * 3


def test_data_are_kept_on_all_machines_or_on_none(make: Callable[..., Spread], hosts: ServerHosts) -> None:
    cluster = make()
    cluster.up(lambda _: None)
    shape = {"result": cluster.placement.shape()}
    there(hosts.machines[1]).lost = True
    with pytest.raises(HostLostError):
        cluster.keep("0a1b", {"id": "one"}, shape, lambda _: None)
    assert hosts.machines[0].host.snapshot("0a1b") is None


# --- what is refused ---


def cassandra(hosts: ServerHosts, **words: Any) -> CassandraTestbed:
    system = CassandraSystem.model_validate({"profile": "quick", **words})
    return CassandraTestbed(system, name="one", root=Path("/w"), host=hosts)


def hbase(hosts: ServerHosts, **words: Any) -> HBaseTestbed:
    system = HBaseSystem.model_validate({"profile": "quick", **words})
    return HBaseTestbed(system, name="one", root=Path("/w"), host=hosts)


@pytest.mark.parametrize("words", [{"nodes": 4}, {"nodes": 3, "spare": 1}])
def test_two_nodes_of_cassandra_have_no_room_on_one_machine(
    hosts: ServerHosts, words: dict[str, int]
) -> None:
    with pytest.raises(
        InputError, match=r"node1 and node4 would both listen on 127\.0\.0\.2:9042 of a"
    ) as no:
        cassandra(hosts, **words)
    assert "4 nodes are too many for 3 server hosts" in no.value.message
    assert "more --server-hosts" in str(no.value.hint)


def test_masters_of_hbase_are_beside_nodes_and_nodes_not_beside_each_other(hosts: ServerHosts) -> None:
    found = hbase(hosts, nodes=3, masters=2)
    specs = found.placement.placed([*found._specs("0.0.0", ())])
    assert [(spec.name, spec.host) for spec in specs] == [
        ("node1", "a"), ("node2", "b"), ("node3", "c"), ("master1", "a"), ("master2", "b")
    ]  # fmt: skip
    assert {spec.place(DATANODE).port for spec in specs if DATANODE in spec.roles} == {9866}
    assert found._listed("a") == ["node1", "master1"]
    start = Launch(found.system, Java(Path("/java"), 17, "17"), Parts(Jars(Path("/jars"), ())), None, 2)
    words = start.command(specs[0], REGIONSERVER)
    assert f"-DHADOOP_USER_NAME={getuser()}" in words  # machines may have other users, and HDFS one
    with pytest.raises(InputError, match="node1 and node4 would both listen"):
        hbase(hosts, nodes=4)
    with pytest.raises(InputError, match="standalone HBase has its ZooKeeper on loopback"):
        hbase(hosts, standalone=True)


def test_what_nodes_on_several_machines_cannot_have(hosts: ServerHosts) -> None:
    with pytest.raises(InputError, match="nodes on several hosts are in the networks of these"):
        cassandra(hosts, nodes=3, network="namespaces")
    require(cassandra(hosts, nodes=3), "snapshot")
    with pytest.raises(InputError, match="the password of a secure cluster stays with its clients"):
        require(cassandra(hosts, nodes=3, secure=True), "snapshot")
    with pytest.raises(InputError, match="null has no nodes that can be on other hosts"):
        create(NullSystem(), name="one", root=Path("/w"), host=hosts)
    six = ServerHosts([ServerHost("a", hosts.machines[0].host, "fe80::1", Path("/w"))])
    with pytest.raises(InputError, match="a is reached at fe80::1; servers listen on IPv4 only"):
        cassandra(six)


def test_unlike_javas_are_said() -> None:
    assert unlike({"a": "17.0.9", "b": "17.0.9"}) == []
    assert unlike({"a": "17.0.9", "b": "21"}) == ["the hosts' Javas differ: a: 17.0.9; b: 21"]


# --- what listens, and who asks ---


def test_an_agent_listens_for_its_machine_alone(hosts: ServerHosts, monkeypatch: pytest.MonkeyPatch) -> None:
    testbed = cassandra(hosts, nodes=3)
    spec = testbed.placement.placed([*testbed._specs("0.0.0", ())])[1]
    assert isinstance(spec, CassandraSpec)
    assert set(testbed._listening(spec)) == {
        ("127.0.0.3", 9042), ("127.0.0.3", 7000), ("127.0.0.1", AGENT_PORT)
    }  # fmt: skip
    asked: list[tuple[Endpoint, str]] = []

    def ask(_there: LocalHost, address: Endpoint, command: str, _timeout_s: float) -> dict[str, Any]:
        asked.append((address, command))
        return {"value": "NORMAL"}

    monkeypatch.setattr(LocalHost, "ask_agent", ask)
    server = testbed._server(ServerSpec(spec.name, spec.folder, list, host=spec.host), Group())
    node: Any = Node(spec, Group(), [server])
    with Inside(node, AGENT_PORT) as inside:
        assert inside.mode() == "NORMAL"
    [(address, command)] = asked
    assert (address, command.split()[0]) == (("127.0.0.1", AGENT_PORT), "read")


def test_keys_of_clients_are_on_this_machine_and_of_nodes_on_theirs(
    hosts: ServerHosts, tmp_path: Path
) -> None:
    system = CassandraSystem(nodes=3, secure=True, mutual_tls=True)
    testbed = CassandraTestbed(system, name="one", root=tmp_path / "work", host=hosts)
    assert testbed.security is not None
    for spec in testbed.placement.placed([*testbed._specs("0.0.0", ())]):
        assert isinstance(spec, CassandraSpec)
        testbed.security.write(testbed.host_of(spec), spec)
        assert stat.S_IMODE((spec.folder / KEYSTORE).stat().st_mode) == 0o600
        assert not (spec.folder / PASSWORD).exists()
    login = testbed.login().plan()
    mine = tmp_path / "work" / "one"
    assert all(Path(login[name]).is_relative_to(mine) for name in ("password_file", "tls_ca", "tls_key"))
    carried_there = _files({"driver": {"kind": "cql", **login}})
    assert set(carried_there) == {"password_file", "tls_ca", "tls_cert", "tls_key"}
    assert carried_there["password_file"].decode().strip() == testbed.login().password()


# --- what is sampled ---


def test_nodes_are_sampled_where_they_are_and_their_rows_are_in_one_series(
    make: Callable[..., Spread], hosts: ServerHosts, tmp_path: Path
) -> None:
    cluster = make(spare=1)
    cluster.up(lambda _: None)
    with_hosts = [
        (target, node.spec.host) for target, node in zip(cluster.targets(), cluster.nodes, strict=True)
    ]
    targets = [type(target)(target.name, target.cluster, host=host) for target, host in with_hosts]
    told, machines = manifest(), ServerMachines(hosts)
    machines.note_facts(told)
    watch = hosts.watch(targets, {"engine": os.getpid()})
    assert isinstance(watch, JoinedWatch)
    watch.stop()
    assert (watch.latest("node2", "memory_bytes") or 0) > 0
    assert watch.latest("node3", "memory_bytes") is None
    assert "node1.network" in watch.missing
    watch.write(tmp_path / "system.parquet")
    machines.keep_samples(watch, told, tmp_path)
    machines.note_clocks(told)
    rows = pl.read_parquet(tmp_path / "system.parquet")
    assert {"machine", "engine", "lab", "node1", "node2"} <= set(rows["source"])
    assert rows["t_ns"].is_sorted()
    assert [(host["name"], host["role"], host["address"]) for host in told.hosts] == [
        ("a", "server", "127.0.0.2"), ("b", "server", "127.0.0.3"), ("c", "server", "127.0.0.4")
    ]  # fmt: skip
    there_too = pl.read_parquet(tmp_path / "hosts" / "1.parquet")
    assert {"machine", "node2"} <= set(there_too["source"])
    assert "node1" not in set(there_too["source"])


def test_of_a_lost_machine_there_are_no_samples(hosts: ServerHosts, tmp_path: Path) -> None:
    class Lost:
        """Sampling on a machine that is lost."""

        def __getattr__(self, _name: str) -> Any:
            raise HostLostError("the host b is lost")

    own = LocalHost().watch([], {})
    watch, told = JoinedWatch(own, {"a": LocalHost().watch([], {}), "b": Lost()}), manifest()  # type: ignore[dict-item]
    ServerMachines(ServerHosts(hosts.machines[:2])).note_facts(told)
    watch.retarget([])
    watch.stop()
    assert watch.missing["host.b"] == "it was lost, and with it what was sampled there at last"
    watch.write(tmp_path / "system.parquet")
    ServerMachines(ServerHosts(hosts.machines[:2])).keep_samples(watch, told, tmp_path)
    assert [path.name for path in (tmp_path / "hosts").iterdir()] == ["0.parquet"]


def test_what_was_brought_from_a_machine_outlives_it(tmp_path: Path) -> None:
    table, into = Table(), BytesIO()
    for second in range(3):
        table.add(second * 10**9, "node1", {"memory_bytes": float(second)})
    assert table.frame(1)["value"].to_list() == [1.0, 2.0]
    table.frame().write_ipc(into)
    actor = Actor((True, 7), (True, into.getvalue()), OSError("gone"))
    watch = RemoteHost("b", "10.0.0.2", actor, None).watch([], {})
    assert watch.frame().height == 3
    watch.write(tmp_path / "1.parquet")  # it is lost meanwhile
    assert pl.read_parquet(tmp_path / "1.parquet").equals(table.frame())
    assert actor.asked[1:] == [("samples", 7, 0), ("samples", 7, 3)]
    never = RemoteHost("c", "10.0.0.3", Actor((True, 8), OSError("gone")), None).watch([], {})
    with pytest.raises(HostLostError, match="nothing was brought from it before"):
        never.write(tmp_path / "2.parquet")
