"""An HBase cluster on paper: nodes and roles, ports, files, profiles, deviations, durability, the plan."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from pydantic import ValidationError

from steelyard.errors import InputError
from steelyard.hosts import artifacts
from steelyard.hosts.artifacts import Jars
from steelyard.hosts.cgroup import Group
from steelyard.hosts.java import Java
from steelyard.hosts.local import LocalHost
from steelyard.hosts.place import Place, place_of
from steelyard.hosts.process import own_identity
from steelyard.spec.hbase import HBaseAccess, HBaseHeaps, HBaseHostsSystem, HBaseSystem
from steelyard.spec.local import NodeLimits
from steelyard.systems.hbase import config, defaults, facts, logs, profile, serving
from steelyard.systems.hbase.given import HBaseHostsTestbed
from steelyard.systems.hbase.hdfs import any_node
from steelyard.systems.hbase.launch import Launch, Parts
from steelyard.systems.hbase.layout import (
    DATANODE,
    INSIDE,
    INSIDE_PORT,
    MASTER,
    NAMENODE,
    REGIONSERVER,
    STANDALONE,
    ZOOKEEPER,
    HBaseSpec,
    node_specs,
)
from steelyard.systems.hbase.testbed import HBaseNode, HBaseTestbed
from steelyard.systems.hbase.versions import LINES, coordinates, resolve
from steelyard.systems.server import last_word

JAVA = Java(Path("/j/bin/java"), 17, "seventeen")


def specs(system: HBaseSystem, spaces: int = 0) -> list[HBaseSpec]:
    names = [f"ns{n}" for n in range(1, spaces + 1)]
    return node_specs(system, "127.10.9", Path("/c"), names, config.moved_ports(system))


def launch(system: HBaseSystem, folder: Path = Path("/jars")) -> Launch:
    jars = Jars(folder, tuple(sorted(path.name for path in folder.glob("*.jar"))))
    hbase, hdfs = (
        Parts(jars, None, defaults.shipped(LocalHost(), jars, kind))
        for kind in (defaults.HBASE, defaults.HDFS)
    )
    return Launch(system, JAVA, hbase, None if system.standalone else hdfs, 2)


def roles(system: HBaseSystem) -> dict[str, tuple[str, ...]]:
    return {spec.name: spec.roles for spec in specs(system)}


def test_a_disk_of_its_own_has_room_for_the_blocks_of_open_files() -> None:
    with pytest.raises(ValidationError, match="disk_mib = 4095 is too small for HDFS"):
        HBaseSystem(disk_mib=4095)
    assert HBaseSystem(disk_mib=4096).disk_mib == 4096
    assert HBaseSystem(disk_mib=512, settings={"dfs.blocksize": 8 << 20}).disk_mib == 512
    with pytest.raises(ValidationError, match=r"blocks of 256\.0 MiB: give 8192 or more"):
        HBaseSystem(disk_mib=4096, settings={"dfs.blocksize": "256m"})
    assert HBaseSystem(disk_mib=512, standalone=True).disk_mib == 512


def test_dedicated_masters_have_nodes_of_their_own_after_the_others() -> None:
    found = specs(HBaseSystem(nodes=2, masters=2, zookeepers=3))
    assert [spec.address for spec in found] == [f"127.10.9.{n}" for n in range(1, 6)]
    assert {spec.name: spec.roles for spec in found} == {
        "node1": (DATANODE, REGIONSERVER),
        "node2": (DATANODE, REGIONSERVER),
        "master1": (ZOOKEEPER, NAMENODE, MASTER),
        "master2": (ZOOKEEPER, MASTER),
        "master3": (ZOOKEEPER,),
    }


def test_colocated_masters_take_the_first_nodes() -> None:
    assert roles(HBaseSystem(nodes=2, masters=2, roles="colocated")) == {
        "node1": (ZOOKEEPER, NAMENODE, DATANODE, MASTER, REGIONSERVER),
        "node2": (DATANODE, MASTER, REGIONSERVER),
    }


def test_standalone_is_one_process_that_is_three() -> None:
    (only,) = specs(HBaseSystem(standalone=True))
    assert only.roles == (STANDALONE,)
    assert only.parts == (ZOOKEEPER, MASTER, REGIONSERVER)
    inside = (INSIDE, INSIDE_PORT + 9)
    assert {*only.listening(1)} == {inside, *((only.address, port) for port in (16000, 16010, 16020, 16030))}
    assert str(only.place(ZOOKEEPER)) == "127.0.0.1:22009"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"standalone": True, "nodes": 2}, "standalone is one JVM"),
        ({"standalone": True, "settings": {"dfs.blocksize": 1}}, "standalone has no HDFS"),
        ({"roles": "colocated", "zookeepers": 3}, "need as many nodes"),
        ({"nodes": 2, "replication": 3}, "only 2 DataNodes"),
        ({"roles": "colocated", "master_limits": {"cpu": 1}}, "masters on nodes of their own"),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        HBaseSystem.model_validate(settings)


def test_masters_may_have_limits_of_their_own() -> None:
    system = HBaseSystem(nodes=2, limits=NodeLimits(cpu=2), master_limits=NodeLimits(cpu=0.5))
    assert [system.limits_of(spec.name).cpu for spec in specs(system)] == [2, 2, 0.5]
    assert HBaseSystem(limits=NodeLimits(cpu=2)).limits_of("master1").cpu == 2


def test_datanodes_differ_in_port_on_loopback_only() -> None:
    system = HBaseSystem(nodes=3)
    loopback = [spec.ports["dfs.datanode.address"] for spec in specs(system)[:3]]
    assert len(set(loopback)) == 3
    assert {spec.ports["dfs.datanode.address"] for spec in specs(system, spaces=4)} == {9866}
    most = node_specs(HBaseSystem(nodes=249), "127.10.9", Path("/c"), [], {})
    taken = [port for spec in most[:-1] for _, port in spec.listening(1) if 9000 < port < 16000]
    assert len(taken) == len(set(taken))  # nor do they meet HBase's own


def test_a_moved_port_is_moved_everywhere() -> None:
    system = HBaseSystem(settings={"hbase.regionserver.port": 17020})
    node = specs(system)[0]
    assert node.place(REGIONSERVER) == Place("127.10.9.1", 17020)
    assert node.listening(1)[node.address, 17020] == "hbase.regionserver.port"
    assert config.hbase_site(system, specs(system), node)["hbase.regionserver.port"] == 17020


def read(text: str) -> dict[str, str]:
    root = ElementTree.fromstring(text)  # noqa: S314 - our own file
    return {one.findtext("name", ""): one.findtext("value", "") for one in root}


def test_written_files_say_what_was_meant(tmp_path: Path) -> None:
    system = HBaseSystem(
        nodes=3,
        zookeepers=3,
        wal_hsync=True,
        balancer_period_s=300,
        settings={"a": "<&>", "dfs.b": True},
    )
    found = node_specs(system, "127.10.9", tmp_path, [], {})
    node2, master1 = (config.files(system, found, found[number]) for number in (1, 3))
    site, hdfs = read(node2["conf/hbase-site.xml"]), read(node2["conf/hdfs-site.xml"])
    assert read(node2["conf/core-site.xml"])["fs.defaultFS"] == "hdfs://127.10.9.4:8020"
    assert site["hbase.zookeeper.quorum"] == "127.10.9.4,127.10.9.5,127.10.9.6"
    assert site["hbase.unsafe.regionserver.hostname"] == hdfs["dfs.datanode.hostname"] == "127.10.9.2"
    assert (site["a"], hdfs["dfs.b"], site["hbase.wal.hsync"]) == ("<&>", "true", "true")
    assert (site["hbase.balancer.period"], hdfs["dfs.replication"]) == ("300000", "3")
    assert "conf/zoo.cfg" not in node2
    assert "server.5=127.10.9.5:2888:3888" in master1["conf/zoo.cfg"]
    assert master1["zookeeper/myid"] == "4\n"


def test_default_profile_changes_only_what_several_nodes_on_one_machine_need() -> None:
    chosen = profile.hbase_settings(HBaseSystem(nodes=5))
    assert {name for name, (_, why) in chosen.items() if why != "asked for"} == {
        "hbase.balancer.period",
        "hbase.regionserver.periodicmemstoreflusher.rangeofdelayseconds",
    }
    assert profile.jvm_options("default", 17) == ["-XX:+UseG1GC"]
    needing_all = {
        "dfs.client.block.write.replace-datanode-on-failure.best-effort",
        "dfs.namenode.redundancy.considerLoad",
    }
    assert not needing_all & {*profile.hdfs_settings(HBaseSystem(nodes=5))}
    assert needing_all <= {*profile.hdfs_settings(HBaseSystem(nodes=3, replication=3))}


def jar(folder: Path, name: str, file: str, **values: str) -> None:
    settings = {key.replace("_", "."): value for key, value in values.items()}
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr(file, config.xml(settings))


SLACK = "timer slack of threads, us"


def test_defaults_of_deviations_come_from_the_jars(tmp_path: Path) -> None:
    shipped = {"zookeeper_session_timeout": "77", "hbase_cluster_distributed": "true"}
    jar(tmp_path, "hbase-common-9.jar", "hbase-default.xml", **shipped)
    jar(tmp_path, "hadoop-hdfs-9.jar", "hdfs-default.xml", dfs_replication="3")
    system = HBaseSystem(nodes=3, profile="quick", settings={"mine": 1}, timer_slack_us=1000)
    plain = HBaseSystem(nodes=3, profile="quick")
    found = {one.setting: one for one in facts.deviations(system, launch(system, tmp_path), (MASTER,))}
    assert (found["zookeeper.session.timeout"].default, found["zookeeper.session.timeout"].value) == (
        "77",
        10_000,
    )
    assert found["mine"].reason == "given by the user"
    assert (found[SLACK].value, found[SLACK].default) == (1000, 50)
    assert SLACK not in {one.setting for one in facts.deviations(plain, launch(plain, tmp_path), (MASTER,))}
    assert not {"hbase.cluster.distributed", "dfs.replication"} & set(found)  # as shipped
    known = launch(system, tmp_path).hbase.defaults
    assert defaults.unknown(["zookeeper.sesion.timeout"], known, "hbase-site") == [
        "hbase-site: 'zookeeper.sesion.timeout' is not among upstream's documented settings "
        "(did you mean 'zookeeper.session.timeout'?)"
    ]
    assert defaults.unknown(["zookeeper.session.timeout"], known, "hbase-site") == []


@pytest.mark.parametrize(
    ("settings", "durability", "words"),
    [
        ({"nodes": 3}, "USE_DEFAULT", "memory of 3 DataNodes"),
        ({"nodes": 3, "wal_hsync": True}, "USE_DEFAULT", "disks of 3 DataNodes"),
        ({"nodes": 3, "wal_hsync": True}, "SYNC_WAL", "memory of 3 DataNodes"),
        ({"nodes": 3, "replication": 1}, "FSYNC_WAL", "disks of 1 DataNode "),
        ({"nodes": 3}, "ASYNC_WAL", "before it is in the log"),
        ({"nodes": 3, "wal_hsync": True}, "SKIP_WAL", "without a log"),
        ({"standalone": True}, "USE_DEFAULT", "local file system"),
    ],
)
def test_durability_in_words(settings: dict[str, object], durability: str, words: str) -> None:
    system = HBaseSystem.model_validate({**settings, "access": {"durability": durability}})
    assert words in facts.durability(system)


def test_commands_have_their_heaps_classes_and_places() -> None:
    system = HBaseSystem(nodes=1, zookeepers=1, heaps=HBaseHeaps(master_mib=333), jvm_options=("-Dx=y",))
    node, master = specs(system)
    start = launch(system)
    server = start.server(node, REGIONSERVER)
    assert (server.name, server.log, server.scratch) == (
        "node1/regionserver",
        "regionserver.log",
        "tmp/regionserver",
    )
    words = [*server.command()]
    assert words[-2:] == ["org.apache.hadoop.hbase.regionserver.HRegionServer", "start"]
    assert {"-Xmx1024m", "-Dx=y", "-XX:ActiveProcessorCount=2"} <= {*words}
    assert "-Xmx333m" in start.command(master, MASTER)
    assert start.command(master, ZOOKEEPER)[-1] == "/c/master1/conf/zoo.cfg"


def test_the_plan_names_registries_or_the_ensemble(tmp_path: Path) -> None:
    access = HBaseAccess(table="ns:t", durability="skip-wal", client_buffering_bytes=4096)
    for version, registry, zookeeper in (
        ("2.6", ["127.10.9.3:16000", "127.10.9.1:16020", "127.10.9.2:16020"], []),
        ("2.4", [], ["127.10.9.3:2181"]),
    ):
        system = HBaseSystem(version=version, nodes=2, access=access)
        testbed = HBaseTestbed(system, name="paper", root=tmp_path, host=LocalHost())
        testbed.specs = list(specs(system))
        assert testbed.driver() == {
            "kind": "hbase", "registry": registry, "zookeeper": zookeeper, "zookeeper_parent": "/hbase",
            "table": "ns:t", "family": "family", "durability": "SKIP_WAL", "scan_caching": 100,
            "block_cache": True, "bloom": "ROW", "versions": 1, "compression": "NONE", "regions": 6,
            "regions_fit": True, "client_buffering": 4096, "connections": 1, "user": None, "fresh": False,
        }  # fmt: skip


def test_it_serves_as_long_as_a_region_server_lives(tmp_path: Path) -> None:
    system, me = HBaseSystem(nodes=2, masters=1), own_identity()
    testbed = HBaseTestbed(system, name="paper", root=tmp_path, host=LocalHost())
    testbed.nodes = [
        HBaseNode(
            spec,
            Group(),
            [testbed._server(launch(system).server(spec, role), Group()) for role in spec.roles],
        )
        for spec in specs(system)
    ]
    running = {server.name: server for server in testbed.servers}
    for server in testbed.servers:
        server.identity, server.expected_up = me, True
    assert testbed.serves()
    for name in ("node1/regionserver", "node2/regionserver"):
        running[name].identity = replace(me, start_ticks=0)
    assert not testbed.serves()  # the masters and DataNodes that live answer no client
    assert [death.server for death in testbed.dead()] == ["node1/regionserver", "node2/regionserver"]


def test_how_a_cluster_that_stays_is_used(tmp_path: Path) -> None:
    said = {}
    for version, more in (("2.6", {}), ("2.4", {"zookeeper.znode.parent": "/other"})):
        system = HBaseSystem(version=version, nodes=2, settings=more)
        testbed = HBaseTestbed(system, name="paper", root=tmp_path, host=LocalHost())
        testbed.specs = list(specs(system))
        said[version] = testbed.bench_words()
    assert said == {
        "2.6": ["hbase --hosts 127.10.9.3:16000,127.10.9.1:16020,127.10.9.2:16020",
                "hbase --zookeeper 127.10.9.3:2181"],
        "2.4": ["hbase --zookeeper 127.10.9.3:2181 --zookeeper-parent /other"],
    }  # fmt: skip


def test_given_hosts() -> None:
    plan = HBaseHostsTestbed(HBaseHostsSystem(hosts=("a", "b:16020"), user="u")).driver()
    assert (plan["registry"], plan["zookeeper"], plan["regions"], plan["user"]) == (
        ["a:16000", "b:16020"],
        [],
        1,
        "u",
    )
    plan = HBaseHostsTestbed(HBaseHostsSystem(zookeeper=("z1", "z2:2182"))).driver()
    assert (plan["registry"], plan["zookeeper"]) == ([], ["z1:2181", "z2:2182"])
    with pytest.raises(ValidationError, match="either hosts or zookeeper"):
        HBaseHostsSystem()


def test_places() -> None:
    assert place_of("h", 1) == Place("h", 1)
    assert place_of("[::1]:7", 1) == Place("::1", 7)
    assert place_of("::1", 1) == Place("::1", 1)


def test_versions() -> None:
    assert resolve("2.6") == ("2.6.4", LINES["2.6"])
    assert coordinates("2.6.4", LINES["2.6"])[0] == "org.apache.hbase:hbase-server:2.6.4-hadoop3"
    assert resolve("2.4.17")[0] == "2.4.17"
    with pytest.raises(InputError, match=r"HBase 2\.5 cannot be run"):
        resolve("2.5")


def test_a_project_can_leave_artifacts_out() -> None:
    text = artifacts.pom(["g:a:1", "g:b:1"], ["x:y"])
    root = ElementTree.fromstring(text)  # noqa: S314 - our own text
    space = {"m": "http://maven.apache.org/POM/4.0.0"}
    assert len(root.findall(".//m:dependency/m:exclusions/m:exclusion[m:artifactId='y']", space)) == 2
    assert "exclusion" not in artifacts.pom(["g:a:1"])


def test_a_server_s_last_word_has_the_innermost_cause() -> None:
    log = (
        "INFO  before\nERROR [main] HMasterCommandLine: Master exiting\n"
        "java.lang.RuntimeException: Failed construction\n\tat a.B.c(D.java:1)\n"
        "Caused by: java.net.BindException: Address already in use\n\tat e.F.g(H.java:2)\nINFO  after\n"
    )
    assert last_word(log, "") == (
        "ERROR [main] HMasterCommandLine: Master exiting (java.net.BindException: Address already in use)"
    )
    log = "ERROR ***** ABORTING region server: why *****\nERROR consequence\n"
    assert last_word(log, "") == "ERROR ***** ABORTING region server: why *****"
    assert last_word("INFO  all well\n", "") == "INFO  all well"
    assert last_word("", "") == ""


def test_a_cluster_serves_only_when_dead_servers_are_recovered_from() -> None:
    assert serving._recovering({}) == 0
    assert serving._recovering({"ServerCrashSubmittedCount": 2, "ServerCrashTime_num_ops": 1}) == 1
    ended = {"ServerCrashTime_num_ops": 1, "ServerCrashFailedCount": 1}
    assert serving._recovering({"ServerCrashSubmittedCount": 2, **ended}) == 0
    assert serving._recovering({"ServerCrashTime_num_ops": 1}) == 0  # submitted to the master before
    assert serving._alive({"tag.liveRegionServers": ""}) == set()


def test_a_restored_cluster_waits_for_all_and_its_regions_return() -> None:
    system = HBaseSystem(nodes=3)
    fresh, restored = (profile.hbase_settings(system, restored=again) for again in (False, True))
    added = {name: value for name, (value, _) in restored.items() if name not in fresh}
    assert added == {
        "hbase.master.wait.on.regionservers.maxtostart": 3,
        "hbase.master.wait.on.regionservers.timeout": 60_000,
        "hbase.master.scp.retain.assignment": True,
    }


@pytest.mark.parametrize(
    ("more", "apart", "warned"),
    [
        ({"nodes": 3, "replication": 1}, False, "puts the copy of a file"),
        ({"nodes": 4}, False, "puts the 3 copies of a file"),
        ({"nodes": 3}, False, ""),
        ({"nodes": 3, "replication": 1, "network": "namespaces"}, False, ""),
        ({"nodes": 3, "replication": 1}, True, ""),
    ],
)
def test_that_hdfs_takes_nodes_of_one_host_for_one_machine_is_told(
    more: dict[str, Any], apart: bool, warned: str
) -> None:
    """Not where every node has each copy, an address of its own, or a host of its own."""
    told = any_node(HBaseSystem.model_validate({"kind": "hbase", **more}), apart=apart)
    assert [warned in one for one in told] == ([True] if warned else [])


FSCK_OF_LOGS = """FSCK started by root (auth:SIMPLE) from /127.0.0.1 for path /hbase/WALs at Sun Nov 29

/hbase/WALs/127.10.0.1,16020,1/a 83 bytes, replicated: replication=3, 1 block(s), OPENFORWRITE:  OK

Under Construction Block:
0. BP-942662049-127.0.0.1-1:blk_1_1 len=83 Expected_repl=2
/hbase/WALs/127.10.0.1,16020,1/empty 0 bytes, replicated: replication=3, 0 block(s), OPENFORWRITE:  OK

/hbase/WALs/127.10.0.1,16020,1/closed 91 bytes, replicated: replication=3, 1 block(s):  OK
0. BP-942662049-127.0.0.1-1:blk_2_1 len=91 Live_repl=3

/hbase/WALs/127.10.0.2,16020,1/b 0 bytes, replicated: replication=3, 1 block(s), OPENFORWRITE:  OK

Under Construction Block:
0. BP-942662049-127.0.0.1-1:blk_3_1 len=0 Expected_repl=3

Status: HEALTHY
"""


def test_open_logs_that_have_fewer_copies_than_asked_for_are_told() -> None:
    found = logs.copies(FSCK_OF_LOGS)
    assert found == {"/hbase/WALs/127.10.0.1,16020,1/a": (3, 2), "/hbase/WALs/127.10.0.2,16020,1/b": (3, 3)}
    (told,) = logs.warning(found)
    assert told.startswith("1 of 2 open logs of HBase have 2 of 3 copies")
    assert not logs.warning({"/b": (3, 3)})
    assert not logs.short([]), "a cluster that is not up"
