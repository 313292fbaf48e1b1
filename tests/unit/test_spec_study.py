"""Study files: what they mean, and every mistake named with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import InputError
from steelyard.results.store import study_toml
from steelyard.spec.models import Study
from steelyard.spec.read import read_study
from steelyard.spec.system import CassandraSystem
from steelyard.spec.trials import data_bytes, trial_seed, trials

GOOD = """
question = "How fast?"
seed = 7
repetitions = 3

[system]
kind = "cassandra"
nodes = 3
limits = { cpu = 1.5 }

[system.access.replication]
factor = 3

[workload]
base = "b"
records = 1000

[load]
target = 5000
duration_s = 60
"""


def read(folder: Path, text: str, *overrides: str) -> Study:
    path = folder / "study.toml"
    path.write_text(text)
    return read_study(path, overrides)


def fault(folder: Path, text: str, *overrides: str) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, text, *overrides)
    assert caught.value.exit_code == 2
    return caught.value.message.replace(f"{folder}/", "")


def test_a_study(tmp_path: Path) -> None:
    study = read(tmp_path, GOOD)
    assert study.name == "study"
    assert study.workload.mix.read == 0.95
    assert study.workload.records == 1000
    assert isinstance(study.system, CassandraSystem)
    assert study.system.limits.cpu == 1.5
    assert (study.load.cap, study.load.operations, study.load.duration_s) == (1024, None, 60)


def test_written_and_read_again_it_is_the_same(tmp_path: Path) -> None:
    study = read(tmp_path, GOOD)
    assert read(tmp_path, study_toml(study)) == study


def test_a_workload_may_be_one_word(tmp_path: Path) -> None:
    assert read(tmp_path, 'workload = "d"\n[system]\nkind = "null"\n').workload.request.kind == "latest"


def test_files_of_a_study_are_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("recordcount=77\n")
    text = 'workload = "mine"\n[system]\nkind = "embedded"\npath = "store"\n'
    study = read(tmp_path, text)
    assert study.workload.records == 77
    assert study.system.path == tmp_path / "store"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("nodes = 3", "nodse = 3",
         "study.toml:8: unknown key 'nodse' in system of kind 'cassandra' (did you mean 'nodes'?)"),
        ("[load]", "[laod]", "study.toml:18: unknown key 'laod' in a study (did you mean 'load'?)"),
        ("records = 1000", 'records = "1000"',
         "study.toml:16: workload.records = '1000' should be a valid integer"),
        ("records = 1000", "records = 0",
         "study.toml:16: workload.records = 0 should be greater than or equal to 1"),
        ("records = 1000", "records = true",
         "study.toml:16: workload.records = True should be a valid integer"),
        ("cpu = 1.5", "cpu = -1", "study.toml:9: system.limits.cpu = -1 should be greater than 0"),
        ("duration_s = 60", "duration_s = -60",
         "study.toml:20: load.duration_s = -60 should be greater than 0"),
        ("duration_s = 60", "duration_s = inf",
         "study.toml:20: load.duration_s = inf should be a finite number"),
        ("factor = 3", "factor = 0",
         "study.toml:12: system.access.replication.factor = 0 should be greater than 0"),
        ('"cassandra"', '"casandra"',
         "study.toml:6: system 'casandra' is unknown (did you mean 'cassandra'?); known: null, embedded"),
        ("target = 5000", "in_flight = 9",
         "study.toml:18: load: in_flight needs a target; in a closed loop the number is `clients`"),
        ('base = "b"', 'base = "bb"', "study.toml:15: no workload 'bb' (did you mean 'b'?)"),
        ("seed = 7", "seed = 7\nseed = 8", "study.toml: Cannot overwrite a value (at line 4, column 9)"),
        ("seed = 7", "seed = ", "study.toml: Invalid value (at line 3, column 8)"),
        ("seed = 7", "seed = -7", "study.toml:3: seed = -7 should be greater than or equal to 0"),
        ("repetitions = 3", "repetitions = 0",
         "study.toml:4: repetitions = 0 should be greater than or equal to 1"),
        ('base = "b"', "mix = { read = 0 }",
         "study.toml:15: workload.mix: the proportions sum to 0"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    assert fault(tmp_path, GOOD.replace(old, new, 1)).startswith(message)


def test_every_mistake_is_named_at_once(tmp_path: Path) -> None:
    text = GOOD.replace("nodes = 3", "nodes = 0").replace("seed = 7", "sede = 7")
    assert len(fault(tmp_path, text).splitlines()) == 2


def test_a_missing_table(tmp_path: Path) -> None:
    assert fault(tmp_path, 'workload = "a"\n') == "system is missing"


def test_datacenters_in_an_array_of_tables(tmp_path: Path) -> None:
    base = 'workload = "a"\n[system]\nkind = "cassandra"\n'
    good = (
        base
        + '[[system.datacenters]]\nname = "a"\nnodes = 1\n[[system.datacenters]]\nname = "b"\nnodes = 2\n'
    )
    system = read(tmp_path, good).system
    assert isinstance(system, CassandraSystem)
    assert system.size == 3
    bad = fault(tmp_path, good.replace("nodes = 2", "nods = 2"))
    assert bad.splitlines()[-1].startswith("study.toml:9: unknown key 'nods' in system.datacenters.1")


def test_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_study(tmp_path / "nothing.toml")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_study(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(InputError, match="not UTF-8 text"):
        read_study(tmp_path / "bytes.toml")


def test_overrides(tmp_path: Path) -> None:
    study = read(
        tmp_path, GOOD, "workload.records=50000", "system.settings.concurrent_reads=16", "workload.base=a"
    )
    assert study.workload.records == 50000
    assert study.workload.mix.update == 0.5
    assert isinstance(study.system, CassandraSystem)
    assert study.system.settings == {"concurrent_reads": 16}


def test_an_override_is_text_where_text_is_wanted(tmp_path: Path) -> None:
    study = read(tmp_path, GOOD, "system.version=4.1", "system.partitioner=RandomPartitioner")
    assert isinstance(study.system, CassandraSystem)
    assert (study.system.version, study.system.partitioner) == ("4.1", "RandomPartitioner")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "workload.recrods=1",
            "--set workload.recrods: unknown key 'recrods' in workload (did you mean 'records'?)",
        ),
        ("sytem.nodes=1", "--set sytem.nodes: unknown key 'sytem' in a study (did you mean 'system'?)"),
        ("workload.records=0", "--set workload.records 0 should be greater than or equal to 1"),
        (
            "workload.records",
            "--set workload.records: expected path=value, e.g. --set workload.records=50000",
        ),
        ("seed.deep=1", "--set seed.deep: seed is no table"),
    ],
)
def test_mistakes_in_overrides(tmp_path: Path, override: str, message: str) -> None:
    assert fault(tmp_path, GOOD, override) == message


def test_trials_are_fixed_by_the_seed(tmp_path: Path) -> None:
    study = read(tmp_path, GOOD)
    planned = trials(study)
    assert [t.number for t in planned] == [1, 2, 3]
    assert planned == trials(study)
    assert len({t.seed for t in planned}) == 3
    assert all(0 <= t.seed < 2**63 for t in planned)
    assert trial_seed(7, 1) != trial_seed(8, 1)
    assert data_bytes(planned[0]) == 1000 * (23 + 1000) * 3
