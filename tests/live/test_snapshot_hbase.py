"""HBase's data kept and put back: no log to split, the same blocks and regions at the same places."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kept_data import EVERY_RECORD, RECORDS, Bench, spoil

from steelyard.hosts import records
from steelyard.hosts.snapshots.checksums import SnapshotChangedError
from steelyard.spec.hbase import HBaseSystem
from steelyard.systems.hbase import admin, data, wire
from steelyard.systems.hbase.layout import REGIONSERVER, HBaseSpec
from steelyard.systems.hbase.serving import region
from steelyard.systems.hbase.testbed import HBaseTestbed

pytestmark = pytest.mark.beside
SYSTEM = {"nodes": 2, "profile": "quick", "roles": "colocated"}
PAGE = 1000


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(HBaseSystem.model_validate(SYSTEM), tmp_path)
    yield made
    made.down()


def rows(testbed: HBaseTestbed) -> int:
    specs = [node.spec for node in testbed.nodes]
    return sum(_rows(spec, one) for spec in specs for one in admin.regions(spec, "usertable"))


def _rows(spec: HBaseSpec, one: admin.Region) -> int:
    """Rows of one region: each result is one, since none is larger than an answer may be."""
    f, place = wire.field, spec.place(REGIONSERVER)
    opened = f(1, region(one.name)) + f(2, f(17, PAGE)) + f(4, PAGE)
    answer = wire.ask(place, wire.CLIENT, "Scan", opened)
    found, scanner, sequence = len(answer.get(5, [])), wire.number_of(answer, 2), 0
    while wire.number_of(answer, 8):
        following = f(3, scanner) + f(4, PAGE) + f(6, sequence)
        answer = wire.ask(place, wire.CLIENT, "Scan", following)
        found, sequence = found + len(answer.get(5, [])), sequence + 1
    return found


def flush_and_compact(testbed: HBaseTestbed) -> None:
    """Leaves the files that the compaction has replaced: they go when their region is closed."""
    for node in testbed.nodes:
        testbed.flush(node.name)
        testbed.compact(node.name, "usertable")


def test_what_was_loaded_comes_back(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HBaseTestbed, "flush_all", flush_and_compact)
    kept = bench.load()
    nodes = [kept.holding[f"node{n}"] for n in (1, 2)]
    assert [len(node["regions"]) for node in nodes] == [3, 3]
    assert len({node["identity"]["datanodeUuid"] for node in nodes}) == 2
    assert kept.holding["tables"]["default/usertable"]["files"] == 6

    changed = bench.restored(kept)
    assert changed.holding() == kept.holding
    assert changed.restored.shared_bytes > 0
    assert data.fsck([node.spec for node in changed.nodes], data.TABLES)
    assert rows(changed) == RECORDS
    bench.change(changed)
    assert rows(changed) != RECORDS
    changed.down(print)
    kept.check()

    again = bench.restored(kept)
    assert again.holding() == kept.holding
    assert rows(again) == RECORDS
    assert bench.read_all(again) == EVERY_RECORD
    assert again.dead() == []
    again.down(print)

    [block, *_] = sorted(kept.folder.glob("node1/data/current/*/current/finalized/**/blk_*[0-9]"))
    spoil(block)
    with pytest.raises(SnapshotChangedError, match="other content"):
        bench.restored(kept)
    assert not [record for record in records.records() if record.name.startswith("kept-hbase-")]
