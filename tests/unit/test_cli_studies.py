"""`run` and `studies` on the command line: forms, resuming, what is listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.cli.forms import rows
from steelyard.hosts.host import Abilities
from steelyard.hosts.local import LocalHost
from steelyard.lab.room import Room, shortages
from steelyard.results.disturbance import Disturbance
from steelyard.spec.read import both_forms, read_study
from steelyard.spec.shipped import find_study
from steelyard.spec.trials import trials


def fault(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 2, (result.exit_code, result.output)
    assert "Traceback" not in result.stderr
    return result.stderr


STUDY = """
question = "Which?"
repetitions = 2
workload = "a"
[systems.one]
kind = "null"
[systems.two]
kind = "null"
[load]
duration_s = 0.01
[small]
repetitions = 1
"""


def written(folder: Path) -> str:
    path = folder / "s.toml"
    path.write_text(STUDY)
    return str(path)


@pytest.mark.usefixtures("fake_engine")
@pytest.mark.parametrize(("found", "counting"), [(None, 1), (Disturbance("steal: 5 %", passing=True), 0)])
def test_a_study_by_its_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: Disturbance | None, counting: int
) -> None:
    # whatever the host of this machine does meanwhile
    monkeypatch.setattr("steelyard.report.taint.taint", lambda _folder: found)
    out = tmp_path / "run"
    result = CliRunner().invoke(app, ["run", written(tmp_path), "--small", "--no-report", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "trial 2 of 2: " in result.stderr
    assert result.stdout.count(f"{counting} of 1") == 2
    assert ("--disturbed` runs them again" in result.stdout) == (counting == 0)
    assert json.loads((out / "run.json").read_text())["design"]["name"] == "s-small"


@pytest.mark.usefixtures("fake_engine")
@pytest.mark.parametrize(
    ("metric", "minds"), [("audit_lost", False), ("audit_missing", True), ("ok_per_s", True)]
)
def test_steal_is_looked_for_where_time_is_in_what_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metric: str, minds: bool
) -> None:
    asked: list[bool] = []

    def taint(_folder: Path, *, steal: bool = True) -> None:
        asked.append(steal)

    monkeypatch.setattr("steelyard.report.taint.taint", taint)
    path = tmp_path / "s.toml"
    check = 'check = { kind = "value", below = 1 }'
    path.write_text(STUDY + f'[[checks]]\nid = "c"\nstatement = "s"\nmetric = "{metric}"\n{check}\n')
    words = ["run", str(path), "--small", "--fixed", "--no-report", "--out", str(tmp_path / "run")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert asked == [minds] * 2


@pytest.mark.usefixtures("fake_engine")
def test_a_finished_study_has_nothing_left_to_do(tmp_path: Path) -> None:
    path, out = written(tmp_path), tmp_path / "run"
    words = ["run", path, "--no-report", "--out", str(out)]
    assert CliRunner().invoke(app, words).exit_code == 0
    before = {p: p.stat().st_mtime_ns for p in out.glob("trials/*/manifest.json")}
    assert len(before) == 4
    for again in (words, ["run", "--resume", str(out), "--no-report"]):
        result = CliRunner().invoke(app, again)
        assert result.exit_code == 0, result.output
        assert "4 of 4 trials are done" in result.stderr
    assert {p: p.stat().st_mtime_ns for p in out.glob("trials/*/manifest.json")} == before
    assert "is a run of another plan" in fault("run", path, "--set", "seed=3", "--out", str(out))


def test_what_does_not_go_with_resume(tmp_path: Path) -> None:
    assert "--resume goes on with the study as it was" in fault("run", written(tmp_path), "--resume", "r")
    assert "cannot be read" in fault("run", "--resume", str(tmp_path / "nowhere"))
    assert "--disturbed goes with --resume" in fault("run", written(tmp_path), "--disturbed")
    assert "Missing argument 'STUDY'" in fault("run")


def test_a_dry_run_of_a_sweep_says_what_it_assumes(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["run", written(tmp_path), "--dry-run"])
    assert "4 trials of 2 points, order random, reset fresh; nothing was started" in result.stdout
    assert "assumed: null: serves after 0 s" in result.stdout


@pytest.mark.parametrize(("cores", "told"), [(2, True), (13, True), (14, False)])
def test_quotas_that_the_host_cannot_keep_are_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int, told: bool
) -> None:
    monkeypatch.setattr(LocalHost, "abilities", lambda _: Abilities(cores, 1))
    said = '[system]\nkind = "hbase"\nnodes = 3\nlimits = { cpu = 4.0 }\nmaster_limits = { cpu = 0.5 }\n'
    (tmp_path / "large.toml").write_text(said + '[workload]\nbase = "a"\n')
    words = ["run", str(tmp_path / "large.toml"), "--dry-run"]
    line = f"1 of 1 trials would not count: CPU quotas of their nodes sum to 12.5 cores, of the {cores} of"
    assert (line in CliRunner().invoke(app, words).stdout) is told
    assert line not in CliRunner().invoke(app, [*words, "--server-hosts", "a,b,c"]).stdout


@pytest.mark.parametrize(
    ("memory_gib", "free_gib", "told"),
    [(23, 500, ["memory"]), (64, 20, ["disk"]), (64, 500, []), (8, 1, ["memory", "disk"])],
)
def test_memory_and_disk_that_are_not_there_are_told(
    tmp_path: Path, memory_gib: int, free_gib: int, told: list[str]
) -> None:
    said = '[system]\nkind = "cassandra"\nnodes = 3\nlimits = { cpu = 1.0, memory_mib = 15360 }\n'
    (tmp_path / "s.toml").write_text(said + '[workload]\nbase = "a"\nrecords = 10_000_000\n')
    lines = shortages(trials(read_study(tmp_path / "s.toml")), Room(64, memory_gib << 30, free_gib << 30))
    assert [next(word for word in ("memory", "disk") if f"of {word}" in line) for line in lines] == told
    assert all(line.startswith("warning: ") for line in lines)


@pytest.mark.parametrize(
    ("system", "told"),
    [
        ('kind = "null"', 0),
        ('kind = "hosts"\nhosts = ["127.0.0.1"]', 0),
        ('kind = "hbase"\nlimits = { memory_mib = 1024 }\nmaster_limits = { memory_mib = 1024 }', 1),
        ('kind = "cassandra"', 0),
    ],
)
def test_only_what_our_own_nodes_may_use_is_told(tmp_path: Path, system: str, told: int) -> None:
    (tmp_path / "s.toml").write_text(f'[system]\n{system}\n[workload]\nbase = "a"\n')
    lines = shortages(trials(read_study(tmp_path / "s.toml")), Room(1, 1536 << 20, 500 << 30))
    assert len(lines) == told
    assert all("2.0 GiB of memory" in line for line in lines)


def test_studies_are_listed_and_shown() -> None:
    listed = CliRunner().invoke(app, ["studies", "list"])
    assert "noise-floor" in listed.stdout
    shown = CliRunner().invoke(app, ["studies", "show", "noise-floor"])
    assert shown.exit_code == 0, shown.output
    assert ["workload.records", "100000", "20000"] in [
        line.split()[1::2] for line in shown.stdout.splitlines()
    ]
    assert "did you mean 'noise-floor'" in fault("studies", "show", "noise-flor")


def test_what_the_small_form_does_not_reach_stands_beside_the_claim() -> None:
    shown = {name: said for name, *said in rows(*both_forms(find_study("cs4224-2014/graphs")))}
    assert shown["claim greatest-read-cassandra"][1] == "clients 512 and target 80000 left out"
    assert shown["claim 8-threads"][1] == "target 100 to 16000 measured, 6000 to 36000 claimed"
    assert shown["check few-threads"][1] == "="


def test_the_schema_is_json() -> None:
    assert json.loads(CliRunner().invoke(app, ["studies", "schema"]).stdout)["title"] == "Steelyard study"
