"""Cassandra with passwords and TLS: one cluster of `secure`, used by us and by clients of all kinds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import psutil
import pytest
from bench_command import SCRIPT, Command, summary
from conftest import put_right

from steelyard.hosts import records
from steelyard.hosts.local import LocalHost
from steelyard.spec.system import CassandraSystem, HostsSystem
from steelyard.systems.cassandra.cql_probe import LoginRefusedError, ask
from steelyard.systems.cassandra.given import HostsTestbed
from steelyard.systems.cassandra.login import CqlPlace, Login
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.systems.kind import kind_of
from steelyard.systems.status import NodeStatus

pytestmark = pytest.mark.beside
pytest_plugins = ["bench_fixtures"]
Start = Callable[[str], Command]
SMALL = "-w a --records 500 --operations 1000 --clients 4"
STUDY = """
reset = "restore"
workload = { base = "c", records = 500 }
[system]
kind = "cassandra"
profile = "quick"
secure = true
[load]
operations = 500
"""


@pytest.fixture(scope="module")
def shared_secure(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[CassandraTestbed]:
    system = CassandraSystem(nodes=2, profile="quick", secure=True)
    testbed = CassandraTestbed(
        system, name="secure2", root=tmp_path_factory.mktemp("secure"), host=LocalHost()
    )
    testbed.up(print)
    yield testbed
    testbed.down(print)


@pytest.fixture
def secure(shared_secure: CassandraTestbed) -> Iterator[CassandraTestbed]:
    """Two nodes with passwords and TLS; a test that changes one puts it right again."""
    yield shared_secure
    put_right(shared_secure)


def password(testbed: CassandraTestbed) -> str:
    return testbed.login().password()


def given(testbed: CassandraTestbed, **other: str) -> str:
    """The words of `bench` for a cluster that runs; a flag that is given here wins, an empty one goes."""
    words = testbed.bench_words()[0].split()[1:]
    flags = dict(zip(words[::2], words[1::2], strict=True))
    flags |= {f"--{name.replace('_', '-')}": word for name, word in other.items()}
    return "bench cassandra " + " ".join(f"{flag} {word}" for flag, word in flags.items() if word)


def statuses() -> list[NodeStatus]:
    record = records.load("secure2")
    return [kind_of("cassandra").status(LocalHost(), record, node) for node in record.nodes]


def refused(command: Start, words: str, *told: str) -> None:
    one = command(f"{words} {SMALL}")
    assert one.end() == 2, one.stderr
    for part in told:
        assert part in one.stderr, one.stderr
    assert "Traceback" not in one.stderr


def test_the_engine_comes_with_tls_and_password_and_no_secret_is_told(
    secure: CassandraTestbed, command: Start
) -> None:
    one = command(f"{given(secure)} --verify full {SMALL}")
    one.until(lambda line: "answers" in line)
    lines = [" ".join(process.cmdline()) for process in psutil.Process(one.process.pid).children(True)]
    assert one.end() == 0, one.stderr
    run = summary(one.trial(), "run")
    assert (run["ok"], run["failed"], run["verify"]["corrupt"]) == (1000, {}, 0)
    [rest] = [row for row in one.trial().manifest["timeline"] if row["event"] == "at rest"]
    assert rest["detail"].startswith("by the servers' own figures")
    seen = pl.read_parquet(one.trial().path / "system.parquet").filter(metric="server_client_writes_total")
    assert set(seen["source"]) == set(secure.answers_at()), "their virtual tables, with the same login"
    secret = password(secure).encode()
    assert secret not in "\n".join([*lines, *one.lines]).encode()
    assert not [path for path in one.out.rglob("*") if path.is_file() and secret in path.read_bytes()]


def test_others_are_refused_with_what_to_do(secure: CassandraTestbed, command: Start, tmp_path: Path) -> None:
    (tmp_path / "wrong").write_text("wrong\n")
    wrong = str(tmp_path / "wrong")
    refused(command, given(secure, password_file=wrong), "are incorrect", "--password-file")
    refused(command, given(secure, user="", password_file=""), "asks for a user and a password", "--user")
    refused(command, given(secure, tls_ca=""), "speaks TLS", "--tls-ca")
    default = CqlPlace(
        secure.nodes[0].spec.address, secure.port, login=Login("cassandra", None, secure.login().tls_ca)
    )
    with pytest.raises(LoginRefusedError):
        ask(default, "SELECT key FROM system.local")


def test_tls_at_a_port_without_it(
    secure: CassandraTestbed, cassandra3: CassandraTestbed, command: Start
) -> None:
    place = cassandra3.nodes[0].place
    refused(command, given(secure, hosts=place.address), "speaks no TLS", "leave --tls-ca")


def test_it_is_seen_killed_and_started_again(secure: CassandraTestbed, command: Start) -> None:
    seen = {node.name: (node.state, node.sees) for node in statuses()}
    assert seen == {"node1": ("up", "2/2"), "node2": ("up", "2/2")}
    secure.kill("node1")
    one = command(f"{given(secure, hosts=secure.nodes[1].spec.address, keyspace='left')} -w c {SMALL[5:]}")
    one.until(lambda line: "answers" in line)  # the node that lives knows all users
    one.process.terminate()
    one.end()
    secure.restart("node1", print)
    assert statuses()[0].state == "up"
    secure.flush("node1")
    assert secure.settle(60, print).quiet


def test_servers_may_ask_for_the_clients_certificate(
    cluster: Callable[..., CassandraTestbed], command: Start
) -> None:
    testbed = cluster("mutual", secure=True, mutual_tls=True)
    testbed.up(print)
    one = command(f"{given(testbed)} {SMALL}")
    assert one.end() == 0, one.stderr
    refused(command, given(testbed, tls_cert="", tls_key=""), "TLS handshake", "--tls-cert and --tls-key")


def test_bench_brings_a_secure_cluster_up(command: Start) -> None:
    one = command(f"bench cassandra --secure --profile quick {SMALL}")
    assert one.end() == 0, one.stderr
    system = one.trial().manifest["system"]
    assert system["tls"]
    assert system["configuration"]["cassandra_yaml"]["authenticator"] == "PasswordAuthenticator"
    assert "TLS" in {found["setting"] for found in system["deviations"]}
    assert not [path for path in one.out.rglob("*") if path.name in {"password", "keystore.p12"}]


def test_a_study_restores_secure_data(command: Start, tmp_path: Path) -> None:
    path = tmp_path / "secure.toml"
    path.write_text(STUDY)
    one = command(f"run {path}")
    assert one.end() == 0, one.stderr
    trial = one.trial()
    assert trial.manifest["data"]["how"] == "restored"
    assert summary(trial, "run")["ok"] == 500


def test_a_cluster_that_stays_tells_how_it_is_used(command: Start) -> None:
    def steelyard(words: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, str(SCRIPT), *words.split()]
        return subprocess.run(line, capture_output=True, text=True, check=False)

    up = steelyard("cluster up cassandra --secure --profile quick --name securelab")
    try:
        assert up.returncode == 0, up.stderr
        [words] = [line for line in up.stdout.splitlines() if line.startswith("used with: steelyard ")]
        one = command(f"{words.removeprefix('used with: steelyard ')} {SMALL[5:]}")
        assert one.end() == 0, one.stderr
        assert "1/1" in steelyard("cluster status securelab").stdout
    finally:
        steelyard("cluster down securelab")


def test_who_belongs_to_it_is_told_again_and_again_over_tls_with_a_password(secure: CassandraTestbed) -> None:
    asked = {"hosts": secure.answers_at()[:1], "port": secure.port, **secure.login().plan()}
    outside = HostsTestbed(HostsSystem.model_validate(asked))
    outside.up(print)
    told = [[(one.name, one.passed) for one in outside.roll()] for _ in range(2)]
    outside.end_roll()
    assert told[0] == told[1] == [(name, ("normal", "joined")) for name in secure.answers_at()]
