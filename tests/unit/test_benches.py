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


def test_what_many_hosts_take_is_computed_where_it_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHES))
    scale, rest, merging = map(importlib.import_module, ("fleet_scale", "scale.rest", "scale.merging"))
    found = [rest.Found("hosts", n, up_s=1 + n, memory_mib=100 + n / 10) for n in (1, 10, 100)]
    last = scale.computed(found)
    assert (last.count, last.up_s, last.memory_mib) == (1000, pytest.approx(1001), pytest.approx(200))
    rows = list(scale.rest_table("hosts", found))
    assert [row.split("|")[1].strip() for row in rows[4:-1]] == ["1", "10", "100", "1,000 (computed)"]
    assert scale.computed(found[:1]) is None
    merged = [merging.Merged(10, 60, took_s=0.6, cpu_s=0.5, memory_mib=40), merging.Merged(10, 3600)]
    told = list(scale.merge_table(merged))
    assert told[4:6] == [
        "| 10 | 0.60 | 36 (computed) |",
        "| 1,000 | 60 (computed) | 3,600 (computed) |",
    ]
    assert told[-1].startswith("0.83 ms of CPU for an engine's second")
    assert list(scale.merge_table([merging.Merged(10, 60)])) == []


@pytest.mark.parametrize("name", ["restore.py", "startup.py"])
def test_a_word_that_is_none_is_named(name: str, tmp_path: Path) -> None:
    done = bench(name, "cassandra", "--node", "3", folder=tmp_path)
    assert done.returncode == 1
    assert "--node" in done.stderr
    assert "steelyard bench --help" in done.stderr
    assert "Traceback" not in done.stderr
