"""A real HBase is brought from 2.4 to 2.6 while clients write: nothing acknowledged is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from background_writer import BackgroundWriter
from over_the_wire import create_table, put, value

from steelyard.errors import SteelyardError
from steelyard.lab.timeline.perform import Context, perform
from steelyard.spec.actions import Upgrade
from steelyard.systems.hbase.testbed import HBaseTestbed

pytestmark = pytest.mark.beside

Make = Callable[..., HBaseTestbed]
TABLE = "upgraded"
ROWS = [b"a", b"b", b"c", b"d"]
"""One in each region."""
BEFORE, AFTER = "2.4.16", "2.6.4"


class Writer(BackgroundWriter):
    """Writes each row in turn, its value one more each time, again until it is acknowledged.

    Attributes:
        last: the value of each row that was acknowledged last.
        count: how many writes were acknowledged.
    """

    def __init__(self, cluster: HBaseTestbed) -> None:
        self.last: dict[bytes, bytes] = {}
        self.count = 0
        super().__init__()
        self._cluster = cluster

    def _write(self) -> None:
        while not self._stop.wait(0.02):
            row = ROWS[self.count % len(ROWS)]
            try:
                put(self._cluster, TABLE, row, b"%d" % self.count)
            except (OSError, ValueError, StopIteration):  # nobody serves it just now
                continue
            self.last[row] = b"%d" % self.count
            self.count += 1


def there(cluster: HBaseTestbed) -> dict[bytes, bytes]:
    """Every row's value, as soon as all can be read."""
    until = time.monotonic() + 60.0
    while True:
        try:
            return {row: value(cluster, TABLE, row) for row in ROWS}
        except (OSError, ValueError, SteelyardError):
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def jars(cluster: HBaseTestbed) -> dict[str, str]:
    """Which HBase the master and region server processes have on their class path."""
    found = {}
    for server in cluster.servers:
        if server.name.endswith(("/master", "/regionserver")) and server.identity:
            words = Path(f"/proc/{server.identity.pid}/cmdline").read_text()
            (found[server.name],) = {name for name in (BEFORE, AFTER) if f"hbase-server-{name}" in words}
    return found


def test_masters_then_region_servers_are_upgraded_under_load_and_lose_nothing(
    hbase_cluster: Make, tmp_path: Path
) -> None:
    two = hbase_cluster("hup", version="2.4", nodes=2, masters=2, upgrades=("2.6",))
    two.up(print)
    create_table(two, TABLE, ROWS[1:])
    told: list[tuple[str, str]] = []
    context = Context(two, tmp_path, lambda *what: told.append(what), print, threading.Event())
    assert {*jars(two).values()} == {BEFORE}
    active = two._master().name
    standby = "node2" if active == "node1" else "node1"
    before = two.regions(TABLE)
    with Writer(two).writing() as writer:
        perform(Upgrade(id="u", do="upgrade", at=0, version="2.6"), [], context)
    of_masters = [(f"{node}/master", what) for node in (standby, active) for what in ("stopped", "serves")]
    passed = ("drained", "stopped", "serves", "assigned")
    assert told == of_masters + [(node, what) for node in ("node1", "node2") for what in passed]
    assert {*jars(two).values()} == {AFTER}
    assert two.versions() == {"node1": AFTER, "node2": AFTER}
    assert two.version == AFTER
    assert two.dead() == []
    assert two.regions(TABLE) == before
    assert writer.count > 100
    found = there(two)  # a write that was under way at the end may be there, too
    assert all(int(found[row]) >= int(last) for row, last in writer.last.items())
