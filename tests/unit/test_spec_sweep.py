"""Studies that sweep: what factors, variants and overlays make of a file; mistakes."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from steelyard.errors import InputError
from steelyard.results.store import factor_levels, study_toml
from steelyard.spec.factors import short_names
from steelyard.spec.models import Study
from steelyard.spec.read import both_forms, read_study
from steelyard.spec.schema import study_schema
from steelyard.spec.shipped import find_studies, find_study, shipped
from steelyard.spec.system import CassandraSystem, EmbeddedSystem
from steelyard.spec.trials import trials

SWEEP = """
question = "Which?"

[systems.big]
kind = "cassandra"
nodes = 3

[systems.small]
kind = "embedded"

[workload]
base = "a"
records = 1000

[load]
operations = 500

[factors]
clients = [1, 4]
load.target = [100, "max"]
consistency = { levels = ["ONE", "QUORUM"], only = "big" }

[factors.size]
zip = { records = [10, 20], field-length = [5, 6] }

[variants.plain]

[variants.tuned.load]
timeout_ms = 2000

[variants.tuned.systems.big]
commitlog_sync = "batch"

[small.factors]
clients = [2]

[small.systems.big]
nodes = 1
"""


def read(folder: Path, text: str, *overrides: str, small: bool = False) -> Study:
    path = folder / "s.toml"
    path.write_text(text)
    return read_study(path, overrides, small=small)


def fault(folder: Path, text: str, *overrides: str) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, text, *overrides)
    return caught.value.message.replace(f"{folder}/", "")


def test_every_combination_is_a_point(tmp_path: Path) -> None:
    study = read(tmp_path, SWEEP)
    big = [p for p in study.points if p.system_name == "big"]
    assert (len(big), len(study.points)) == (2 * 2 * 2 * 2 * 2, 32 + 16)
    assert study.repetitions == 6
    assert [p.number for p in study.points] == list(range(1, 49))
    first, last = study.points[0], study.points[-1]
    assert first.label == "big plain clients=1 load.target=100 consistency=ONE records=10 field-length=5"
    assert last.label == "small tuned clients=4 load.target=max records=20 field-length=6"
    assert (first.load.clients, first.load.target, first.load.cap, first.workload.records) == (1, 100, 1, 10)
    assert first.workload.fields.length.length == 5  # type: ignore[union-attr]
    assert (last.load.target, last.load.timeout_ms) == (None, 2000)


def test_what_belongs_to_one_system_stays_with_it(tmp_path: Path) -> None:
    study = read(tmp_path, SWEEP)
    for point in study.points:
        if isinstance(point.system, CassandraSystem):
            level = point.levels["consistency"]
            assert (point.system.access.read_consistency, point.system.access.write_consistency) == (
                level,
                level,
            )
            assert point.system.commitlog_sync == ("batch" if point.variant == "tuned" else "periodic")
            assert point.system.nodes == 3
        else:
            assert point.system == EmbeddedSystem()
            assert "consistency" not in point.levels


def test_written_and_read_again_it_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("recordcount=77\n")
    text = 'workload = "mine"\nsystem = { kind = "null" }\n[factors]\nworkload = ["a", "mine"]\n'
    (tmp_path / "elsewhere").mkdir()
    for asked in (SWEEP, text):
        study = read(tmp_path, asked)
        assert read(tmp_path / "elsewhere", study_toml(study)) == study
    assert [(p.workload.records, p.label) for p in study.points] == [
        (100_000, "workload=a"), (77, "workload=mine"),
    ]  # fmt: skip


def test_factor_levels_are_told_in_the_order_of_the_file(tmp_path: Path) -> None:
    assert factor_levels(read(tmp_path, SWEEP)) == {
        "clients": [1, 4], "load.target": [100, "max"], "consistency": ["ONE", "QUORUM"],
        "records": [10, 20], "field-length": [5, 6],
    }  # fmt: skip


def test_the_small_form(tmp_path: Path) -> None:
    study = read(tmp_path, SWEEP, small=True)
    assert (study.name, len(study.points)) == ("s-small", 24)
    assert {p.load.clients for p in study.points} == {2}
    assert {p.system.nodes for p in study.points if isinstance(p.system, CassandraSystem)} == {1}
    full, small = both_forms(tmp_path / "s.toml")
    assert small == study
    assert full == read(tmp_path, SWEEP)


def test_a_form_may_leave_a_variant_out(tmp_path: Path) -> None:
    text = SWEEP + "[small.variants.tuned]\nrun = false\n"
    assert {p.variant for p in read(tmp_path, text, small=True).points} == {"plain"}
    assert {p.variant for p in read(tmp_path, text).points} == {"plain", "tuned"}
    none = fault(tmp_path, SWEEP, "variants.plain.run=false", "variants.tuned.run=false")
    assert none == "variants: none of them is run"
    near = "no variant 'tund' (did you mean 'tuned'?); there are: plain, tuned"
    assert fault(tmp_path, SWEEP, "variants.tund.run=false") == f"--set variants.tund.run: {near}"
    assert (
        fault(tmp_path, text.replace("small.variants.tuned", "small.variants.tund")) == f"s.toml:39: {near}"
    )


@pytest.mark.parametrize("fewer", ["variants.tuned.run=false", "factors.clients=[4]"])
def test_who_asks_for_fewer_levels_keeps_the_claims(tmp_path: Path, fewer: str) -> None:
    claim = """
[[claims]]
id = "quicker"
statement = "Tuned with one client is quicker."
metric = "ok_per_s"
[claims.check]
kind = "ratio"
direction = "above"
numerator = { where = { variant = "tuned", clients = 1 } }
denominator = { where = { variant = "plain", clients = 1 } }
"""
    text = SWEEP[: SWEEP.index("[small.factors]")] + claim
    study = read(tmp_path, text, fewer)
    assert len(study.claims) == 1
    assert read(tmp_path, study_toml(study)) == study, "or it could not be resumed"
    wrong = text.replace("clients = 1 }", "clients = 3 }")
    assert "no level '3'" in fault(tmp_path, wrong)
    assert "no level '3'" in fault(tmp_path, wrong, fewer)


def test_a_mistake_in_a_setting_is_told_without_what_follows_from_it(tmp_path: Path) -> None:
    claim = """
[[claims]]
id = "up"
statement = "It rises with clients."
metric = "ok_per_s"
check = { kind = "trend", factor = "clients", direction = "up" }
"""
    text = SWEEP[: SWEEP.index("[small.factors]")] + claim
    assert fault(tmp_path, text, "load.duration=3").splitlines() == [
        "--set load.duration: unknown key 'duration' in load (did you mean 'duration_s'?)"
    ]


def test_the_form_not_asked_for_is_checked_too(tmp_path: Path) -> None:
    text = SWEEP + "[small.load]\nclints = 3\n"
    assert fault(tmp_path, text).startswith(
        "s.toml:40: unknown key 'clints' in load (did you mean 'clients'?)"
    )


def test_no_small_form(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the study has no \[small\] overlay"):
        read(tmp_path, 'workload = "a"\nsystem = { kind = "null" }\n', small=True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("clients = [1, 4]", "clints = [1]", "s.toml:19: unknown factor 'clints' (did you mean 'clients'?)"),
        ("clients = [1, 4]", "clients = [1, 0]", "s.toml:19: load.clients = 0 should be greater than 0"),
        ("clients = [1, 4]", "clients = []", "s.toml:19: factors.clients: expected levels"),
        ("clients = [1, 4]", "clients = [1, 1]", "s.toml:19: factors.clients: level 1 stands there twice"),
        ("clients = [1, 4]", "clients = 4", "s.toml:19: factors.clients = 4 should be"),
        ("load.target", "load.targt",
         "s.toml:20: unknown key 'targt' in load (did you mean 'target'?)"),
        ('only = "big"', 'only = "bigg"',
         "s.toml:21: factors.consistency: no system 'bigg' (did you mean 'big'?); known: big, small"),
        (', only = "big"', "",
         "s.toml:21: factor 'consistency' does not apply to system of kind 'embedded'; it goes with"),
        ("field-length = [5, 6]", "field-length = [5]",
         "s.toml:23: factors.size: zipped settings need equally many levels: records has 2"),
        ("[variants.tuned.systems.big]", "[variants.tuned.systems.bgi]",
         "s.toml:28: variants.tuned: no system 'bgi' (did you mean 'big'?)"),
        ("commitlog_sync", "comitlog_sync",
         "s.toml:32: unknown key 'comitlog_sync' in system of kind 'cassandra' (did you"),
        ("[systems.small]", "[system]", "s.toml:8: [system] and [systems.NAME] exclude each other"),
        ('question = "Which?"', 'order = "randm"', "s.toml:2: order = 'randm' should be 'random'"),
        ('question = "Which?"', 'reset = "restored"', "s.toml:2: reset = 'restored' should be 'fresh'"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in SWEEP
    text = SWEEP[: SWEEP.index("[small.factors]")].replace(old, new, 1)
    assert fault(tmp_path, text).splitlines()[0].startswith(message)


@pytest.mark.parametrize("table", ["factors", "variants", "systems", "load", "workload", "small"])
def test_what_should_be_a_table_and_is_none(tmp_path: Path, table: str) -> None:
    text = f"{table} = 3\n" + ("" if table == "systems" else 'system = { kind = "null" }\n')
    text += "" if table == "workload" else 'workload = "a"\n'
    assert table in fault(tmp_path, text) or table == "systems"


def test_one_mistake_is_told_once(tmp_path: Path) -> None:
    """Though all 48 points share it."""
    assert len(fault(tmp_path, SWEEP.replace("operations = 500", "operations = 0")).splitlines()) == 1


def test_overrides(tmp_path: Path) -> None:
    assert len(read(tmp_path, SWEEP, "factors.clients=[7]").points) == 24
    assert fault(tmp_path, SWEEP, "load.clients=3") == "--set load.clients: a factor of this study varies it"
    bare = SWEEP.replace('[systems.small]\nkind = "embedded"', '[systems.small]\nkind = "cassandra"')
    study = read(tmp_path, bare, "system.nodes=2", "workload=c")
    assert {p.system.size for p in study.points if isinstance(p.system, CassandraSystem)} == {2}
    assert {p.workload.name for p in study.points} == {"c"}


def test_every_short_name_sets_something(tmp_path: Path) -> None:
    levels = {
        "duration": '"2s"', "target": "5", "workload": '"c"', "data-size": '"1m"',
        "distribution": '"uniform"',
        "theta": "0.5", "version": "4.1", "cpu": "0.5", "memory": '"1g"', "consistency": '"TWO"',
        "read-consistency": '"TWO"', "write-consistency": '"TWO"', "load-consistency": '"TWO"',
        "partitioner": '"RandomPartitioner"', "commitlog-sync": '"group"', "durability": "false",
        "heap": '"512m"', "in-flight": "9",
        "token-aware": "false", "timeline": '"x"',
    }  # fmt: skip
    plain = (
        'workload = "a"\nload = { target = 3, operations = 9 }\nsystem = { kind = "cassandra", nodes = 3 }\n'
    )
    timeline = '[[timelines.x]]\nid = "a"\nat = 1\ndo = "run"\ncommand = ["true"]\n'
    before = read(tmp_path, plain).cells[0]
    for name in short_names():
        text = f"{plain}[factors]\n{name} = [{levels.get(name, 2)}]\n{timeline}"
        [point] = read(tmp_path, text).points
        changed = [
            part for part in ("system", "workload", "load") if getattr(point, part) != getattr(before, part)
        ]
        assert len(changed) == 1, name


def test_a_version_may_look_like_a_number(tmp_path: Path) -> None:
    text = 'workload = "a"\nsystem = { kind = "cassandra" }\n[factors]\nversion = [3.11, "5.0"]\n'
    systems = [point.system for point in read(tmp_path, text).points]
    assert [s.version for s in systems if isinstance(s, CassandraSystem)] == ["3.11", "5.0"]


def test_data_size_is_made_of_records(tmp_path: Path) -> None:
    text = 'workload = "a"\nsystem = { kind = "null" }\n[factors]\n'
    sizes = read(tmp_path, text + 'data-size = ["1m", "10m"]').points
    assert [p.workload.records for p in sizes] == [1049, 10486]
    [small] = read(tmp_path, text + 'data-size = ["500k"]').points
    assert small.workload.records == 512
    wide = read(tmp_path, text + 'data-size = ["1m"]\nfield-length = [1000]').points
    assert [p.workload.records for p in wide] == [105]
    assert fault(tmp_path, text + 'data-size = ["lots"]').startswith("s.toml:4: 'lots' is no size")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('system = { kind = "hosts", hosts = ["a"] }\nrepetitions = 2', "reset = 'fresh' makes a new"),
        ('system = { kind = "embedded", path = "p" }\nrepetitions = 2', "reset = 'fresh' makes a new"),
        ('system = { kind = "null" }\nreset = "none"\n[factors]\nworkload = ["a", "d"]',
         "reset = 'none' keeps the data, but workload 'd' inserts or deletes: the next "
         "trial would find other records than it expects (workload=d)"),
        ('system = { kind = "null" }\nstarts = 2', "starts = 2, but reset = 'fresh' starts a"),
        ('system = { kind = "null" }\nreset = "truncate"\nrepetitions = 5\nstarts = 2',
         "5 repetitions cannot be"),
        ('system = { kind = "hosts", hosts = ["a"] }\nreset = "truncate"\nrepetitions = 2\nstarts = 2',
         "starts = 2, but this cluster is given"),
        ('system = { kind = "null" }\ncache = "warm"', "cache = 'warm' needs a warm-up"),
        ('system = { kind = "null" }\ncache = "cold"\nload = { warmup_s = 1 }', "cache = 'cold' and load"),
        ('system = { kind = "hosts", hosts = ["a"] }\ncache = "cold"', "cache = 'cold': the caches of given"),
        ('system = { kind = "null" }\ncache = "rewarmed"', "cache = 'rewarmed' needs a warm-up"),
    ],
)  # fmt: skip
def test_what_cannot_be_done(tmp_path: Path, text: str, message: str) -> None:
    assert fault(tmp_path, f'workload = "a"\n{text}\n').startswith(message)


STARTS = """
workload = "a"
repetitions = 6
reset = "truncate"
system = { kind = "cassandra" }
[factors]
partitioner = ["Murmur3Partitioner", "RandomPartitioner"]
clients = [1, 2]
"""


@pytest.mark.parametrize("starts", [1, 2, 3, 6])
def test_repetitions_are_dealt_over_the_starts_of_a_cluster(tmp_path: Path, starts: int) -> None:
    found = trials(read(tmp_path, f"starts = {starts}\n{STARTS}"))
    assert sorted((t.point, t.repetition) for t in found) == [
        (p, r) for p in range(1, 5) for r in range(1, 7)
    ]
    groups = [list(group) for _, group in itertools.groupby(found, key=lambda t: t.group)]
    assert len(groups) == 2 * starts
    for group in groups:
        assert len({t.levels["partitioner"] for t in group}) == 1
        assert len({(t.repetition - 1) * starts // 6 for t in group}) == 1
        assert len(group) == 12 // starts
    if starts == 6:  # by chance alone one of the two would be first each time in 1 of 32 seeds
        assert len({group[0].levels["partitioner"] for group in groups[::2]}) == 2


def test_given_hosts_may_be_measured_several_times(tmp_path: Path) -> None:
    text = 'workload = "a"\nrepetitions = 2\nreset = "truncate"\nsystem = { kind = "hosts", hosts = ["a"] }\n'
    assert read(tmp_path, text).repetitions == 2


def test_shipped_studies_are_whole() -> None:
    assert {"noise-floor", "compare-cassandra-hbase", "seis630/workloads"} <= shipped().keys()
    for name in shipped():
        full, small = both_forms(find_study(name))
        assert full.question
        assert full.points
        assert small is not None


def test_a_study_by_name_or_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"no study 'noise-flor' \(did you mean 'noise-floor'\?\)"):
        find_study("noise-flor")
    with pytest.raises(InputError, match=r"several studies are called 'threads': kuhl.*, sheth-2023/threads"):
        find_study("threads")
    with pytest.raises(InputError, match="'seis630' is a folder of studies: seis630/partitioners, "):
        find_study("seis630")
    assert find_study("racks") == find_study("seis630/racks")
    assert list(find_studies("racks")) == ["seis630/racks"]
    assert len(find_studies("versions")) == 4
    assert find_study("here.toml") == Path("here.toml")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "racks").mkdir()
    (tmp_path / "mine").mkdir()
    assert find_study("racks") == shipped()["seis630/racks"], "a folder is no study"
    assert find_study("mine") == Path("mine")
    assert find_study(str(tmp_path)) == tmp_path


def test_seis630_keeps_each_workloads_own_distribution() -> None:
    full, _ = both_forms(find_study("seis630/workloads"))
    kinds = {p.levels["workload"]: (p.workload.request.kind, p.workload.request.compat) for p in full.points}
    assert kinds["d"] == ("latest", "ycsb")
    assert kinds["a"] == ("zipfian", "ycsb")


def test_the_schema_knows_every_table() -> None:
    schema = json.loads(json.dumps(study_schema()))
    assert {"system", "systems", "factors", "variants", "small", "reset"} <= schema["properties"].keys()
    assert "nodes" in schema["$defs"]["CassandraSystem"]["properties"]
    assert schema["additionalProperties"] is False
    assert "small" not in schema["$defs"]["Small"]["properties"]
    assert schema["required"] == []
