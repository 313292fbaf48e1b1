"""HBase on the command line: every flag sets what it says, and a flag of another system is refused."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.cli.bench_study import bench_study
from steelyard.cli.options import FLAGS
from steelyard.errors import InputError
from steelyard.spec.hbase import HBaseHostsSystem, HBaseSystem
from steelyard.spec.kind import declarations
from steelyard.spec.systems import System, has_setting


def system(line: str) -> System:
    """The system of a command line, through typer's own parsing."""
    seen: list[System] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("steelyard.cli.conduct.conduct", lambda study, **_: seen.append(study.system))
        result = CliRunner().invoke(app, ["bench", *line.split()])
    assert result.exit_code == 0, result.stderr
    return seen[0]


def fault(line: str) -> str:
    result = CliRunner().invoke(app, line.split())
    assert result.exit_code == 2, (result.exit_code, result.output)
    assert "Traceback" not in result.stderr
    return result.stderr


def test_every_flag_of_hbase_sets_what_it_says() -> None:
    found = system("""hbase --nodes 3 --version 2.4 --profile quick --heap 2g --cpu 1.5 --memory 3g --java 17
        --masters 2 --zookeepers 3 --roles colocated --rf 2 --master-heap 1g --datanode-heap 300m
        --namenode-heap 301m --zookeeper-heap 100m --wal-provider filesystem --wal-hsync --balancer-period 5m
        --table ns:t --family cf --regions 12 --durability async-wal --scan-caching 50 --no-block-cache
        --bloom rowcol --versions 3 --compression GZ --client-buffering 2m --connections 4 --fresh
        --set hbase.regionserver.handler.count=7 --set-site dfs.blocksize=1048576""")
    assert isinstance(found, HBaseSystem)
    assert (found.nodes, found.version, found.profile, found.java) == (3, "2.4", "quick", "17")
    assert found.heaps.model_dump() == {
        "region_server_mib": 2048, "master_mib": 1024, "data_node_mib": 300, "name_node_mib": 301,
        "zookeeper_mib": 100,
    }  # fmt: skip
    assert (found.limits.cpu, found.limits.memory_mib) == (1.5, 3072)
    assert (found.masters, found.zookeepers, found.roles, found.replication) == (2, 3, "colocated", 2)
    assert (found.wal_provider, found.wal_hsync, found.balancer_period_s) == ("filesystem", True, 300)
    assert (found.hbase_site, found.hdfs_site) == (
        {"hbase.regionserver.handler.count": 7},
        {"dfs.blocksize": 1048576},
    )
    assert found.access.model_dump() == {
        "table": "ns:t", "family": "cf", "durability": "ASYNC_WAL", "scan_caching": 50, "block_cache": False,
        "bloom": "ROWCOL", "versions": 3, "compression": "GZ", "regions": 12,
        "client_buffering_bytes": 2 << 20, "connections": 4, "fresh": True,
    }  # fmt: skip


def test_standalone() -> None:
    found = system("hbase --standalone")
    assert isinstance(found, HBaseSystem)
    assert (found.standalone, found.size) == (True, 1)


def test_given_hosts_or_their_ensemble() -> None:
    found = system("hbase --hosts m1,r1:16020 --port 9 --user u --table t --fresh")
    assert isinstance(found, HBaseHostsSystem)
    assert (found.hosts, found.port, found.user) == (("m1", "r1:16020"), 9, "u")
    assert (found.access.table, found.access.fresh) == ("t", True)
    found = system("hbase --zookeeper z1,z2 --zookeeper-parent /other")
    assert isinstance(found, HBaseHostsSystem)
    assert (found.zookeeper, found.zookeeper_parent) == (("z1", "z2"), "/other")


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("bench hbase --read-consistency ONE",
         "--read-consistency does not apply to system of kind 'hbase'", "goes with cassandra, hosts"),
        ("bench cassandra --durability SKIP_WAL",
         "--durability does not apply to system", "goes with hbase, hbase-hosts"),
        ("bench hbase --keyspace k", "--keyspace does not apply", "it goes with cassandra, hosts"),
        ("bench cassandra --masters 2",
         "--masters does not apply to system of kind 'cassandra'", "it goes with hbase"),
        ("bench hbase --zookeeper z --zookeepers 3",
         "--zookeepers does not apply", "(did you mean '--zookeeper'?)"),
        ("bench hbase --hosts a --nodes 3", "--hosts and --nodes exclude each other", "leave --nodes out"),
        ("bench cassandra --zookeeper z",
         "--zookeeper does not apply to system of kind 'hosts'", "with hbase-hosts"),
        ("bench embedded --zookeeper z", "--zookeeper: embedded has no hosts", ""),
        ("bench hbase --hosts a --zookeeper z", "system: give either hosts or zookeeper", ""),
        ("bench hbase --durability SKIP_WALL",
         "--durability: unknown durability", "(did you mean 'SKIP_WAL'?)"),
        ("bench embedded --set a=1", "--set a: system of kind 'embedded' has no configuration files",
         "it goes with cassandra, hbase; a study's settings are set by their path"),
        ("bench hbase --set a", "--set a: expected key=value", ""),
        ("bench hbase --standalone --nodes 3", "system: standalone is one JVM", ""),
        ("bench hbas", "no system 'hbas' (did you mean 'hbase'?)", ""),
        ("bench hbase --nodes 2 --rf 3", "system: replication = 3, but there are only 2 DataNodes", ""),
        ("cluster up hbase --own-disk 2g", "system: disk_mib = 2048 is too small for HDFS", ""),
        ("cluster up null", "no cluster of null can be brought up", "known: cassandra, hbase"),
        ("cluster up hbase --tokens 4", "--tokens does not apply to system", "it goes with cassandra"),
        ("cluster up hbase --version 2.5", "HBase 2.5 cannot be run", "newest tried: 2.6.4, 2.4.16"),
    ],
)  # fmt: skip
def test_mistakes(line: str, message: str, hint: str) -> None:
    said = fault(line)
    assert said.startswith(f"error: {message}"), said
    assert hint in said


def test_every_flag_of_a_system_goes_with_one() -> None:
    for kind, record in declarations().items():
        for flag in record.flags:
            assert has_setting(kind, flag.setting), (kind, flag.long)
            assert flag.long in {known.long for known in FLAGS}


def test_pairs_of_cluster_up_go_where_they_belong() -> None:
    pairs = ["dfs.replication=1", "a=true"]
    found = bench_study("hbase", {}, pairs).system
    assert isinstance(found, HBaseSystem)
    assert (found.hbase_site, found.hdfs_site) == ({"a": True}, {"dfs.replication": 1})
    with pytest.raises(InputError, match="expected key=value"):
        bench_study("hbase", {}, ["=1"])
