"""Studies whose trials begin with kept data, on the fake engine and a cluster that is a folder of files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

import pytest
from engine_fixtures import FakeEngine, Heard
from rich.console import Console

from steelyard.errors import InfrastructureError, Interrupted
from steelyard.hosts.local import LocalHost
from steelyard.hosts.say import Say
from steelyard.hosts.snapshots import store
from steelyard.lab.study import Outcome, conduct
from steelyard.report import text_report
from steelyard.spec.read import read_study
from steelyard.systems.base import Settled
from steelyard.systems.cassandra.data import RULES
from steelyard.systems.node import NodeSpec
from steelyard.systems.null import NullTestbed
from steelyard.systems.restorable import ROUNDS, Restorable
from steelyard.watch.target import WatchTarget

TEXT = """
repetitions = 3
reset = "restore"
workload = { base = "c", records = 10 }
[system]
kind = "cassandra"
[load]
duration_s = 0.01
[factors]
clients = [1]
"""
FILE = "data/ycsb/usertable-1/nb-1-big-Data.db"


class Bed(NullTestbed, Restorable):
    """A cluster of one node whose data are one file, written when it comes to rest."""

    kind = "cassandra"
    rules = RULES
    capabilities = frozenset({"snapshot"})
    calls: ClassVar[list[str]] = []
    faults: ClassVar[dict[str, Exception]] = {}
    block = "127.10.9"
    quiet = True

    def __init__(self, name: str, root: Path) -> None:
        super().__init__()
        self.host = LocalHost()
        self.name, self.folder = name, root / name
        self.specs = [NodeSpec(1, "node1", "127.10.9.1", self.folder / "node1")]

    def _done(self, what: str) -> None:
        self.calls.append(what)
        if error := self.faults.pop(what, None):
            raise error

    def up(self, say: Say) -> None:
        self._done("restored up" if self.origin else "empty up")
        self.put_back(say)
        self.wait_same(say)

    def down(self, _say: Say) -> None:
        self._done("down")
        shutil.rmtree(self.folder, ignore_errors=True)

    def driver(self) -> dict[str, Any]:
        return {"kind": "null", "fresh": False}

    def targets(self) -> Sequence[WatchTarget]:
        return []

    def shaped_by(self) -> dict[str, Any]:
        return {"version": "5.0.7"}

    def settle(self, _limit_s: float, _say: Say) -> Settled:
        return Settled(self.quiet, 0.0, "" if self.quiet else "2 compactions pending")

    def flush_all(self) -> None:
        self._done("rest")
        path = self.folder / "node1" / FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("ten records")

    def holding(self) -> dict[str, Any]:
        path = self.folder / "node1" / FILE
        return {"node1": {"files": path.exists(), "text": path.read_text()}}

    def leave(self, _say: Say) -> None:
        self._done("leave")


@pytest.fixture
def bed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fake_engine: FakeEngine) -> type[Bed]:
    fake_engine.mode("")
    monkeypatch.setenv("STEELYARD_STATE", str(tmp_path / "state"))
    Bed.calls, Bed.faults = [], {}
    for module in ("study", "bench", "datasets"):
        monkeypatch.setattr(f"steelyard.lab.{module}.create", lambda _, *, name, root, **__: Bed(name, root))
    return Bed


def go(folder: Path, run: str = "run", heard: Heard | None = None, **words: Any) -> Outcome:
    path = folder / "s.toml"
    path.write_text(TEXT)
    overrides = words.pop("overrides", ())
    return conduct(read_study(path, overrides), heard or Heard(), 1, folder / run, **words)


@pytest.mark.parametrize("changes", [1, 2, 99])
def test_data_are_flushed_until_that_changes_nothing(
    tmp_path: Path, bed: type[Bed], monkeypatch: pytest.MonkeyPatch, changes: int
) -> None:
    """What nodes hand over to each other after a flush lies in memory, and the next one writes it."""
    flush_all = Bed.flush_all

    def flush(self: Bed) -> None:
        flush_all(self)
        done = min(self.calls.count("rest"), changes)
        (self.folder / "node1" / FILE).write_text(f"written {done} times")

    monkeypatch.setattr(Bed, "flush_all", flush)
    monkeypatch.setattr(Bed, "idle_flush", True)
    one = bed("one", tmp_path)
    if changes > 2 * ROUNDS:
        with pytest.raises(InfrastructureError, match="still change after 5 flushes"):
            one.keep("key", {}, {}, print)
    else:
        kept = one.keep("key", {}, {}, print)
        assert kept.holding["node1"]["text"] == f"written {changes} times"


def manifests(folder: Path, part: str = "trials") -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob(f"{part}/*/manifest.json"))]


LOAD = ["empty up", "rest", "leave", "down"]
TRIAL = ["restored up", "down"]


def test_a_data_set_is_loaded_once_and_restored_for_every_trial(tmp_path: Path, bed: type[Bed]) -> None:
    heard = Heard()
    assert go(tmp_path, heard=heard).errors == []
    assert bed.calls == LOAD + 3 * TRIAL
    [key] = store.listed()
    found = manifests(tmp_path / "run")
    assert [[phase["name"] for phase in m["phases"]] for m in found] == [["run"]] * 3
    assert {m["data"]["how"] for m in found} == {"restored"}
    assert {m["data"]["snapshot"] for m in found} == {key}
    assert [e["detail"] for e in found[0]["timeline"] if e["event"] == "restore"] == [
        f"snapshot {key}, 10 records"
    ]
    assert all(m["timing"]["restore"] > 0 for m in found)
    assert sum("is loaded once" in line for line in heard.lines) == 1
    assert sum("nothing is loaded" in line for line in heard.lines) == 2
    assert not (tmp_path / "run" / "work").exists()
    text = StringIO()
    text_report(tmp_path / "run" / "trials" / "001", Console(file=text, width=200))
    assert (
        f"data restored from snapshot {key}, loaded {found[0]['data']['loading']['created']}"
        in text.getvalue()
    )


def test_trials_know_their_load_and_their_start(tmp_path: Path, bed: type[Bed]) -> None:  # noqa: ARG001
    go(tmp_path)
    said = [m["data"] for m in manifests(tmp_path / "run")]
    assert len({one["load"] for one in said}) == 1
    assert len({one["start"] for one in said}) == 3
    [load] = manifests(tmp_path / "run", "loads")
    assert (load["status"], load["data"]["how"]) == ("done", "loaded")
    assert load["data"]["load"] == said[0]["load"] == said[0]["loading"]["id"]
    assert load["data"]["start"] not in {one["start"] for one in said}
    rows = json.loads((tmp_path / "run" / "run.json").read_text())["trials"]
    assert len({row["data"] for row in rows}) == 1
    assert len({row["group"] for row in rows}) == 3


def test_another_run_finds_what_is_kept(tmp_path: Path, bed: type[Bed]) -> None:
    go(tmp_path)
    bed.calls.clear()
    assert go(tmp_path, "again").errors == []
    assert bed.calls == 3 * TRIAL
    assert not (tmp_path / "again" / "loads").exists()
    bed.calls.clear()
    assert go(tmp_path, "other", overrides=["seed=7"]).errors == []
    assert bed.calls == LOAD + 3 * TRIAL
    assert len(store.listed()) == 2


def test_a_changed_snapshot_ends_the_study_at_once(tmp_path: Path, bed: type[Bed]) -> None:
    go(tmp_path)
    [key] = store.listed()
    (store.folder() / key / "node1" / FILE).write_text("ten recordz")
    bed.calls.clear()
    [error] = go(tmp_path, "again").errors
    assert "other content" in error.message
    assert bed.calls == TRIAL  # no second try, no second trial
    [failed] = manifests(tmp_path / "again")
    assert (failed["status"], failed["phases"]) == ("failed", [])
    store.remove(key)
    assert go(tmp_path, "again", resume=True).errors == []
    assert {m["status"] for m in manifests(tmp_path / "again")} == {"done"}


def test_a_load_that_failed_is_tried_again_and_nothing_is_kept_of_it(tmp_path: Path, bed: type[Bed]) -> None:
    bed.faults = {"leave": InfrastructureError("node1 did not end")}
    assert go(tmp_path).errors == []
    assert bed.calls == [*LOAD, "down", *LOAD, *TRIAL * 3]  # the trial that found no data is taken down, too
    assert [m["status"] for m in manifests(tmp_path / "run", "loads")] == ["failed", "done"]
    row = json.loads((tmp_path / "run" / "run.json").read_text())["trials"][0]
    assert [(a["status"], a["reason"]) for a in row["attempts"]] == [("failed", "node1 did not end")]
    assert len(store.listed()) == 1


def test_an_interrupted_load_goes_on_with_a_new_one(tmp_path: Path, bed: type[Bed]) -> None:
    bed.faults = {"rest": Interrupted("interrupted")}
    assert go(tmp_path).interrupted
    assert store.listed() == []
    assert not go(tmp_path, resume=True).interrupted
    assert {m["status"] for m in manifests(tmp_path / "run")} == {"done"}


def test_a_load_that_is_not_whole_is_not_kept(
    tmp_path: Path, bed: type[Bed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.lab.trial.TrialRun._check_load", lambda *_: 9)
    outcome = go(tmp_path)
    assert {error.message for error in outcome.errors} == {
        "only 9 of 10 records were stored: that is not kept"
    }
    assert "rest" not in bed.calls
    assert store.listed() == []


def test_what_differs_after_a_restore_fails_the_trial(
    tmp_path: Path, bed: type[Bed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.systems.restorable.SAME_LIMIT_S", 0.0)
    go(tmp_path)
    monkeypatch.setattr(bed, "put_back", lambda self, _: (self.folder / "node1").mkdir(parents=True))
    outcome = go(tmp_path, "again")
    assert len(outcome.errors) == 3
    assert "not all of it can be told" in outcome.errors[0].message


def test_what_does_not_come_to_rest_is_not_kept(
    tmp_path: Path, bed: type[Bed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bed, "quiet", False)
    outcome = go(tmp_path, overrides=["repetitions=1"])
    assert "2 compactions pending" in outcome.errors[0].message
    assert store.listed() == []


def test_nothing_is_loaded_where_there_is_no_room(
    tmp_path: Path, bed: type[Bed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.hosts.snapshots.files.SPARE_BYTES", 1 << 62)
    outcome = go(tmp_path, overrides=["repetitions=1"])
    assert "MiB left" in outcome.errors[0].message
    assert "empty up" not in bed.calls
