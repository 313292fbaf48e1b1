"""The command line: words in, a result or a plain error with its exit code out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from engine_fixtures import FakeEngine
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.cli.options import FLAGS
from steelyard.spec.models import Study
from steelyard.spec.system import CassandraSystem, EmbeddedSystem, HostsSystem

HEAVY = (
    "polars",
    "scipy",
    "altair",
    "rich.console",
    "psutil",
    "steelyard.spec.models",
    "steelyard.spec.system",
)


def study(*words: str) -> Study:
    """The study of a command line, through typer's own parsing."""
    seen: list[Study] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("steelyard.cli.conduct.conduct", lambda study, **_: seen.append(study))
        result = CliRunner().invoke(app, ["bench", *words])
    assert result.exit_code == 0, result.stderr
    return seen[0]


def fault(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 2, (result.exit_code, result.output)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr


def test_every_flag_sets_what_it_says() -> None:
    line = """
        cassandra -w b --records 7 --fields 3 --field-length 9 --request zipfian --theta 0.5 --read-one
        --write-all --verify full --duration 60s --warmup 10s --target 5000 --arrivals poisson
        --in-flight 256 --engines 2 --retry none --timeout 2s --pacing 250us --realtime --seed 9
        --nodes 3 --version 4.1 --profile quick --heap 1g --cpu 1.5 --memory 2g --network namespaces
        --tokens 4 --partitioner RandomPartitioner --commitlog-sync batch --java 17
        --keyspace k --rf 3 --replication-strategy NetworkTopologyStrategy --read-consistency quorum
        --write-consistency ALL --connections 2 --local-dc dc1 --fresh
        --set concurrent_reads=16 --set-yaml memtable_heap_space=64MiB
    """
    found = study(*line.split())
    workload, load, system = found.workload, found.load, found.system
    assert (workload.records, workload.fields.count, workload.verify) == (7, 3, "full")
    assert (workload.fields.length.length, workload.request.theta) == (9, 0.5)  # type: ignore[union-attr]
    assert (workload.read_all_fields, workload.write_all_fields) == (False, True)
    assert (load.duration_s, load.warmup_s, load.target, load.arrivals) == (60, 10, 5000, "poisson")
    assert (load.cap, load.engines, load.retry, load.timeout_ms, load.realtime) == (
        256,
        2,
        "none",
        2000,
        True,
    )
    assert load.pacing == "250us"
    assert (found.seed, found.name) == (9, "cassandra-b")
    assert isinstance(system, CassandraSystem)
    assert (system.nodes, system.version, system.profile, system.heap_mib) == (3, "4.1", "quick", 1024)
    assert (system.limits.cpu, system.limits.memory_mib, system.network) == (1.5, 2048, "namespaces")
    assert (system.tokens, system.partitioner, system.java) == (4, "RandomPartitioner", "17")
    assert system.commitlog_sync == "batch"
    assert system.settings == {"concurrent_reads": 16, "memtable_heap_space": "64MiB"}
    access = system.access
    assert (access.keyspace, access.replication.factor, access.fresh) == ("k", 3, True)
    assert access.replication.strategy == "NetworkTopologyStrategy"
    assert (access.read_consistency, access.write_consistency) == ("QUORUM", "ALL")
    assert (access.connections, access.local_datacenter) == (2, "dc1")


def test_defaults() -> None:
    found = study("embedded")
    assert (found.workload.records, found.load.operations, found.load.clients) == (100_000, 100_000, 32)
    assert (found.workload.name, found.name, found.seed) == ("a", "embedded-a", 42)


def test_embedded(tmp_path: Path) -> None:
    system = study("embedded", "--sync", "--fresh", "--path", str(tmp_path / "s")).system
    assert system == EmbeddedSystem(path=tmp_path / "s", sync=True, fresh=True)


def test_given_hosts(tmp_path: Path) -> None:
    secret, ca = tmp_path / "f", tmp_path / "ca.pem"
    words = f"--hosts 10.0.0.1,10.0.0.2 --port 9999 --user u --password-file {secret} --tls-ca {ca} -w c"
    system = study("cassandra", *words.split()).system
    assert isinstance(system, HostsSystem)
    assert (system.hosts, system.port, system.user) == (("10.0.0.1", "10.0.0.2"), 9999, "u")
    assert (system.password_file, system.tls_ca) == (secret, ca)


def test_a_files_settings_give_way_to_flags(tmp_path: Path) -> None:
    path = tmp_path / "w"
    path.write_text("recordcount=5\noperationcount=6\nthreadcount=7\nrequestdistribution=hotspot\n")
    assert study("null", "-w", str(path)).load.operations == 6
    timed = study("null", "-w", str(path), "--duration", "5s", "--records", "9", "--request", "uniform")
    assert (timed.load.operations, timed.load.clients, timed.workload.records) == (None, 7, 9)
    assert timed.workload.request.compat == "ycsb"
    assert study("null", "-w", str(path), "--compat", "none").workload.request.compat is None


def test_a_curve_in_words(tmp_path: Path) -> None:
    path = tmp_path / "w"
    path.write_text("recordcount=5\noperationcount=6\n")
    found = study("null", "-w", str(path), "--curve", "0=1000, 30s=4e3,1m=0", "--verify", "full", "--audit")
    assert found.load.curve == ((0, 1000), (30, 4000), (60, 0))
    assert (found.load.operations, found.load.duration_s, found.load.audit) == (None, 60, True)
    both = study("null", "-w", str(path), "--curve", "0s=1000,30s=4000", "--operations", "70")
    assert (both.load.operations, both.load.duration_s) == (70, None)


def test_the_curve_of_the_help_is_one() -> None:
    told = " ".join(CliRunner().invoke(app, ["bench", "--help"]).stdout.split())
    example = re.search(r"--curve (0s=\S+)", told)
    assert example
    assert study("null", "--curve", example[1]).load.duration_s == 60
    for words in re.findall(r"--curve (0s=\S+)", (Path(__file__).parents[2] / "README.md").read_text()):
        assert study("null", "--curve", words).load.duration_s == 60


@pytest.mark.parametrize(
    ("load", "told"),
    [
        ("curve = [[0, 1000], [30, 4000]]", "30 s, a curve of 1,000 to 4,000/s due, at most 1024 in flight"),
        ("curve = [[0, 0], [30, 2.5]]", "30 s, a curve of 0 to 2.5/s due, at most 1024 in flight"),
        ("curve = [[0, 1000]]", "100,000 operations, 1000/s due, at most 1024 in flight"),
        ("target = 1000", "100,000 operations, 1000/s due, at most 1024 in flight"),
        ("clients = 3", "100,000 operations, 3 clients"),
    ],
)
def test_a_dry_run_tells_the_rate(tmp_path: Path, load: str, told: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f'workload = "c"\nsystem.kind = "null"\n[load]\n{load}\n')
    result = CliRunner().invoke(app, ["run", str(path), "--dry-run"])
    assert result.stdout.splitlines()[0].endswith(told)


def test_it_is_a_module_too() -> None:
    command = [sys.executable, "-m", "steelyard", "bnech"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: No such command 'bnech'.")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("cassandra --nodes 0", "error: --nodes 0 should be greater than 0"),
        ("cassandra --nodes -3", "error: --nodes -3 should be greater than 0"),
        ("cassandra --nodes many", "error: Invalid value for '--nodes'"),
        ("cassandra --hosts a --nodes 3", "error: --hosts and --nodes exclude each other"),
        ("cassandra --hosts a,,b", "error: --hosts: expected addresses with commas between them"),
        ("embedded --hosts a", "error: --hosts: embedded has no hosts"),
        ("cassandra --hosts a --user u", "error: system: user and password_file belong together"),
        ("cassandra --hosts a --heap 1g", "error: --heap does not apply to system of kind 'hosts'"),
        ("embedded --nodes 3", "error: --nodes does not apply to system of kind 'embedded'"),
        ("null --rf 3", "error: --rf does not apply to system of kind 'null'"),
        ("casandra", "error: no system 'casandra' (did you mean 'cassandra'?)"),
        ("null -w zz", "error: -w: no workload 'zz'"),
        ("null --records 0", "error: --records 0 should be greater than or equal to 1"),
        ("null --operations -5", "error: --operations -5 should be greater than 0"),
        ("null --duration 60", "error: --duration: '60' is no duration"),
        ("null --curve 1000,2000", "error: --curve: expected TIME=RATE with commas between, e.g. 0s=1000"),
        ("null --curve 0s=1000,30=5", "error: --curve: expected TIME=RATE"),
        ("null --curve 0s=100 --target 5", "error: load: curve says the rate: leave target and search out"),
        ("null --curve 5s=100", "error: load: curve begins at 0 s"),
        ("null --audit", "error: load.audit reads back what was acknowledged and judges it: set workload"),
        ("null --target 0", "error: --target 0.0 should be greater than 0"),
        ("null --arrivals poisson", "error: load: arrivals = 'poisson' needs a target rate"),
        ("null --target 5 --arrivals sometimes", "error: --arrivals 'sometimes' should be 'constant'"),
        ("null --in-flight 5", "error: load: in_flight needs a target"),
        ("null --engines 50", "error: load: more engines than clients"),
        ("embedded --engines 2", "error: the embedded store lives in one engine's process"),
        ("null --verify al", "error: --verify 'al' should be 'off', 'sample', 'all' or 'full'"),
        ("null --request zipfan", "error: --request 'zipfan' is unknown (did you mean 'zipfian'?)"),
        ("null --request uniform --theta 0.5", "error: --theta does not apply to workload.request"),
        ("null --compat go", "error: --compat 'go' should be 'ycsb'"),
        ("null --compat ycsb --theta 0.5", "error: workload.request: compat = 'ycsb' draws with theta"),
        ("null --field-length 0", "error: --field-length 0 should be greater than 0"),
        ("cassandra --heap 512", "error: --heap: '512' is no size; write a number and a unit: 512m, 2g"),
        ("cassandra --heap 0g", "error: --heap 0 should be greater than 0"),
        ("cassandra --read-consistency QUORM", "error: --read-consistency: unknown consistency"),
        ("cassandra --set concurrent_reads", "error: --set concurrent_reads: expected key=value"),
        ("null --recods 5", "error: No such option: --recods"),
        ("null --records", "error: Option '--records' requires an argument."),
        ("", "error: Missing argument 'system'."),
    ],
)  # fmt: skip
def test_mistakes(words: str, message: str) -> None:
    assert fault("bench", *words.split()).startswith(message)


def test_an_unknown_command() -> None:
    assert fault("bnech").startswith("error: No such command 'bnech'.")


def test_no_words_of_a_secret() -> None:
    assert not any("password" in flag.name and "file" not in flag.name for flag in FLAGS)
    assert "No such option: --password" in fault("bench", "cassandra", "--hosts", "a", "--password", "x")


@pytest.mark.parametrize("command", ["bench", "run", "report"])
def test_help_has_an_example(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert f"Example: steelyard {command}" in " ".join(result.stdout.split())


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["bench", "--help"], ["run", "--help"]])
def test_help_needs_nothing_heavy(words: list[str]) -> None:
    """What help must not import is what makes it slow; the time itself depends on the machine."""
    code = (
        f"import sys; sys.argv = ['steelyard', *{words}]\n"
        "from steelyard.cli import app\n"
        "try: app()\n"
        "except SystemExit: pass\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout.startswith("steelyard 0.")


def test_a_whole_bench(fake_engine: FakeEngine, tmp_path: Path) -> None:
    fake_engine.mode("")
    out = tmp_path / "run"
    result = CliRunner().invoke(
        app, ["bench", "null", "--duration", "100ms", "--no-report", "--out", str(out)]
    )
    assert result.exit_code == 0, result.output
    assert f"result: {out}" in result.stdout
    assert "load" in result.stderr
    again = CliRunner().invoke(app, ["bench", "null", "--out", str(out)])
    assert again.exit_code == 2
    assert "it exists already" in again.stderr


def test_a_bench_that_fails_keeps_its_result(fake_engine: FakeEngine, tmp_path: Path) -> None:
    fake_engine.mode("die-in-run")
    out = tmp_path / "run"
    result = CliRunner().invoke(
        app, ["bench", "null", "--duration", "100ms", "--no-report", "--out", str(out)]
    )
    assert result.exit_code == 3
    assert "error: the engine was killed by SIGKILL" in result.stderr
    said: dict[str, Any] = json.loads((out / "run.json").read_text())
    assert said["trials"][0]["status"] == "failed"
    assert (out / "trials" / "001" / "manifest.json").is_file()


@pytest.mark.usefixtures("fake_engine")
def test_a_run_of_several_trials(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('repetitions = 2\nworkload = "a"\n[system]\nkind = "null"\n[load]\nduration_s = 0.1\n')
    out = tmp_path / "run"
    result = CliRunner().invoke(app, ["run", str(path), "--no-report", "--out", str(out), "--set", "seed=5"])
    assert result.exit_code == 0, result.output
    said = json.loads((out / "run.json").read_text())
    assert [t["status"] for t in said["trials"]] == ["done", "done"]
    assert said["study"]["seed"] == 5
    assert "trial 2 of 2" in result.stderr


def test_a_dry_run_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "s.toml"
    path.write_text('repetitions = 3\nworkload = "a"\n[system]\nkind = "cassandra"\nnodes = 3\n')
    result = CliRunner().invoke(
        app, ["run", str(path), "--dry-run", "--set", "system.access.replication.factor=3"]
    )
    assert result.exit_code == 0, result.output
    assert "100,000 records, about 292.7 MiB with replicas" in result.stdout
    assert "3 trials; nothing was started" in result.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["s.toml"]
