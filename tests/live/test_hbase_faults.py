"""What happens to a cluster under load must cost no acknowledged write: the native client's fault tests.

The load and its judgement are in Rust (crates/hbase/tests/faults); servers are ended and brought back here on
its word: it runs a shell command that returns when the deed is done.
"""

from __future__ import annotations

import shlex
import socketserver
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest
from test_rust_live import cargo_test, cargo_tests, registry

from steelyard.systems.hbase import serving
from steelyard.systems.hbase.testbed import HBaseTestbed

pytestmark = pytest.mark.beside
FAULTS = (
    "regions_move_under_load",
    "regions_split_under_load",
    "a_region_server_dies_under_load",
    "the_active_master_dies_under_load",
)
VICTIM = "node3/regionserver"
ASK = """
import socket, sys
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect(sys.argv[1])
    asked.sendall(sys.argv[2].encode() + b"\\n")
    sys.exit(asked.makefile().readline().strip() != "done")
"""
Deeds = Mapping[str, Callable[[], None]]


class Service(socketserver.ThreadingUnixStreamServer):
    """Does what it knows by a word."""

    def __init__(self, path: Path, deeds: Deeds) -> None:
        super().__init__(str(path), Asked)
        self.deeds = deeds


class Asked(socketserver.StreamRequestHandler):
    """One word, and its answer when the deed is done; a deed that raises closes the connection unanswered."""

    def handle(self) -> None:
        cast(Service, self.server).deeds[self.rfile.readline().decode().strip()]()
        self.wfile.write(b"done\n")


@contextmanager
def commands(path: Path, deeds: Deeds) -> Iterator[dict[str, str]]:
    """Shell commands, one for each deed, that have it done here."""
    with Service(path, deeds) as service:
        thread = threading.Thread(target=service.serve_forever)
        thread.start()
        try:
            yield {word: shlex.join([sys.executable, "-c", ASK, str(path), word]) for word in deeds}
        finally:
            service.shutdown()
            thread.join()


class Masters:
    """Ends the active master, and brings back the one that was ended."""

    def __init__(self, testbed: HBaseTestbed) -> None:
        self.testbed = testbed
        self.ended = ""

    def kill(self) -> None:
        found = serving.active_master([node.spec for node in self.testbed.nodes])
        assert found is not None
        self.ended = f"{found.name}/master"
        self.testbed.kill(self.ended)

    def restart(self) -> None:
        self.testbed.restart(self.ended)


@pytest.fixture
def deeds(hbase3: HBaseTestbed) -> Deeds:
    masters = Masters(hbase3)
    return {
        "STEELYARD_TEST_HBASE_KILL": lambda: hbase3.kill(VICTIM),
        "STEELYARD_TEST_HBASE_RESTART": lambda: hbase3.restart(VICTIM),
        "STEELYARD_TEST_HBASE_KILL_MASTER": masters.kill,
        "STEELYARD_TEST_HBASE_RESTART_MASTER": masters.restart,
    }


@pytest.mark.parametrize("fault", FAULTS)
def test_no_acknowledged_write_is_lost(
    fault: str, deeds: Deeds, hbase3: HBaseTestbed, tmp_path: Path
) -> None:
    with commands(tmp_path / "deeds", deeds) as words:
        cargo_test("faults", [fault], {"STEELYARD_TEST_HBASE": registry(hbase3), **words})


def test_no_fault_is_left_out() -> None:
    assert cargo_tests("faults") == {*FAULTS}
