"""A system, a workload and a report from elsewhere: what docs/extending.md promises, through the commands."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "extending.md").read_text()
BLOCK = re.compile(r"^```(\w+) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STUDY = """
repetitions = 1
reset = "truncate"
workload = { base = "WORKLOAD", records = 100 }
load = { operations = 1000 }
[systems.grain]
kind = "granary"
[systems.nothing]
kind = "null"
[factors]
barns = { levels = [2], only = "grain" }
"system.sync" = { levels = [false, true], only = "grain" }
"system.access.scoop" = { levels = [1, 2], only = "grain" }
"""


def blocks(name: str) -> str:
    """All blocks of the page with the name of a file."""
    return "\n".join(text for _, file, text in BLOCK.findall(PAGE) if file == name)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as pip leaves it: the module, and the entry point that the page says."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copy(HERE / "made_up_system.py", folder)
    points = tomllib.loads(blocks("pyproject.toml"))["project"]["entry-points"]
    info = folder / "granary-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: granary\nVersion: 1\n")
    lines = [
        f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in said.items()) for group, said in points.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return folder


def steelyard(
    package: Path, folder: Path, *words: str, exit_code: int = 0
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", "from steelyard.cli import app; app()", *words],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == exit_code, (done.returncode, done.stdout, done.stderr)
    return done


@pytest.fixture(scope="module")
def result(package: Path) -> Path:
    """A study of it beside another system, run."""
    (package / "s.toml").write_text(STUDY.replace("WORKLOAD", str(HERE / "made_up_workload.toml")))
    said = steelyard(package, package, "run", "s.toml", "--out", "result", "--no-report").stderr
    assert said.count("2 barns are open") == 2  # once for each `sync`; a scoop is the client's
    assert said.count("the barns are closed") == 2
    return package / "result"


@pytest.mark.parametrize("name", ["made_up_system.py", "made_up_workload.toml", "made_up_report.py"])
def test_the_page_shows_the_files(name: str) -> None:
    shown = [line for line in blocks(f"tests/unit/{name}").splitlines() if line]
    assert shown == [line for line in (HERE / name).read_text().splitlines() if line]


def test_it_is_known_to_the_study_format_and_to_help(package: Path) -> None:
    schema = json.loads(steelyard(package, package, "studies", "schema").stdout)
    assert schema["$defs"]["GranarySystem"]["properties"]["barns"]["default"] == 1
    assert schema["properties"]["system"]["anyOf"][0]["discriminator"]["mapping"]["granary"]
    assert "barns" in schema["properties"]["factors"]["description"]
    said = steelyard(package, package, "bench", "--help").stdout
    assert "Granary:\n  --barns <int>  Barns of the granary.\n" in said
    assert "null, embedded, cassandra, hbase, granary." in " ".join(said.split())


def test_bench_takes_its_flags_and_refuses_others(package: Path, tmp_path: Path) -> None:
    words = ("bench", "granary", "--operations", "100", "--records", "10", "--no-report", "--out", "r")
    steelyard(package, tmp_path, *words, "--barns", "3")
    nodes = json.loads((tmp_path / "r/trials/001/manifest.json").read_text())["system"]["nodes"]
    assert nodes == [{"name": "barn1"}, {"name": "barn2"}, {"name": "barn3"}]
    said = steelyard(package, tmp_path, "bench", "granary", "--tokens", "4", exit_code=2).stderr
    assert "--tokens does not apply to system of kind 'granary'" in said
    said = steelyard(package, tmp_path, "bench", "granary", "--barns", "0", exit_code=2).stderr
    assert said == "error: --barns 0 should be greater than 0\n"


def test_a_cluster_of_it_stays_until_it_is_taken_down(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_STATE", str(tmp_path / "state"))
    steelyard(package, tmp_path, "cluster", "up", "granary", "--barns", "1", "--name", "g")
    said = steelyard(package, tmp_path, "cluster", "status", "g").stdout
    steelyard(package, tmp_path, "cluster", "down", "g")
    assert re.search(r"barn1 +- +field +\d+ +up +mice", said), said
    assert "no clusters" in steelyard(package, tmp_path, "cluster", "list").stdout


def test_trials_that_differ_in_a_servers_setting_share_no_cluster(result: Path) -> None:
    rows = json.loads((result / "run.json").read_text())["trials"]
    groups = {(r["levels"]["system.sync"], r["group"]) for r in rows if r["system"] == "grain"}
    assert len(groups) == 2
    assert [r["status"] for r in rows] == ["done"] * 5


def test_it_is_watched_and_reported(package: Path, result: Path) -> None:
    steelyard(package, package, "report", str(result), "--format", "md", "--out", "r.md")
    said = (package / "r.md").read_text()
    assert "| A read asks | 1 grains at once | - |" in said
    assert "| A write is | until the mice come | none: nothing is stored |" in said
    assert "| Mice | 2 cats keep them away | - |" in said
    done = subprocess.run(
        [sys.executable, str(HERE / "made_up_report.py"), str(result)],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert "| grain | " in done.stdout
    assert "2 barns were watched." in done.stdout


def test_what_it_cannot_do_is_refused_before_the_start(package: Path, result: Path, tmp_path: Path) -> None:
    words = ("run", str(result.with_name("s.toml")), "--set", "reset=restore", "--out", "r")
    said = steelyard(package, tmp_path, *words, exit_code=2).stderr
    assert said.startswith("error: reset = 'restore': this system is of kind 'granary', which has no")
    assert "kinds that have it: cassandra, hbase" in said
    assert not (tmp_path / "r").exists()


def test_a_package_that_is_broken_keeps_nothing_from_working(tmp_path: Path) -> None:
    info = tmp_path / "bad-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[steelyard.systems]\na = bad:GONE\nb = bad:TWICE\nc = bad:PATH\n")
    text = (
        "from pathlib import Path as PATH\nfrom steelyard.systems.engine_kinds import Null\nTWICE = Null()\n"
    )
    (tmp_path / "bad.py").write_text(text)
    done = steelyard(tmp_path, tmp_path, "snapshots", "list")
    assert done.stderr.splitlines() == [
        "warning: the system bad:GONE of another package is left out: AttributeError: module 'bad' has no "
        "attribute 'GONE'",
        "warning: the system bad:TWICE of another package is left out: there is a system of kind 'null' "
        "already",
        "warning: the system bad:PATH of another package is left out: it is no SystemKind",
    ]


def test_a_result_can_be_read_where_the_package_is_missing(result: Path, tmp_path: Path) -> None:
    said = steelyard(tmp_path, tmp_path, "report", str(result), "--format", "md", "--out", "r.md")
    assert "Traceback" not in said.stderr
    assert "2,000 records" not in (tmp_path / "r.md").read_text()
    assert "until the mice come" in (tmp_path / "r.md").read_text()
