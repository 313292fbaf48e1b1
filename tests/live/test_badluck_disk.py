"""A disk that fills up while a bench runs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench_command import Command


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_the_folder_is_named_and_what_is_there_is_kept(small_disk: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    one = Command(f"bench embedded -w a --records 1000 --duration 4s --path {store}", small_disk / "run")
    assert one.end() == 3, one.stderr
    assert "Traceback" not in one.stderr
    assert f"cannot write to {small_disk}" in one.stderr or f"the disk of {small_disk}" in one.stderr
    said = json.loads((small_disk / "run" / "run.json").read_text())
    assert said["trials"][0]["status"] == "failed"
