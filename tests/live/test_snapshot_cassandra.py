"""Cassandra's data kept and put back: what is written in between is gone, what was loaded is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from kept_data import EVERY_RECORD, RECORDS, Bench, spoil

from steelyard.hosts import records
from steelyard.hosts.snapshots.checksums import SnapshotChangedError
from steelyard.spec.system import CassandraSystem
from steelyard.systems.cassandra.cql_probe import ALL, ask
from steelyard.systems.cassandra.testbed import CassandraTestbed

pytestmark = pytest.mark.beside
SYSTEM = {
    "nodes": 2,
    "profile": "quick",
    "access": {"replication": {"factor": 1}},
}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(CassandraSystem.model_validate(SYSTEM), tmp_path)
    yield made
    made.down()


def rows(testbed: CassandraTestbed) -> int:
    [[count]] = ask(testbed.nodes[0].place, "SELECT count(*) FROM ycsb.usertable", ALL, 30.0)
    return int.from_bytes(count or b"")


def test_what_was_loaded_comes_back(bench: Bench) -> None:
    kept = bench.load()
    assert {node["address"] for node in kept.holding.values()} == {f"{kept.block}.{n}" for n in (1, 2)}
    assert len({node["host_id"] for node in kept.holding.values()}) == 2
    assert all(node["tables"]["ycsb/usertable"]["live"] >= 1 for node in kept.holding.values())

    changed = bench.restored(kept)
    assert changed.holding() == kept.holding
    assert changed.restored.shared_bytes > 0
    assert rows(changed) == RECORDS
    bench.change(changed)
    assert rows(changed) != RECORDS
    assert changed.holding() != kept.holding
    changed.down(print)
    kept.check()

    again = bench.restored(kept)
    assert again.holding() == kept.holding
    assert rows(again) == RECORDS
    assert bench.read_all(again) == EVERY_RECORD
    assert again.dead() == []
    logs = [(node.spec.folder / "logs" / "system.log").read_text() for node in again.nodes]
    assert [n for log in logs for n in re.findall(r"Log replay complete, (\d+) replayed", log)] == ["0"] * 2
    again.down(print)

    [data, *_] = sorted(kept.folder.glob("node1/data/ycsb/*/*-Data.db"))
    spoil(data)
    with pytest.raises(SnapshotChangedError, match="other content"):
        bench.restored(kept)
    assert not [record for record in records.records() if record.name.startswith("kept-cassandra-")]
