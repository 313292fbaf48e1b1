"""The Rust tests that need a server, on the clusters all live tests share.

`make rust` has built them; here they get their servers. HBase's own Java client, compiled from java/peer
against the jars the cluster runs on, reads what ours wrote and the reverse.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from steelyard.testbed.cassandra import CassandraTestbed
from steelyard.testbed.hbase import HBaseTestbed
from steelyard.testbed.hbase.layout import REGIONSERVER

CHECKOUT = Path(__file__).parents[2]
LIMIT_S = 500


def cargo_test(package: str, target: str, filters: list[str], environment: Mapping[str, str]) -> None:
    """Run the ignored tests of one target; none may fail, and there must be some."""
    words = ["cargo", "test", "--release", "--locked", "-p", package, "--test", target, "--", "--ignored"]
    done = subprocess.run(
        [*words, "--test-threads=1", *filters],
        cwd=CHECKOUT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    assert " 0 passed" not in done.stdout


def registry(testbed: HBaseTestbed) -> str:
    """Masters and region servers that tell where everything is."""
    return ",".join(testbed.driver()["registry"])


def test_the_cql_driver_keeps_the_contract(cassandra3: CassandraTestbed) -> None:
    server = {"STEELYARD_TEST_CQL": str(cassandra3.nodes[0].place)}
    cargo_test("steelyard-engine", "driver_contract", ["cql"], server)


def test_the_hbase_driver_keeps_the_contract(hbase3: HBaseTestbed) -> None:
    server = {"STEELYARD_TEST_HBASE": str(hbase3.nodes[0].spec.place(REGIONSERVER))}
    cargo_test("steelyard-engine", "driver_contract", ["hbase"], server)


def test_the_hbase_client_does_what_it_says(hbase3: HBaseTestbed) -> None:
    cargo_test("steelyard-hbase", "live", [], {"STEELYARD_TEST_HBASE": registry(hbase3)})


@pytest.mark.timeout(LIMIT_S)
def test_the_official_client_reads_what_ours_wrote_and_the_reverse(hbase3: HBaseTestbed) -> None:
    assert hbase3.launch is not None
    jars = hbase3.launch.hbase
    environment = {
        "STEELYARD_TEST_HBASE": registry(hbase3),
        "STEELYARD_TEST_HBASE_CLASSPATH": f"{jars}/*",
    }
    cargo_test("steelyard-hbase", "peer", [], environment)
