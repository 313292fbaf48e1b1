"""`steelyard ycsb ... hbase2` on a real cluster that hbase-site.xml names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from peers.ycsb import Done, ours, parsed

from steelyard.systems.hbase.testbed import HBaseTestbed

pytestmark = pytest.mark.beside

WORKLOADS = Path(__file__).parents[2] / "workloads"
SITE = "<configuration><property><name>{}</name><value>{}</value></property></configuration>\n"
Ycsb = Callable[..., Done]


@pytest.fixture
def ycsb(hbase3: HBaseTestbed, tmp_path: Path, request: pytest.FixtureRequest) -> Ycsb:
    """Run `steelyard ycsb ACTION hbase2 WORDS` on the shared cluster, on a table of the test's own."""
    servers = ",".join(hbase3.driver()["registry"])
    (tmp_path / "hbase-site.xml").write_text(SITE.format("hbase.client.bootstrap.servers", escape(servers)))
    words = ["-cp", str(tmp_path), "-p", "columnfamily=cf", "-p", f"table={request.node.name[:40]}"]
    return lambda action, *more: ours(action, "hbase2", *words, *more)


def workload(letter: str) -> tuple[str, str]:
    return "-P", str(WORKLOADS / f"workload{letter}")


def test_a_property_file_runs_unchanged(ycsb: Ycsb) -> None:
    loaded = ycsb("load", *workload("a"), "-threads", "4")
    assert loaded.returncode == 0, loaded.stderr
    assert parsed(loaded.stdout)["INSERT"]["Return=OK"] == 1000
    ran = ycsb("run", *workload("e"), "-threads", "4", "-s", "-p", "status.interval=1")
    assert ran.returncode == 0, ran.stderr
    found = parsed(ran.stdout)
    assert found["SCAN"]["Return=OK"] + found["INSERT"]["Return=OK"] == 1000
    assert " 1000 operations; " in ran.stderr


def test_collected_writes_are_flushed(ycsb: Ycsb) -> None:
    buffering = ("-p", "clientbuffering=true", "-p", "writebuffersize=100000")
    loaded = ycsb("load", *workload("a"), "-threads", "4", *buffering)
    assert loaded.returncode == 0, loaded.stderr
    found = parsed(loaded.stdout)
    assert found["INSERT"]["Return=OK"] == 1000
    assert found["FLUSH"]["Return=OK"] >= 1000 * 1000 / 100_000  # as many batches as the values alone fill
    ran = ycsb("run", *workload("c"), "-threads", "4")
    assert ran.returncode == 0, ran.stderr
    assert parsed(ran.stdout)["READ"]["Return=OK"] == 1000
