"""File systems of our own, each in a file: a node's data on one can lose what was not synced to disk."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from steelyard.errors import InfrastructureError, MissingToolError

HINT = "a file system of its own needs root and loop devices"


def make(folder: Path, mib: int) -> None:
    """Mount a new, empty ext4 of `mib` MiB on a folder; its image lies beside it.

    Raises:
        MissingToolError: there is no mkfs.ext4. InfrastructureError: this user, or this kernel, may not.
    """
    if not shutil.which("mkfs.ext4"):
        raise MissingToolError("no `mkfs.ext4` program", hint="install e2fsprogs")
    image = folder.with_name(f"{folder.name}.img")
    folder.mkdir(parents=True, exist_ok=True)
    with image.open("wb") as file:
        file.truncate(mib << 20)
    _run("mkfs.ext4", "-q", "-F", "-m", "0", str(image))
    _run("mount", "-o", "loop", str(image), str(folder))


def remove(folder: Path) -> None:
    """Unmount a folder, if anything is mounted there; the last file that is open there ends it."""
    while folder.is_mount():
        try:
            _run("umount", str(folder))
        except InfrastructureError:
            _run("umount", "--lazy", str(folder))


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InfrastructureError(f"`{' '.join(words)}` failed: {done.stderr.strip()}", hint=HINT)
