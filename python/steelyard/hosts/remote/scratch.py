"""Where a worker keeps files as long as it lives: a folder named after its process, in the user's cache.

Machines may share that cache, and containers a kernel, with equal pids in each of their namespaces: a folder
is named after its worker's namespace too, and says where its worker is.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path

from steelyard.folders import cache_folder
from steelyard.hosts import process
from steelyard.hosts.machine import Machine, this_machine

FOLDER, OWNER = "workers", "owner.json"


def scratch() -> Path:
    """This worker's own folder."""
    mine = process.own_identity()
    name = f"{mine.boot_id}_{this_machine().pid_namespace}_{mine.pid}_{mine.start_ticks}"
    return cache_folder() / FOLDER / name


def make_scratch() -> Path:
    """Make this worker's own folder."""
    folder = scratch()
    folder.mkdir(parents=True, mode=0o700)
    owner = {"machine": asdict(this_machine()), "process": asdict(process.own_identity())}
    (folder / OWNER).write_text(json.dumps(owner))
    return folder


def remove_scratch() -> None:
    """Remove this worker's own folder."""
    shutil.rmtree(scratch(), ignore_errors=True)


def remove_leftover() -> None:
    """Remove what workers have left that were killed."""
    for folder in leftover():
        shutil.rmtree(folder, ignore_errors=True)


def leftover() -> list[Path]:
    """Folders of workers of this machine, of an earlier boot too, that have been killed."""
    found = (cache_folder() / FOLDER).glob(f"*/{OWNER}")
    return sorted(path.parent for path in found if _has_ended(path))


def _has_ended(owner: Path) -> bool:
    """Whether a worker was here and has ended; where that cannot be judged from here it has not."""
    try:
        told = json.loads(owner.read_text())
        machine, worker = Machine(**told["machine"]), process.Identity(**told["process"])
    except (OSError, ValueError, TypeError, KeyError):
        return False
    return (machine.is_here() or machine.has_rebooted()) and not process.alive(worker)
