"""What killed workers leave on a machine, judged where it can be."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from steelyard.hosts import process
from steelyard.hosts.machine import this_machine
from steelyard.hosts.remote import scratch


def test_folders_of_killed_workers_are_judged_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "cache_folder", lambda: tmp_path)
    here, me = this_machine(), process.own_identity()
    gone = replace(me, start_ticks=me.start_ticks - 1)
    cases = {
        "alive": (here, me),
        "killed": (here, gone),
        "elsewhere": (replace(here, pid_namespace=1), gone),
        "other-machine": (replace(here, hostname="other", boot_id="other"), replace(gone, boot_id="other")),
    }
    if here.machine_id:
        cases["rebooted"] = (replace(here, boot_id="before"), replace(me, boot_id="before"))
    for name, (machine, worker) in cases.items():
        folder = tmp_path / scratch.FOLDER / name
        folder.mkdir(parents=True)
        told = {"machine": asdict(machine), "process": asdict(worker)}
        (folder / scratch.OWNER).write_text(json.dumps(told))
    assert [path.name for path in scratch.leftover()] == sorted({"killed", "rebooted"} & set(cases))


def test_a_worker_says_whose_its_folder_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "cache_folder", lambda: tmp_path)
    folder = scratch.make_scratch()
    assert scratch.leftover() == []
    monkeypatch.setattr(process, "alive", lambda _worker: False)
    assert scratch.leftover() == [folder]


def test_workers_of_equal_pids_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Containers that share a cache, and begin at once: each is process 7 of its own."""
    monkeypatch.setattr(scratch, "cache_folder", lambda: tmp_path)
    first = scratch.make_scratch()
    here = this_machine()
    monkeypatch.setattr(scratch, "this_machine", lambda: replace(here, pid_namespace=here.pid_namespace + 1))
    assert scratch.make_scratch() != first
