"""The Rust tests that need a server, on the clusters all live tests share.

`make rust` has built them; here they get their servers. HBase's own Java client, compiled from java/peer
against the jars the cluster runs on, reads what ours wrote and the reverse.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.systems.hbase.layout import REGIONSERVER
from steelyard.systems.hbase.testbed import HBaseTestbed

pytestmark = pytest.mark.beside
CHECKOUT = Path(__file__).parents[2]
LIMIT_S = 500


def cargo_test(target: str, filters: list[str], environment: Mapping[str, str]) -> None:
    """Run the ignored tests of one target; none may fail, and there must be some."""
    words = ["--ignored", "--test-threads=1", "--nocapture", *filters]
    with _cargo(target, words, environment) as running:
        try:
            said, _ = running.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            _end(running)
            pytest.fail(f"not ended after {LIMIT_S} s:\n{running.communicate()[0][-6000:]}")
        except BaseException:
            _end(running)
            raise
    why = said.partition("panicked at")[2][:1000]  # what follows may be longer than what is shown
    assert running.returncode == 0, f"{why}\n...\n{said[-6000:]}"
    assert " 0 passed" not in said


def cargo_tests(target: str) -> set[str]:
    """The names of the ignored tests of one target."""
    with _cargo(target, ["--ignored", "--list"], {}) as running:
        said, _ = running.communicate()
    return {name for name, _, what in (line.partition(": ") for line in said.splitlines()) if what == "test"}


def _cargo(target: str, words: list[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    # Of all the default members, as `make rust` has built them.
    return subprocess.Popen(
        ["cargo", "test", "--release", "--locked", "--test", target, "--", *words],
        cwd=CHECKOUT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _end(running: subprocess.Popen[str]) -> None:
    """End cargo and the test it runs, which would go on without it."""
    os.killpg(running.pid, signal.SIGKILL)


def registry(testbed: HBaseTestbed) -> str:
    """Masters and region servers that tell where everything is."""
    return ",".join(testbed.driver()["registry"])


def test_the_cql_driver_keeps_the_contract(cassandra3: CassandraTestbed) -> None:
    server = {"STEELYARD_TEST_CQL": str(cassandra3.nodes[0].place)}
    cargo_test("driver_contract", ["cql"], server)


def test_the_hbase_driver_keeps_the_contract(hbase3: HBaseTestbed) -> None:
    server = {"STEELYARD_TEST_HBASE": str(hbase3.nodes[0].spec.place(REGIONSERVER))}
    cargo_test("driver_contract", ["hbase"], server)


def test_the_engine_reads_what_it_wrote_while_regions_move_and_split(hbase3: HBaseTestbed) -> None:
    cargo_test("hbase", [], {"STEELYARD_TEST_HBASE": str(hbase3.nodes[0].spec.place(REGIONSERVER))})


def test_the_hbase_client_does_what_it_says(hbase3: HBaseTestbed) -> None:
    cargo_test("live", [], {"STEELYARD_TEST_HBASE": registry(hbase3)})


def test_the_official_client_reads_what_ours_wrote_and_the_reverse(hbase3: HBaseTestbed) -> None:
    jars = hbase3.launches.on().hbase.jars.folder
    environment = {
        "STEELYARD_TEST_HBASE": registry(hbase3),
        "STEELYARD_TEST_HBASE_CLASSPATH": f"{jars}/*",
    }
    cargo_test("peer", [], environment)
