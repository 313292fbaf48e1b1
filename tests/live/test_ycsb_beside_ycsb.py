"""Ours beside YCSB itself: the same words, the same lines of output, data that either reads of the other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from peers.ycsb import JAVA, Done, RealYcsb, make_table, ours, over_cql, parsed

from steelyard.systems.cassandra.login import CqlPlace
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.systems.hbase.testbed import HBaseTestbed

pytestmark = pytest.mark.beside

WORKLOADS = Path(__file__).parents[2] / "workloads"
INTEGRITY = ("-p", "dataintegrity=true")
THREADS = ("-threads", "4")
ONLY_THEIRS = re.compile(r"(Intended-|Hdr|Bucket)?CLEANUP|TOTAL_GC(S|_TIME(_%)?)_[A-Z].*")
"""Sections of the moment in which each thread closes its connection, and of each collector of a JVM."""
ONLY_OURS = {"50thPercentileLatency(us)"}
"""YCSB has printed it since 0.17.0."""

Metrics = dict[str, list[str]]


def workload(letter: str) -> tuple[str, str]:
    return "-P", str(WORKLOADS / f"workload{letter}")


# --- the output ---


def metrics(text: str, exporter: str) -> Metrics:
    """Section -> its measurements in their order."""
    found: Metrics = {}
    for metric, measurement in _rows(text, exporter):
        found.setdefault(metric, []).append(measurement)
    return found


def _rows(text: str, exporter: str) -> list[tuple[str, str]]:
    if "Text" in exporter:
        return [(line.split(", ")[0][1:-1], line.split(", ")[1]) for line in text.splitlines()]
    array = text if "Array" in exporter else "[" + text.replace("} {", "}, {") + "]"
    return [(row["metric"], row["measurement"]) for row in json.loads(array)]


@pytest.fixture(scope="module")
def basic(tmp_path_factory: pytest.TempPathFactory) -> RealYcsb:
    return RealYcsb("site.ycsb.BasicDB", folder=tmp_path_factory.mktemp("basic"))


@pytest.mark.parametrize("exporter", ["Text", "JSON", "JSONArray"])
@pytest.mark.parametrize(
    "words",
    [
        "",
        "-p measurement.interval=both -target 2000",
        "-p hdrhistogram.percentiles=1,2,3,11,50,99.9 -p measurement.histogram.verbose=false",
        "-p measurementtype=histogram -p measurement.histogram.verbose=true -p histogram.buckets=3",
        "-p measurementtype=hdrhistogram+histogram",
    ],
)
def test_the_output_has_the_same_lines(basic: RealYcsb, words: str, exporter: str) -> None:
    name = f"site.ycsb.measurements.exporter.{exporter}MeasurementsExporter"
    given = [*workload("a"), *words.split(), "-p", f"exporter={name}", "-p", "operationcount=500"]
    theirs = basic("run", *given, "-p", "basicdb.verbose=false")
    assert theirs.returncode == 0, theirs.stderr
    mine = ours("run", "basic", *given)
    assert mine.returncode == 0, mine.stderr
    expected = {m: rows for m, rows in metrics(theirs.stdout, name).items() if not ONLY_THEIRS.fullmatch(m)}
    found = metrics(mine.stdout, name)
    if "percentiles" not in words:
        found = {m: [row for row in rows if row not in ONLY_OURS] for m, rows in found.items()}
    assert found == expected


def test_status_lines_have_the_same_form(basic: RealYcsb) -> None:
    given = [*workload("a"), "-s", "-p", "status.interval=1", "-target", "400", "-l", "mine "]
    theirs = basic("run", *given, "-p", "basicdb.verbose=false")
    mine = ours("run", "basic", *given)
    head = r"mine \d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3} \d+ sec: \d+ operations; ([\d.]+ current ops/sec; )?"
    numbers = r"Count=\d+, Max=\d+, Min=\d+, Avg=[\d.]+(, 50=\d+)?, 90=\d+, 99=\d+, 99.9=\d+, 99.99=\d+"
    form = re.compile(rf"{head}(est completion in ([\d]+ \w+ )+)?(\[[A-Z-]+: {numbers}\] )*")
    for done in (theirs, mine):
        lines = [line for line in done.stderr.splitlines() if line.startswith("mine ")]
        assert len(lines) >= 3, done.stderr
        for line in lines[1:]:  # the first may come before or after the first operations
            assert form.fullmatch(line), line


# --- the data ---


@dataclass
class Pair:
    """Both clients on one cluster; each takes an action and words."""

    ours: Callable[..., Done]
    theirs: Callable[..., Done]


def _cassandra(testbed: CassandraTestbed, name: str, folder: Path) -> Pair:
    """On a table made as YCSB's own page says."""
    driver = testbed.driver()
    host, port = driver["hosts"][0], driver["port"]
    make_table(CqlPlace(host, port), name)
    real = over_cql(folder)
    said = [f"hosts={host}", f"port={port}", f"cassandra.keyspace={name}"]
    said += [f"cassandra.{kind}consistencylevel=QUORUM" for kind in ("read", "write")]
    words = [word for one in said for word in ("-p", one)]
    return Pair(
        lambda action, *more: ours(action, "cassandra-cql", *words, *more),
        lambda action, *more: real(action, *more, *words),
    )


def _hbase(testbed: HBaseTestbed, name: str, folder: Path) -> Pair:
    """On a table that ours makes, of one record that either writes over."""
    sources = [JAVA / "ycsb" / "HBaseBinding.java", *(JAVA / "peer").glob("*.java")]
    real = RealYcsb("HBaseBinding", sources, f"{testbed.launches.on().hbase.jars.folder}/*", folder=folder)
    servers = ",".join(testbed.driver()["registry"])
    said = (f"hbase.client.bootstrap.servers={servers}", "columnfamily=cf", f"table={name}")
    words = [word for one in said for word in ("-p", one)]

    def mine(action: str, *more: str) -> Done:
        return ours(action, "hbase2", *words, *more)

    made = mine("load", *workload("a"), "-p", "recordcount=1")
    assert made.returncode == 0, made.stderr
    return Pair(mine, lambda action, *more: real(action, *more, *words))


@pytest.fixture(params=["cassandra3", "hbase3"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Pair:
    name = re.sub(r"\W", "", request.node.originalname.removeprefix("test_"))[:40]
    make: dict[str, Any] = {"cassandra3": _cassandra, "hbase3": _hbase}
    return make[request.param](request.getfixturevalue(request.param), name, tmp_path)  # type: ignore[no-any-return]


def good(done: Done) -> dict[str, dict[str, float]]:
    """Its output, if it went well: YCSB tells of a failure only there."""
    assert done.returncode == 0, done.stderr
    found = parsed(done.stdout)
    returned = {row for rows in found.values() for row in rows if row.startswith("Return=")}
    assert returned == {"Return=OK"}, done.stdout + done.stderr
    return found


def verified(found: dict[str, dict[str, float]]) -> float:
    """How many reads had just the values they should have; all of them."""
    assert found["VERIFY"]["Return=OK"] == found["READ"]["Return=OK"] > 0
    return found["VERIFY"]["Return=OK"]


def test_each_reads_what_the_other_loaded_and_wrote(pair: Pair) -> None:
    for first, second in ((pair.theirs, pair.ours), (pair.ours, pair.theirs)):
        assert good(first("load", *workload("a"), *THREADS))["INSERT"]["Return=OK"] == 1000
        ran = good(second("run", *workload("b"), *THREADS))
        assert ran["READ"]["Return=OK"] + ran["UPDATE"]["Return=OK"] == 1000
        assert good(first("run", *workload("c"), *THREADS))["READ"]["Return=OK"] == 1000
        assert good(second("run", *workload("e"), *THREADS))["SCAN"]["Return=OK"] > 900


def test_each_verifies_what_the_other_wrote(pair: Pair) -> None:
    for first, second in ((pair.theirs, pair.ours), (pair.ours, pair.theirs)):
        assert good(first("load", *workload("a"), *INTEGRITY, *THREADS))["INSERT"]["Return=OK"] == 1000
        verified(good(second("run", *workload("a"), *INTEGRITY, *THREADS)))
        verified(good(first("run", *workload("c"), *INTEGRITY, *THREADS)))
