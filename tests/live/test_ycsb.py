"""`steelyard ycsb` on a real cluster: YCSB's words in, its output out, its keys and columns in the table."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from peers.ycsb import CALL, LIMIT_S, parsed

from steelyard.results.read import TrialResult, open_run
from steelyard.systems.cassandra.cql_probe import ask
from steelyard.systems.cassandra.login import CqlPlace
from steelyard.systems.cassandra.testbed import CassandraTestbed

pytestmark = pytest.mark.beside

WORKLOADS = Path(__file__).parents[2] / "workloads"
KEYS = {
    0: "user6284781860667377211",
    1: "user8517097267634966620",
    2: "user1820151046732198393",
    3: "user4052466453699787802",
    10: "user2408371864701034737",
    999: "user2071219101098386137",
}
"""Published vectors: record number -> key."""

Ycsb = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def ycsb(cassandra3: CassandraTestbed, tmp_path: Path) -> Ycsb:
    """Run `steelyard ycsb ACTION cassandra-cql WORDS` on the shared cluster, in the test's folder."""
    driver = cassandra3.driver()
    hosts = ["-p", f"hosts={','.join(driver['hosts'])}", "-p", f"port={driver.get('port', 9042)}"]

    def run(action: str, *words: str) -> subprocess.CompletedProcess[str]:
        given = [sys.executable, "-c", CALL, "ycsb", action, "cassandra-cql", *hosts, *words]
        return subprocess.run(
            given, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=LIMIT_S
        )

    return run


@pytest.fixture
def cql(cassandra3: CassandraTestbed) -> Callable[[str], list[list[bytes | None]]]:
    driver = cassandra3.driver()
    place = CqlPlace(driver["hosts"][0], driver.get("port", 9042))
    return lambda text: ask(place, text)


def result(folder: Path) -> TrialResult:
    [trial] = open_run(folder).trials
    return trial


def test_a_property_file_runs_unchanged(ycsb: Ycsb, cql: Callable, tmp_path: Path) -> None:  # type: ignore[type-arg]
    file = ["-P", str(WORKLOADS / "workloada"), "-p", "cassandra.keyspace=ycsb_plain"]
    loaded = ycsb("load", *file, "-threads", "4", "-s")
    assert loaded.returncode == 0, loaded.stderr
    found = parsed(loaded.stdout)
    assert found["INSERT"]["Operations"] == found["INSERT"]["Return=OK"] == 1000
    assert found["OVERALL"]["Throughput(ops/sec)"] > 0
    for key in KEYS.values():
        [row] = cql(f"SELECT field0, field9 FROM ycsb_plain.usertable WHERE y_id = '{key}'")  # noqa: S608
        assert [len(cell) for cell in row] == [100, 100]
        assert all(32 <= byte <= 32 + 95 for cell in row for byte in cell)
    assert len(cql("SELECT y_id FROM ycsb_plain.usertable")) == 1000

    prefix = f"{tmp_path}/log-"
    words = ["-s", "-l", "mine: ", "-target", "200", "-p", "status.interval=1"]
    files = ["-p", "hdrhistogram.fileoutput=true", "-p", f"hdrhistogram.output.path={prefix}"]
    ran = ycsb("run", *file, *words, *files)
    assert ran.returncode == 0, ran.stderr
    found = parsed(ran.stdout)
    read, update = found["READ"], found["UPDATE"]
    assert read["Return=OK"] + update["Return=OK"] == read["Operations"] + update["Operations"] == 1000
    assert abs(read["Operations"] - 500) < 80
    assert read["MinLatency(us)"] <= read["AverageLatency(us)"] <= read["99thPercentileLatency(us)"]
    assert (
        read["95thPercentileLatency(us)"] <= read["MaxLatency(us)"] < found["OVERALL"]["RunTime(ms)"] * 1000
    )
    late_ms = max(read["MaxLatency(us)"], update["MaxLatency(us)"]) / 1000  # a busy machine may end late
    assert 4900 < found["OVERALL"]["RunTime(ms)"] < 5500 + late_ms
    lines = [line for line in ran.stderr.splitlines() if line.startswith("mine: ")]
    assert len(lines) >= 5
    assert " 0 sec: 0 operations; est completion in " in lines[0]
    assert " 1000 operations; " in lines[-1]
    assert Path(f"{prefix}READ.hdr").read_text().startswith("#[Logging for: READ]\n")


def test_what_was_loaded_is_verified_when_it_is_read(ycsb: Ycsb, tmp_path: Path) -> None:
    checked = ["steelyard.workload.values=checked", "steelyard.workload.verify=all"]
    file = ["-P", str(WORKLOADS / "workloadb"), "-p", "cassandra.keyspace=ycsb_checked"]
    words = [*file, *(word for pair in checked for word in ("-p", pair))]
    loaded = ycsb("load", *words, "-threads", "8")
    assert loaded.returncode == 0, loaded.stderr
    ran = ycsb("run", *words, "-threads", "8", "--out", str(tmp_path / "run"))
    assert ran.returncode == 0, ran.stderr
    summary = result(tmp_path / "run").summary("run")
    assert summary is not None
    assert summary["ok"] == 1000
    assert summary["verify"]["checked"] > 5000  # ten fields of about 950 reads
    assert (summary["verify"]["corrupt"], summary["verify"]["foreign"]) == (0, 0)
    traffic = summary["traffic"]
    assert traffic["answers"] >= 1000, "every operation was answered"
    assert 0 < traffic["writes"] <= traffic["requests"], "requests that wait together leave together"
    assert 0 < traffic["reads"] <= traffic["answers"] + 100


def test_inserts_of_two_clients_do_not_collide(ycsb: Ycsb, cql: Callable) -> None:  # type: ignore[type-arg]
    file = ["-P", str(WORKLOADS / "workloadw"), "-p", "cassandra.keyspace=ycsb_shared", "--no-result"]
    assert ycsb("load", *file, "-threads", "8").returncode == 0
    inserted = 0.0
    for start in (0, 500):
        ran = ycsb("run", *file, "-threads", "4", "-p", f"insertstart={start}", "-p", "insertcount=500")
        assert ran.returncode == 0, ran.stderr
        inserted += parsed(ran.stdout)["INSERT"]["Return=OK"]
    assert len(cql("SELECT y_id FROM ycsb_shared.usertable")) == 1000 + inserted


def test_records_that_are_missing_are_failures(ycsb: Ycsb) -> None:
    words = ["-P", str(WORKLOADS / "workloadc"), "-p", "cassandra.keyspace=ycsb_empty", "--no-result"]
    ran = ycsb("run", *words)
    assert ran.returncode == 3
    found = parsed(ran.stdout)
    assert found["READ"]["Return=NOT_FOUND"] == found["READ-FAILED"]["Operations"] == 1000
    assert "none of 1000 operations succeeded" in ran.stderr
    assert ycsb("run", *words, "--as-ycsb").returncode == 0


def integrity_value(key: str, field: str, length: int) -> str:
    """YCSB's value for `dataintegrity`: key and field, then after each colon the hash of the text so far."""

    def java_hash(text: str) -> int:
        value = 0
        for letter in text:
            value = (31 * value + ord(letter)) & 0xFFFFFFFF
        return value - 2**32 if value >= 2**31 else value

    text = f"{key}:{field}"
    while len(text) < length:
        text += ":"
        text += str(java_hash(text))
    return text[:length]


def test_dataintegrity_values_are_those_of_ycsb(ycsb: Ycsb, cql: Callable) -> None:  # type: ignore[type-arg]
    words = ["-P", str(WORKLOADS / "workloada"), "-p", "cassandra.keyspace=ycsb_integrity", "--no-result"]
    words += ["-p", "dataintegrity=true"]
    loaded = ycsb("load", *words, "-threads", "8")
    assert loaded.returncode == 0, loaded.stderr
    for key in KEYS.values():
        [[cell]] = cql(f"SELECT field3 FROM ycsb_integrity.usertable WHERE y_id = '{key}'")  # noqa: S608
        assert cell.decode() == integrity_value(key, "field3", 100)
    ran = ycsb("run", *words)
    assert ran.returncode == 0, ran.stderr
    assert parsed(ran.stdout)["VERIFY"]["Return=OK"] > 0
