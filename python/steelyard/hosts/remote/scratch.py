"""Where a worker keeps files as long as it lives: a folder named after its process, in the user's cache."""

from __future__ import annotations

import shutil
from pathlib import Path

from steelyard.folders import cache_folder
from steelyard.hosts import process

FOLDER = "workers"


def scratch() -> Path:
    """This worker's own folder."""
    mine = process.own_identity()
    return cache_folder() / FOLDER / f"{mine.boot_id}_{mine.pid}_{mine.start_ticks}"


def make_scratch() -> Path:
    """Make this worker's own folder."""
    scratch().mkdir(parents=True, mode=0o700)
    return scratch()


def remove_scratch() -> None:
    """Remove this worker's own folder."""
    shutil.rmtree(scratch(), ignore_errors=True)


def remove_leftover() -> None:
    """Remove what workers have left that were killed."""
    for folder in leftover():
        shutil.rmtree(folder, ignore_errors=True)


def leftover() -> list[Path]:
    """Folders of workers of this boot that have been killed."""
    found = (cache_folder() / FOLDER).glob(f"{process.boot_id()}_*_*")
    return [path for path in found if not process.alive(_owner(path.name))]


def _owner(name: str) -> process.Identity:
    boot, pid, ticks = name.split("_")
    return process.Identity(int(pid), int(ticks), boot)
