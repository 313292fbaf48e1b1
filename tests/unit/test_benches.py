"""Benches start as their heads say, from any folder, and take the words of `steelyard bench`."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHES = Path(__file__).parents[2] / "benches"


def bench(name: str, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, str(BENCHES / name), *words],
        capture_output=True, text=True, check=False, cwd=folder, env=plain,
    )  # fmt: skip


@pytest.mark.parametrize(
    "name", sorted(path.name for path in BENCHES.glob("*.py") if path.name != "words.py")
)
def test_a_bench_starts_as_its_head_says(name: str, tmp_path: Path) -> None:
    done = bench(name, "--help", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"python benches/{name}" in (BENCHES / name).read_text()


def test_every_client_can_be_named_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(BENCHES))
    cql, ours = importlib.import_module("peers.cql"), importlib.import_module("peers.ours")
    monkeypatch.setattr(cql, "build_programs", lambda: tmp_path)
    monkeypatch.setattr(cql, "install_latte", lambda: tmp_path)
    task = ours.Task({}, 1, 1, 2, 1, 1)
    for name in cql.clients(task, None):
        assert cql.clients(task, None, name.split(",")).keys() == {"ours", name}


@pytest.mark.parametrize("name", ["restore.py", "startup.py"])
def test_a_word_that_is_none_is_named(name: str, tmp_path: Path) -> None:
    done = bench(name, "cassandra", "--node", "3", folder=tmp_path)
    assert done.returncode == 1
    assert "--node" in done.stderr
    assert "steelyard bench --help" in done.stderr
    assert "Traceback" not in done.stderr
