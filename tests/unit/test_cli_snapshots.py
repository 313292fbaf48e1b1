"""`steelyard snapshots`: what is kept, whether it is what it was, and its removal."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.hosts.snapshots import Snapshot, store
from steelyard.systems.cassandra.data import RULES

LOAD = {"id": "0a", "created": "2026-01-02T03:04:05Z", "records": 12345, "seconds": 2.5, "run": "r"}


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two snapshots, of which the second cannot be read."""
    monkeypatch.setenv("STEELYARD_STATE", str(tmp_path / "state"))
    data = tmp_path / "nodes" / "node1" / "commitlog"
    data.mkdir(parents=True)
    (data / "a.log").write_bytes(bytes(10_000))
    for key in ("aa11", "bb22"):
        shape = {"result": {"version": "5.0.7"}}
        made = Snapshot(key, "cassandra", "c", "127.10.3", ("node1",), LOAD, shape, {})
        store.keep(made, tmp_path / "nodes", RULES)
    (store.folder() / "bb22" / "snapshot.json").write_text("[]")


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["snapshots", *words])
    assert "Traceback" not in result.output
    return result.exit_code, result.output


def test_all_are_listed_with_what_they_take() -> None:
    code, told = run("list")
    assert code == 0
    first, second = (line for line in told.splitlines() if line.split()[:1] in (["aa11"], ["bb22"]))
    assert first.split() == [
        "aa11",
        "cassandra",
        "5.0.7",
        "1",
        "12,345",
        "2026-01-02T03:04:05Z",
        *first.split()[-2:],
    ]
    assert float(first.split()[-2]) >= 10_000 / 1024
    assert "cannot be read" in second
    assert str(store.folder()) in told


def test_one_is_checked() -> None:
    assert run("check", "aa11") == (0, "aa11: 1 files are what they were\n")
    (store.folder() / "aa11" / "node1" / "commitlog" / "a.log").write_bytes(bytes(9_999) + b"!")
    code, told = run("check", "aa11")
    assert (code, "a.log has other content" in told, "snapshots rm aa11" in told) == (3, True, True)
    assert run("check", "bb22")[0] == 3


def test_they_are_removed() -> None:
    assert run("rm", "bb22") == (0, "bb22 is removed\n")
    code, told = run("rm", "aa12")
    assert (code, "no snapshot 'aa12' (did you mean 'aa11'?)" in told) == (2, True)
    assert run("rm")[0] == 2
    assert run("rm", "aa11", "--all")[0] == 2
    assert run("rm", "--all") == (0, "aa11 is removed\n")
    assert run("list") == (0, "no snapshots\n")
