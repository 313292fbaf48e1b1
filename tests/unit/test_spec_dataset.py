"""Which settings make another data set, and how a study's trials share the loads of theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import InputError
from steelyard.spec.dataset import data_set, key
from steelyard.spec.estimate import each, estimate
from steelyard.spec.hbase import HBaseSystem
from steelyard.spec.load import Load
from steelyard.spec.models import Point, Trial
from steelyard.spec.read import read_study
from steelyard.spec.system import CassandraSystem
from steelyard.spec.trials import STRIDE, trials
from steelyard.spec.workload import CORE

TEXT = """
repetitions = 3
reset = "restore"
workload = "c"
[systems.one]
kind = "cassandra"
profile = "quick"
[systems.two]
kind = "hbase"
profile = "quick"
[load]
operations = 1000
[factors]
clients = [1, 4]
"""
SYSTEMS: dict[str, type[CassandraSystem | HBaseSystem]] = {"cassandra": CassandraSystem, "hbase": HBaseSystem}


def key_of(kind: str, seed: int = 1, workload: dict[str, Any] | None = None, **system: Any) -> str:
    made = SYSTEMS[kind].model_validate(system)
    asked = CORE["a"].model_copy(update=workload or {})
    return key(data_set(Point(system=made, workload=asked, load=Load()), seed))


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("cassandra", {"version": "4.1"}),
        ("cassandra", {"nodes": 3}),
        ("cassandra", {"tokens": 8}),
        ("cassandra", {"partitioner": "RandomPartitioner"}),
        ("cassandra", {"profile": "quick"}),
        ("cassandra", {"heap_mib": 300}),
        ("cassandra", {"settings": {"memtable_flush_writers": 2}}),
        ("cassandra", {"network": "namespaces"}),
        ("cassandra", {"access": {"replication": {"factor": 2}}}),
        ("cassandra", {"access": {"table_options": ["compression = {'enabled': false}"]}}),
        ("cassandra", {"access": {"write_consistency": "ALL"}}),
        ("cassandra", {"access": {"load_consistency": "ALL"}}),
        ("cassandra", {"access": {"durable_writes": False}}),
        ("cassandra", {"access": {"keyspace": "other"}}),
        ("hbase", {"version": "2.4"}),
        ("hbase", {"nodes": 2}),
        ("hbase", {"access": {"regions": 7}}),
        ("hbase", {"access": {"compression": "GZ"}}),
        ("hbase", {"access": {"bloom": "ROWCOL"}}),
        ("hbase", {"access": {"block_cache": False}}),
        ("hbase", {"settings": {"dfs.blocksize": 1 << 20}}),
        ("hbase", {"nodes": 3, "replication": 2}),
    ],
)
def test_what_shapes_the_files_makes_another(kind: str, settings: dict[str, Any]) -> None:
    assert key_of(kind, **settings) != key_of(kind)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("cassandra", {"limits": {"cpu": 0.5}}),
        ("cassandra", {"watch": False}),
        ("cassandra", {"java": "17"}),
        ("cassandra", {"access": {"read_consistency": "ALL", "connections": 4, "fresh": True}}),
        ("hbase", {"access": {"durability": "ASYNC_WAL", "scan_caching": 7}}),
        ("hbase", {"access": {"client_buffering_bytes": 1 << 20}}),
        ("hbase", {"master_limits": {"cpu": 1.0}}),
    ],
)
def test_what_does_not_makes_none(kind: str, settings: dict[str, Any]) -> None:
    assert key_of(kind, **settings) == key_of(kind)


def test_only_the_level_at_which_records_are_loaded_counts() -> None:
    loaded = {"load_consistency": "ALL"}
    assert key_of("cassandra", access={**loaded, "write_consistency": "QUORUM"}) == key_of(
        "cassandra", access=loaded
    )


def test_records_and_seed_count_and_operations_do_not() -> None:
    base = key_of("cassandra")
    assert key_of("cassandra", seed=2) != base
    assert key_of("cassandra", workload={"records": 7}) != base
    assert key_of("cassandra", workload={"table": "t"}) != base
    fields = CORE["a"].fields.model_copy(update={"count": 3})
    assert key_of("cassandra", workload={"fields": fields}) != base
    assert key_of("cassandra", workload={"mix": CORE["b"].mix, "name": "b", "verify": "full"}) == base


def planned(tmp_path: Path, *overrides: str) -> list[Trial]:
    path = tmp_path / "s.toml"
    path.write_text(TEXT)
    return trials(read_study(path, overrides))


def test_each_trial_has_its_own_start_on_a_shared_load(tmp_path: Path) -> None:
    found = planned(tmp_path)
    assert [t.group for t in found] == [t.number for t in found]
    assert len({t.data for t in found}) == 2
    for trial in found:
        assert {t.system_name for t in found if t.data == trial.data} == {trial.system_name}
    assert len({t.seed for t in found}) == 1
    assert {t.first_operation for t in found} == {0, STRIDE, 2 * STRIDE}


def test_systems_and_points_are_mixed_as_with_a_fresh_cluster(tmp_path: Path) -> None:
    kept, fresh = (planned(tmp_path, f"reset={reset}") for reset in ("restore", "fresh"))
    assert [(t.point, t.repetition) for t in kept] == [(t.point, t.repetition) for t in fresh]


def test_what_inserts_begins_where_the_records_end(tmp_path: Path) -> None:
    found = planned(tmp_path, "factors.workload=['c', 'd']")
    assert {t.first_operation for t in found if t.workload.name == "d"} == {0}
    assert {t.first_operation for t in found if t.workload.name == "c"} == {0, STRIDE, 2 * STRIDE}
    assert len({t.data for t in found}) == 2


def test_other_records_are_another_load(tmp_path: Path) -> None:
    assert len({t.data for t in planned(tmp_path, "factors.records=[10, 20]")}) == 4


def test_loads_are_counted_once_and_all_are_kept(tmp_path: Path) -> None:
    big = "workload.records=1000000"
    kept, fresh = (planned(tmp_path, big, f"reset={reset}") for reset in ("restore", "fresh"))
    assert sum(each(kept).values()) < sum(each(fresh).values()) / 2
    assert estimate(kept).disk_bytes > estimate(fresh).disk_bytes


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("systems.two={kind='embedded'}", "this system is of kind 'embedded'"),
        ("systems.two.standalone=true", "a standalone HBase has none"),
        ("systems.one.watch=false", "through the metrics agent"),
        ("load.phases=['run']", "needs a load and a run"),
        ("load.first_record=5", "keeps whole data sets"),
    ],
)
def test_what_cannot_be_restored(tmp_path: Path, override: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        planned(tmp_path, override)
