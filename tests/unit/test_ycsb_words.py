"""YCSB's command line and the study it asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import InputError
from steelyard.spec.models import Study
from steelyard.spec.plan import engine_plan, phases
from steelyard.spec.properties import Properties
from steelyard.spec.trials import trials
from steelyard.ycsb.arguments import parse
from steelyard.ycsb.bindings import bindings
from steelyard.ycsb.choices import choose
from steelyard.ycsb.known_properties import remarks
from steelyard.ycsb.translate import Task, make_task

SHIPPED = Path(__file__).parents[2] / "workloads"
A = ("-P", str(SHIPPED / "workloada"))


def task(folder: Path, *given: str) -> Task:
    words = parse(given)
    return make_task(words, Properties(words.properties), folder)


def study(folder: Path, *given: str) -> Study:
    return task(folder, *given).study


def plan(of: Study) -> dict[str, Any]:
    [trial] = trials(of)
    return engine_plan(trial, {"kind": "null"}, Path("out"))


def test_every_option() -> None:
    words = parse(
        "run cassandra-cql -threads 4 -p a=1=2 -P X -target 9 -s -l me -cp c:d -jvm-args=-Xmx1g -db D"
        " --as-ycsb --no-result".replace("-P X", " ".join(A)).split()
    )
    said = {name: p.value for name, p in words.properties.items()}
    assert (said["threadcount"], said["target"], said["status"], said["label"]) == ("4", "9", "true", "me")
    assert (said["a"], said["db"], said["recordcount"]) == ("1=2", "D", "1000")
    assert words.class_path == [Path("c"), Path("d")]
    assert words.ignored == ["-jvm-args -Xmx1g: there is no JVM"]
    assert (words.as_ycsb, words.keep) == (True, False)
    assert words.properties["recordcount"].origin == f"{A[1]}:3"


def test_p_beats_every_file_and_a_later_file_an_earlier_one(tmp_path: Path) -> None:
    later = tmp_path / "later"
    later.write_text("recordcount=7\nfieldcount=3\n")
    words = parse(["load", "basic", "-p", "fieldcount=5", *A, "-P", str(later)])
    assert (words.properties["recordcount"].value, words.properties["fieldcount"].value) == ("7", "5")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "expected load or run and a database: neither was said"),
        ("rn basic", "'rn' is neither (did you mean 'run'?)"),
        ("run basic -thread 4", "unknown option '-thread' (did you mean '-threads'?)"),
        ("run basic -threads", "-threads needs a word after it"),
        ("run basic -p five", "-p five: expected name=value"),
        ("run basic -P nowhere", "nowhere: cannot be read"),
        ("run basic workloada", "unknown option 'workloada'"),
    ],
)
def test_mistakes_in_the_words(given: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(given.split())
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("run bsic", "no database 'bsic' (did you mean 'basic'?)"),
        ("run cassandra-cql", "property hosts is missing"),
        ("run scylla -p hosts=a", "property scylla.hosts is missing"),
        ("run hbase2", "property columnfamily is missing"),
        ("run hbase2 -p columnfamily=f -p principal=x", "Kerberos"),
        ("run basic -p threadcount=x", "-p: threadcount = 'x' is not a whole number"),
        ("run basic -p operationcount=0", "neither operationcount nor maxexecutiontime"),
        ("run basic -p workload=site.ycsb.workloads.TimeSeriesWorkload", "only site.ycsb.workloads.CoreWork"),
        ("load basic -p recordcount=0", "there is nothing to load"),
        ("load basic -p insertstart=900 -p insertcount=200", "recordcount must be at least"),
        ("run basic -p dataintegrity=true -p fieldlengthdistribution=uniform", "fields of constant length"),
        ("run cassandra-cql -p hosts=a -p cassandra.useSSL=true", "cassandra.useSSL needs the authority"),
        ("run cassandra-cql -p hosts=a -p cassandra.readconsistencylevel=QUORM", "did you mean 'QUORUM'?"),
        ("run basic -p steelyard.load.engins=2", "-p: unknown key 'engins' in load (did you mean 'engines'"),
    ],
)  # fmt: skip
def test_mistakes_in_properties(tmp_path: Path, given: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        task(tmp_path, *given.split()[:2], *A, *given.split()[2:])
    assert message in caught.value.message


def test_the_workload_is_required(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Missing property: workload"):
        task(tmp_path, "run", "basic", "-p", "recordcount=5")


def test_a_run_finds_its_records_there(tmp_path: Path) -> None:
    found = study(tmp_path, "run", "basic", *A)
    assert (found.load.phases, found.load.clients, found.load.target) == (("run",), 1, None)
    assert (found.workload.values, found.workload.verify) == ("ycsb", "off")
    [phase] = phases(found.load)
    assert (phase["name"], phase["limit"]) == ("run", {"operations": 1000, "seconds": None})


def test_a_load_is_paced_as_a_run_is(tmp_path: Path) -> None:
    found = study(tmp_path, "load", "basic", *A, "-threads", "4", "-target", "50")
    assert phases(found.load) == [
        {"name": "load", "kind": "load", "in_flight": 4, "arrivals": {"kind": "constant", "rate": 50.0},
         "limit": {"seconds": None}}
    ]  # fmt: skip


def test_a_load_from_the_middle(tmp_path: Path) -> None:
    found = study(tmp_path, "load", "basic", *A, "-p", "insertstart=200", "-p", "insertcount=300")
    assert (found.workload.records, phases(found.load)[0]["first"]) == (500, 200)
    whole = study(tmp_path, "load", "basic", *A, "-p", "insertcount=300")
    assert (whole.workload.records, "first" in phases(whole.load)[0]) == (300, False)


def test_clients_of_one_run_share_its_numbers(tmp_path: Path) -> None:
    words = (
        "run",
        "basic",
        *A,
        "-threads",
        "4",
        "-target",
        "50",
        "-p",
        "insertstart=750",
        "-p",
        "insertcount=250",
    )
    shared = task(tmp_path, *words)
    found = plan(shared.study)
    assert found["engine"] == {"index": 3, "count": 4}
    assert found["workload"]["insert_lag"] == 16
    [phase] = found["phases"]
    assert (phase["in_flight"], phase["arrivals"]["rate"], phase["limit"]["operations"]) == (16, 200, 4000)
    assert {"share", "wait", "seed", "exit"} <= set(shared.differences)
    alone = task(tmp_path, *words, "--as-ycsb")
    assert plan(alone.study)["engine"] == {"index": 0, "count": 1}
    assert alone.differences == []


def test_as_ycsb(tmp_path: Path) -> None:
    ours, theirs = (study(tmp_path, "run", "basic", *A, *more) for more in ((), ("--as-ycsb",)))
    assert (ours.load.retry, theirs.load.retry) == ("until-deadline", "none")
    assert ours.seed == 42 != theirs.seed
    p = Properties({})
    assert (choose(p, as_ycsb=False).interval, choose(p, as_ycsb=True).interval) == ("intended", "op")
    again = study(tmp_path, "load", "basic", *A, "--as-ycsb", "-p", "core_workload_insertion_retry_limit=3")
    assert again.load.retry == "until-deadline"


def test_more_threads_than_operations(tmp_path: Path) -> None:
    clipped = task(tmp_path, "run", "basic", *A, "-threads", "2000")
    assert (clipped.clipped, clipped.study.load.clients) == (True, 1000)


def test_no_recordcount_is_every_key(tmp_path: Path) -> None:
    found = task(tmp_path, "run", "basic", *A, "-p", "recordcount=0")
    assert found.study.workload.records == 2**31 - 1
    assert "2,147,483,647 records" in found.remarks[0]


def test_settings_of_ours(tmp_path: Path) -> None:
    found = study(tmp_path, "run", "basic", *A, "-threads", "2", "-p", "steelyard.load.engines=2",
                  "-p", "steelyard.seed=7")  # fmt: skip
    assert (found.load.engines, found.seed) == (2, 7)


def test_cassandra(tmp_path: Path) -> None:
    words = "-p hosts=h1,h2 -p port=9 -p cassandra.keyspace=k -p cassandra.username=u -p cassandra.password=p"
    words += " -p cassandra.writeconsistencylevel=ONE -p cassandra.maxconnections=3"
    words += " -p cassandra.readtimeoutmillis=12000"
    found = study(tmp_path, "run", "cassandra-cql", *A, *words.split())
    system: Any = found.system
    assert (system.kind, system.hosts, system.port, system.user) == ("hosts", ("h1", "h2"), 9, "u")
    access = system.access
    assert (access.keyspace, access.read_consistency, access.write_consistency) == ("k", "QUORUM", "ONE")
    assert access.connections == 3
    assert system.password_file.read_text() == "p\n"
    assert system.password_file.stat().st_mode & 0o77 == 0
    assert (found.load.attempt_timeout_ms, found.load.timeout_ms) == (12_000, 12_000)


def test_scylla_in_one_datacenter(tmp_path: Path) -> None:
    system: Any = study(
        tmp_path, "run", "scylla", *A, "-p", "scylla.hosts=h", "-p", "scylla.local_dc=dc1"
    ).system
    assert (system.access.read_consistency, system.access.local_datacenter) == ("LOCAL_QUORUM", "dc1")


SITE = """<configuration><property><name>hbase.zookeeper.quorum</name><value>z1,z2</value></property>
<property><name>hbase.zookeeper.property.clientPort</name><value>22181</value></property></configuration>"""


@pytest.mark.parametrize("database", ["hbase2", "hbase1", "hbase14"])
def test_hbase(tmp_path: Path, database: str) -> None:
    (tmp_path / "hbase-site.xml").write_text(SITE)
    words = (
        "-cp",
        str(tmp_path),
        "-p",
        "columnfamily=f",
        "-p",
        "clientbuffering=true",
        "-p",
        "durability=SKIP_WAL",
    )
    system: Any = study(tmp_path, "run", database, *A, *words).system
    assert (system.kind, system.zookeeper) == ("hbase-hosts", ("z1:22181", "z2:22181"))
    access = system.access
    assert (access.table, access.family, access.durability) == ("usertable", "f", "SKIP_WAL")
    assert access.client_buffering_bytes == 12_582_912


def test_every_binding_has_its_name() -> None:
    assert {"cassandra-cql", "cassandra2-cql", "scylla", "hbase2", "hbase1", "hbase14", "basic"} == set(
        bindings()
    )


def test_unknown_properties_are_named_with_the_nearest() -> None:
    words = parse(["run", "basic", "-p", "recordcont=5", "-p", "spin.sleep=true", "-p", "steelyard.seed=1"])
    said = list(remarks(Properties(words.properties)))
    assert said[0] == "-p: unknown property 'recordcont' is ignored (did you mean 'recordcount'?)"
    assert said[1].startswith("-p: spin.sleep changes nothing: ")
    assert len(said) == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("measurementtype=raw", "no latency is kept alone"),
        ("measurement.interval=opp", "measurement.interval = 'opp' is unknown (did you mean 'op'?)"),
        ("hdrhistogram.percentiles=50,101", "hdrhistogram.percentiles: '101' is none"),
        ("exporter=site.ycsb.measurements.exporter.Text", "(did you mean 'site.ycsb.measurements."),
        ("timeseries.granularity=500", "expected whole seconds"),
        ("status=maybe", "status = 'maybe' is not true or false"),
    ],
)  # fmt: skip
def test_mistakes_in_what_is_to_be_shown(given: str, message: str) -> None:
    words = parse(["run", "basic", "-p", given])
    with pytest.raises(InputError) as caught:
        choose(Properties(words.properties), as_ycsb=False)
    assert message in caught.value.message


@pytest.mark.parametrize("name", ["r", "w", "rs", "rw", "rsw", "g"])
def test_the_papers_workloads(tmp_path: Path, name: str) -> None:
    mixes = {"r": (0.95, 0, 0.05, 0), "w": (0.01, 0, 0.99, 0), "rs": (0.47, 0, 0.06, 0.47),
             "rw": (0.5, 0, 0.5, 0), "rsw": (0.25, 0, 0.5, 0.25), "g": (0, 1, 0, 0)}  # fmt: skip
    found = study(tmp_path, "run", "basic", "-P", str(SHIPPED / f"workload{name}")).workload
    mix = found.mix
    assert (mix.read, mix.update, mix.insert, mix.scan, mix.read_modify_write) == (*mixes[name], 0)
    assert found.request.kind == ("zipfian" if name == "g" else "uniform")
    if name != "g":
        length: Any = found.fields.length
        assert len("user") + found.key.zero_padding + found.fields.count * length.length == 75
    if mix.scan:
        assert (found.scan_length.min, found.scan_length.max) == (50, 50)  # type: ignore[union-attr]
