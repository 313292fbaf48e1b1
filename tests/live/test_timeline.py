"""A timeline of the user's own commands, on the real engine: what kubectl would be is a shell script here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psutil
from bench_command import Command

pytest_plugins = ["bench_fixtures"]
Start = Callable[[str], Command]

STUDY = """
repetitions = 1
[system]
kind = "embedded"
[workload]
base = "a"
records = 1000
[load]
target = 500
duration_s = 6
[factors]
timeline = ["none", "scale"]
[[timelines.scale]]
id = "out"
at = "1s"
do = "run"
command = ["sh", "-c", "echo scaling; : > SCALED"]
done = { command = ["test", "-e", "SCALED"], every = "100ms" }
[[timelines.scale]]
id = "bad"
after = "out"
do = "run"
command = ["sh", "-c", "echo quota exceeded; exit 4"]
[[timelines.scale]]
id = "slow"
after = "bad"
do = "run"
command = ["sleep", "12345"]
"""


def test_commands_of_the_users_own_change_a_system_while_it_serves(command: Start, tmp_path: Path) -> None:
    path = tmp_path / "scale.toml"
    path.write_text(STUDY.replace("SCALED", str(tmp_path / "scaled")))
    one = command(f"run {path}")
    assert one.end() == 0, one.stderr
    without, with_ = sorted(one.result().trials, key=lambda trial: len(trial.manifest["trial"]["timeline"]))
    assert without.actions().rows == ()
    assert not (without.path / "actions.ndjson").exists()
    out, bad, slow = with_.actions().each()
    assert [out.how, bad.how, slow.how] == ["done", "failed", "unfinished"]
    assert bad.reason == "sh ended with status 4: quota exceeded"
    told = f"the first: trial {with_.path.name}, bad: failed: {bad.reason}"
    assert f"in 1 of 2 trials actions were not done; {told}" in one.stdout
    began_ns = next(phase["start_ns"] for phase in with_.manifest["phases"] if phase["name"] == "run")
    assert out.requested_ns is not None
    assert out.ended_ns is not None
    assert began_ns + 10**9 <= out.requested_ns <= out.ended_ns
    assert (with_.path / "actions" / "out.txt").read_text().endswith("\nscaling\n")
    assert [mark["label"] for mark in with_.marks()] == [
        "out started", "out ended", "bad started", "bad ended", "slow started",
    ]  # fmt: skip
    assert with_.manifest["status"] == "done"
    assert {"kind": "action", "text": f"bad: ended: failed: {bad.reason}"} in with_.manifest["warnings"]
    assert not [p for p in psutil.process_iter(["cmdline"]) if "12345" in (p.info["cmdline"] or ())]
