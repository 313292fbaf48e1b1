"""A study that ends when it is decided, on the real engine; interrupted in what was added, it goes on."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

from bench_command import Command

STUDY = """
repetitions = 4
seed = 5
[system]
kind = "embedded"
[workload]
base = "a"
records = 300
[load]
operations = 2000
clients = 1
[factors]
field-length = [20, 2000]
[[claims]]
id = "LARGE"
statement = "Values a hundred times as large are slower."
metric = "ok_per_s"
unsteady = "so short a run has no steady state"
[claims.check]
kind = "ratio"
direction = "below"
numerator = { where = { field-length = 2000 } }
denominator = { where = { field-length = 20 } }
"""


def said(out: Path) -> dict[str, Any]:
    return json.loads((out / "run.json").read_text())  # type: ignore[no-any-return]


def test_four_repetitions_become_six(tmp_path: Path) -> None:
    """Four decide no claim, two more of each point do: a difference of several times."""
    path, out = tmp_path / "large.toml", tmp_path / "run"
    path.write_text(STUDY)
    one = Command(f"run {path} --budget 5m", out)
    one.until(lambda line: "trial 10 of 12" in line)
    one.process.send_signal(signal.SIGINT)
    assert one.end() == 130, one.stderr
    assert "4 trials are added for LARGE" in one.stderr
    assert [look["claims"][0]["further"] for look in said(out)["looks"]] == [2]

    again = Command(f"run {path} --budget 5m", out)
    assert again.end() == 0, again.stderr
    assert "1 of 1 claims are decided" in again.stderr
    rows = said(out)["trials"]
    assert [row["look"] for row in rows] == [None] * 8 + [1] * 4
    assert {row["status"] for row in rows} == {"done"}
    assert [look["claims"][0]["further"] for look in said(out)["looks"]] == [2, 0]
