"""Run folders: made once, written atomically, sealed, and a full disk said in words."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import InfrastructureError, InputError
from steelyard.results.clock import clock_pair, process_start_ns
from steelyard.results.disk import write_atomically, writing
from steelyard.results.store import RunFolder
from steelyard.spec.models import Study
from steelyard.spec.system import HostsSystem, NullSystem
from steelyard.spec.trials import trials
from steelyard.spec.workload import CORE


def study(**changes: Any) -> Study:
    return Study(**({"name": "x", "system": NullSystem(), "workload": CORE["a"], "repetitions": 2} | changes))


def create(out: Path | None, asked: Study | None = None) -> RunFolder:
    asked = asked or study()
    return RunFolder.create(asked, trials(asked), out)


def test_a_folder_from_planned_to_sealed(tmp_path: Path) -> None:
    folder = create(tmp_path / "run")
    said = json.loads((folder.path / "run.json").read_text())
    assert (said["format"], said["run"]) == (1, "run")
    assert [t["status"] for t in said["trials"]] == ["planned", "planned"]
    partial = folder.open_trial(1)
    assert partial.name == "001.partial"
    folder.seal(1)
    folder.mark(1, "failed", "no luck")
    said = json.loads((folder.path / "run.json").read_text())
    assert (said["trials"][0]["status"], said["trials"][0]["reason"]) == ("failed", "no luck")
    assert (folder.path / "trials" / "001").is_dir()
    assert not list(folder.path.glob("*.new"))


def test_an_existing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it exists already"):
        create(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="it exists already"):
        create(tmp_path / "file" / "run")


def test_two_runs_in_one_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.strftime", lambda _: "20260102-030405")
    assert [create(None).path.name for _ in range(3)] == [
        "20260102-030405-x", "20260102-030405-x-2", "20260102-030405-x-3",
    ]  # fmt: skip


def test_a_password_stands_nowhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2\n")
    system = HostsSystem(hosts=("10.0.0.1",), user="u", password_file=secret)
    folder = create(tmp_path / "run", study(system=system))
    for path in folder.path.rglob("*"):
        assert "hunter2" not in path.read_text()


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (errno.ENOSPC, "the disk of .* is full"),
        (errno.EDQUOT, "the disk of .* is full"),
        (errno.EROFS, "cannot be written: Read-only"),
    ],
)
def test_a_disk_that_refuses(tmp_path: Path, number: int, text: str) -> None:
    with pytest.raises(InfrastructureError, match=text), writing(tmp_path):
        raise OSError(number, os.strerror(number))


def test_what_was_written_survives_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    write_atomically(path, "old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InfrastructureError, match="is full") as caught:
        write_atomically(path, "new")
    assert str(tmp_path) in caught.value.message
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize(("age_s", "counts_s"), [(2.0, 2.0), (3600.0, 0.0)])
def test_a_process_began_when_it_was_started_unless_another_program_was(
    monkeypatch: pytest.MonkeyPatch, age_s: float, counts_s: float
) -> None:
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    monkeypatch.setattr("time.clock_gettime", lambda _clock: ticks / os.sysconf("SC_CLK_TCK") + age_s)
    assert clock_pair()["monotonic_ns"] - process_start_ns() == pytest.approx(counts_s * 1e9, abs=1e9)
