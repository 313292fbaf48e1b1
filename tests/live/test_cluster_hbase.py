"""Real HBase clusters on real HDFS: up, what is done to them while they run, and down without a trace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import psutil
import pytest
from over_the_wire import FAMILY, WAIT_S, active, create_table, specs

from steelyard.errors import InfrastructureError
from steelyard.hosts import cgroup, records
from steelyard.systems.hbase import admin, data, jmx, logs, serving, wire
from steelyard.systems.hbase.layout import DATANODE, MASTER, REGIONSERVER, HBaseSpec, having
from steelyard.systems.hbase.testbed import HBaseTestbed
from steelyard.systems.waiting import wait_until

pytestmark = pytest.mark.beside

Make = Callable[..., HBaseTestbed]
TABLE = "looked"
IPC = "Hadoop:service=HBase,name=RegionServer,sub=IPC"


def put(spec: HBaseSpec, row: bytes, value: bytes) -> None:
    f = wire.field
    (region,) = [one for one in admin.regions(spec, TABLE) if one.name.split(b",")[1][:1] == row[:1]]
    column = f(1, FAMILY) + f(2, f(1, "q") + f(2, value))
    mutation = f(1, row) + f(2, 2) + f(3, column)
    param = f(1, serving.region(region.name)) + f(2, mutation)
    assert wire.number_of(wire.ask(spec.place(REGIONSERVER), wire.CLIENT, "Mutate", param), 2) == 1


def files(testbed: HBaseTestbed) -> int | None:
    """Store files of all servers; None while one does not tell, as after a region was opened."""
    asked = [spec.web(REGIONSERVER) for spec in having(specs(testbed), REGIONSERVER)]
    told = [jmx.bean(web, jmx.REGIONSERVER).get("storeFileCount") for web in asked]
    return None if None in told else sum(map(int, told))


def told(ask: Callable[[], int | None], what: str) -> int:
    """A figure, once servers tell it: not while they put it together anew."""
    found: list[int | None] = [None]

    def there() -> bool:
        found[0] = ask()
        return found[0] is not None

    wait_until(there, [], WAIT_S, f"a server does not tell {what}")
    assert found[0] is not None
    return found[0]


def test_three_nodes_serve(hbase3: HBaseTestbed) -> None:
    assert serving.waiting_for(specs(hbase3), having(specs(hbase3), REGIONSERVER)) == ""
    assert serving.hdfs_ready(specs(hbase3))
    assert hbase3.dead() == []
    facts = hbase3.facts()
    assert (facts["version"], facts["replication"], facts["warnings"]) == ("2.6.4", {"hdfs": 3}, [])
    assert "the memory of 3 DataNodes (hflush)" in facts["durability"]
    settings = {found["setting"]: found for found in facts["deviations"]}
    assert settings["zookeeper.session.timeout"]["default"] == "90000"  # read from the jar


def test_everything_listens_on_its_own_address(hbase3: HBaseTestbed) -> None:
    for node in hbase3.nodes:
        listening = [
            found.laddr.ip
            for pid in node.pids()
            for found in psutil.Process(pid).net_connections("inet")
            if found.status == psutil.CONN_LISTEN
        ]
        assert listening
        assert {address.split(".")[0] for address in listening} == {"127"}
        assert node.spec.address in listening


def test_all_servers_of_a_node_are_in_its_group(hbase3: HBaseTestbed) -> None:
    for node in hbase3.nodes:
        assert len(node.pids()) == len(node.spec.roles)
        for folder in node.group.folders.values():
            assert {int(pid) for pid in (folder / "cgroup.procs").read_text().split()} == {*node.pids()}


def test_every_server_tells_its_figures_anew_each_second(hbase3: HBaseTestbed) -> None:
    for target in hbase3.targets():
        assert {role.name for role, _, _ in target.jmx} >= {DATANODE if "node" in target.name else MASTER}
    web = hbase3.nodes[0].spec.web(REGIONSERVER)

    def received() -> int | None:
        return cast("int | None", jmx.bean(web, IPC).get("receivedBytes"))

    first = told(received, "what it received")
    serving.read_meta(active(hbase3))
    admin.regions(hbase3.nodes[0].spec)
    wait_until(lambda: (received() or first) > first, [], WAIT_S, "figures stay as they are")


def test_a_table_is_flushed_compacted_balanced_and_settles(hbase3: HBaseTestbed) -> None:
    create_table(hbase3, TABLE, [b"b", b"c", b"d", b"e", b"f"])
    assert sorted(hbase3.regions(TABLE).values()) == [2, 2, 2]
    before = told(lambda: files(hbase3), "its store files")
    node = hbase3.nodes[0]
    letter = next(
        one.name.split(b",")[1][:1] for one in admin.regions(node.spec, TABLE) if b",," not in one.name
    )
    for value in (b"1", b"2"):
        put(node.spec, letter + b"row", value)
        hbase3.flush("node1", TABLE)
    wait_until(lambda: files(hbase3) == before + 2, [], WAIT_S, "two flushes did not make two files")
    hbase3.compact("node1", TABLE)
    assert hbase3.settle(WAIT_S, print).quiet
    wait_until(lambda: files(hbase3) == before + 1, [], WAIT_S, "one file was to be left")
    assert hbase3.balance() <= 1  # HBase's own regions may be uneven
    wait_until(lambda: sum(hbase3.regions(TABLE).values()) == 6, [], WAIT_S, "a region was lost")


def test_a_killed_node_is_told_of_and_comes_back(hbase3: HBaseTestbed) -> None:
    victim = hbase3.node("node3")
    for pid in victim.pids():
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: len(hbase3.dead()) == 2, [], WAIT_S, "deaths are not told")
    told = {death.server: death.why for death in hbase3.dead()}
    assert told == {f"node3/{role}": "killed by SIGKILL" for role in (DATANODE, REGIONSERVER)}
    hbase3.restart("node3")
    assert hbase3.dead() == []
    assert serving.waiting_for(specs(hbase3), having(specs(hbase3), REGIONSERVER)) == ""


def test_a_frozen_region_server_answers_nothing_until_it_thaws(hbase3: HBaseTestbed) -> None:
    node = hbase3.node("node2")
    hbase3.freeze("node2/regionserver")
    try:
        assert not serving.serves(node.spec, REGIONSERVER)
        assert serving.serves(node.spec, DATANODE)
        assert node.alive
    finally:
        hbase3.thaw("node2/regionserver")
    assert hbase3.dead() == []
    wait_until(lambda: serving.serves(node.spec, REGIONSERVER), [], WAIT_S, "it does not go on")


def test_a_stand_by_master_takes_over_without_waiting_for_a_dead_server(hbase3: HBaseTestbed) -> None:
    first = active(hbase3)
    hbase3.kill("node3/regionserver")
    hbase3.kill(f"{first.name}/master")
    assert hbase3.dead() == []  # it was asked for

    def taken_over() -> bool:
        now = serving.active_master(specs(hbase3))
        return now is not None and now.name != first.name

    wait_until(taken_over, [], WAIT_S, "no other master took over")
    hbase3.restart(f"{first.name}/master")
    hbase3.restart("node3/regionserver")
    assert serving.waiting_for(specs(hbase3), having(specs(hbase3), REGIONSERVER)) == ""


def test_quota_can_be_changed(hbase3: HBaseTestbed) -> None:
    hbase3.resize("node2", 0.5)
    try:
        assert hbase3.facts()["limits"]["cpu_cores"]["node2"] == 0.5
    finally:
        hbase3.resize("node2", None)


def test_collected_files_tell_how_each_server_was_started(hbase3: HBaseTestbed, tmp_path: Path) -> None:
    hbase3.collect(tmp_path)
    for node in hbase3.nodes:
        conf, logs = tmp_path / node.name / "conf", tmp_path / node.name / "logs"
        assert f"<value>{node.spec.address}</value>" in (conf / "hbase-site.xml").read_text()
        for role in node.spec.roles:
            assert f"-Dproc_{role}" in (conf / f"{role}.command").read_text().splitlines()
            assert role == "zookeeper" or "INFO" in (logs / f"{role}.log").read_text()


def copies_of_logs(testbed: HBaseTestbed) -> set[tuple[int, int]]:
    return {*logs.copies(data.fsck_says(specs(testbed), data.LOGS, data.OPEN_BLOCKS)).values()}


def test_each_log_has_all_its_copies_and_one_that_lacks_one_is_told_of(hbase_cluster: Make) -> None:
    three = hbase_cluster("hcopies", nodes=3)
    three.up(print)
    assert copies_of_logs(three) == {(3, 3)}
    assert not any("copies" in told for told in three.warnings())
    three.kill("node3/datanode")
    admin.roll_log(three.node("node1").spec)
    wait_until(lambda: (3, 2) in copies_of_logs(three), [], WAIT_S, "no log is opened without the third node")
    assert any("open logs of HBase have 2 of 3 copies" in told for told in three.warnings())


def test_an_interrupted_start_leaves_nothing(hbase_cluster: Make) -> None:
    half = hbase_cluster("hhalf")

    def interrupt(line: str) -> None:
        if line.startswith("HDFS is up"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half.up(interrupt)
    assert half.servers
    assert not [server for server in half.servers if server.alive]
    assert "hhalf" not in {record.name for record in records.records()}
    assert not list(cgroup.MOUNT.glob("*/steelyard/hhalf")) + list(cgroup.MOUNT.glob("steelyard/hhalf"))


def test_a_server_that_cannot_start_says_why_and_keeps_its_logs(hbase_cluster: Make) -> None:
    broken = hbase_cluster("hbroken", standalone=True, settings={"hfile.block.cache.size": 0.9})
    with pytest.raises(
        InfrastructureError, match=r"node1/standalone died while starting: .*exit status"
    ) as caught:
        broken.up(print)
    assert "heap memory allocation" in caught.value.message
    kept = Path((caught.value.hint or "").rsplit(" ", 1)[1])
    assert "heap memory allocation" in (kept / "node1" / "logs" / "standalone.log").read_text()
    assert not broken.folder.exists()


def test_one_process_on_the_local_file_system_up_once_more(hbase_cluster: Make) -> None:
    alone = hbase_cluster("halone", standalone=True)
    alone.up(print)
    alone.down(print)
    alone.up(print)
    assert [server.name for server in alone.servers] == ["node1/standalone"]
    create_table(alone, TABLE, [b"m"])
    assert alone.regions(TABLE) == {"node1": 2}
    assert alone.settle(WAIT_S, print).quiet


def test_the_older_line(hbase_cluster: Make) -> None:
    old = hbase_cluster("hold", version="2.4")
    old.up(print)
    assert old.version == "2.4.16"
    create_table(old, TABLE, [b"m"])
    assert old.regions(TABLE) == {"node1": 2}
    plan = old.driver()
    assert (plan["registry"], plan["zookeeper"]) == ([], [f"{old.nodes[0].spec.address}:2181"])


@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
def test_namespaces_have_real_addresses(hbase_cluster: Make) -> None:
    apart = hbase_cluster("hapart", roles="dedicated", network="namespaces", limits={"memory_mib": 1500})
    apart.up(print)
    (address, _, port) = apart.driver()["registry"][1].partition(":")
    probe = f"import socket; socket.create_connection(({address!r}, {port}), 5)"
    subprocess.run([*apart.engine_prefix(), sys.executable, "-c", probe], check=True)
    assert [n.spec.ports["dfs.datanode.address"] for n in apart.nodes] == [9866, 9866]


def test_the_command_line_brings_one_up_and_down() -> None:
    def steelyard(*words: str) -> subprocess.CompletedProcess[str]:
        call = [sys.executable, "-c", "from steelyard.cli import app; app()", "cluster", *words]
        return subprocess.run(call, capture_output=True, text=True, check=False)

    start = time.monotonic()
    words = "up hbase --standalone --name hcli --profile quick --set hbase.regionserver.hander.count=5"
    up = steelyard(*words.split())
    try:
        assert up.returncode == 0, up.stderr
        assert "hcli is up after" in up.stdout
        assert "used with: steelyard bench hbase --zookeeper " in up.stdout
        assert "did you mean 'hbase.regionserver.handler.count'?" in up.stderr
        (row,) = [line for line in steelyard("status", "hcli").stdout.splitlines() if "node1" in line]
        assert {"up", "standalone"} <= {*row.split()}
        assert "1/1 run" in steelyard("list").stdout
        assert (
            "Master has completed initialization" in steelyard("logs", "hcli", "node1", "-n", "2000").stdout
        )
    finally:
        down = steelyard("down", "hcli")
    assert (down.returncode, down.stdout) == (0, "hcli is down\n")
    assert time.monotonic() - start < WAIT_S
