"""A study on a real cluster whose trials begin with kept data, as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench_command import SCRIPT, Command

pytest_plugins = ["bench_fixtures"]
Start = Callable[[str], Command]

STUDY = """
question = "Do a load and its restores give the same?"
repetitions = 2
reset = "restore"
workload = { base = "c", records = 2000 }
[system]
kind = "cassandra"
profile = "quick"
[load]
operations = 2000
"""


def snapshots(words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), "snapshots", *words.split()],
        capture_output=True,
        text=True,
        check=False,
    )


def test_loaded_once_then_restored_also_by_another_run(command: Start, tmp_path: Path) -> None:
    path = tmp_path / "kept.toml"
    path.write_text(STUDY)
    one = command(f"run {path}")
    assert one.end() == 0, one.stderr
    assert sum("is loaded once" in line for line in one.lines) == 1
    trials = one.result().trials
    assert [t.manifest["data"]["how"] for t in trials] == ["restored", "restored"]
    assert [t.phases for t in trials] == [["run"], ["run"]]
    for trial in trials:
        summary = trial.summary("run")
        assert summary is not None
        assert (summary["ok"], summary["failed"], summary["verify"]["corrupt"]) == (2000, {}, 0)

    two = command(f"run {path} --set repetitions=1")
    assert two.end() == 0, two.stderr
    assert "nothing is loaded" in two.stderr
    [trial] = two.result().trials
    key = trial.manifest["data"]["snapshot"]
    assert trial.manifest["data"]["load"] == trials[0].manifest["data"]["load"]

    assert key in (told := snapshots("list").stdout)
    assert "2,000" in told
    assert snapshots(f"check {key}").returncode == 0
    assert snapshots(f"rm {key}").returncode == 0
    gone = snapshots(f"rm {key}")
    assert (gone.returncode, "there is no snapshot" in gone.stderr) == (2, True)
