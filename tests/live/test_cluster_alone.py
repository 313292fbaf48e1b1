"""Clusters that find this host as other tools left it: ports in use, servers of a tool that was killed.

Clusters of other tests that come up at the same moment would take the port, or end the servers, first.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.errors import InfrastructureError
from steelyard.hosts import network, records
from steelyard.hosts.local import LocalHost
from steelyard.hosts.process import alive, wait_gone
from steelyard.hosts.snapshots import store


@pytest.mark.parametrize(
    ("make", "port", "way_out"),
    [
        ("cluster", 9042, "stop it"),
        ("hbase_cluster", 16020, "use another port: --set hbase.regionserver.port=26020"),
    ],
)
def test_an_occupied_port_names_the_process_and_the_way_out(
    request: pytest.FixtureRequest, make: str, port: int, way_out: str
) -> None:
    taken = {record.block for record in records.records()}
    free = f"{network.free_block(taken, namespaced=False, wanted=store.blocks())}.1"
    with socket.create_server((free, port)), pytest.raises(InfrastructureError) as caught:
        request.getfixturevalue(make)("blocked").up(print)
    assert f"{free}:{port} is already used by" in caught.value.message
    assert f"(pid {os.getpid()})" in caught.value.message
    assert way_out in (caught.value.hint or "")
    assert "blocked" not in {found.name for found in records.records()}


OWNER = """
import sys, time
from pathlib import Path
from steelyard.spec.system import CassandraSystem
from steelyard.systems import create
testbed = create(CassandraSystem(profile="quick"), name="orphan", root=Path(sys.argv[1]))
testbed.up(lambda _: None)
if sys.argv[2] == "thread":  # as a timeline does
    import threading
    worker = threading.Thread(target=testbed.restart, args=("node1",))
    worker.start()
    worker.join()
print(testbed.nodes[0].identity.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("started_in", ["main", "thread"])
def test_a_killed_tool_leaves_no_server(tmp_path: Path, started_in: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, tmp_path, started_in], stdout=subprocess.PIPE, text=True
    ) as tool:
        assert tool.stdout is not None
        pid = int(tool.stdout.readline())
        server = records.load("orphan").processes["node1"]
        assert server.pid == pid
        assert alive(server)
        tool.kill()
    assert wait_gone([server], 10.0)
    assert LocalHost().end_leftovers() == [f"ended orphan, left over by process {tool.pid}"]
    assert not (tmp_path / "orphan").exists()
    assert "orphan" not in {record.name for record in records.records()}
