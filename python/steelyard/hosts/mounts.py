"""File systems of our own, each in a file: a node's data on one can lose what was not synced to disk."""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from steelyard.errors import InfrastructureError, MissingToolError

HINT = "a file system of its own needs root and loop devices"
TOOLS = ("mkfs.ext4", "mount", "umount", "losetup")
LOOPS = Path("/dev/loop-control")
SHUTDOWN = 0x8004587D
"""EXT4_IOC_SHUTDOWN of ext4's ioctls: _IOR('X', 125, __u32)."""
NO_LOG_FLUSH = 2
"""EXT4_GOING_FLAGS_NOLOGFLUSH: not even its own log is written out."""
BUSY_LIMIT_S = 10.0
POLL_S = 0.05
TRIED_MIB = 8


def make(folder: Path, mib: int) -> None:
    """Mount a new, empty ext4 of `mib` MiB on a folder; its image lies beside it.

    Raises:
        MissingToolError: there is no mkfs.ext4. InfrastructureError: this user, or this kernel, may not.
    """
    if not shutil.which("mkfs.ext4"):
        raise MissingToolError("no `mkfs.ext4` program", hint="install e2fsprogs")
    image = image_of(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with image.open("wb") as file:
        file.truncate(mib << 20)
    _run("mkfs.ext4", "-q", "-F", "-m", "0", str(image))
    _run("mount", "-o", "loop", str(image), str(folder))
    (folder / "lost+found").rmdir()  # a check of the file system makes it again where it needs it
    sync(folder)


def image_of(folder: Path) -> Path:
    """Where the image of a folder's file system is."""
    return folder.with_name(f"{folder.name}.img")


def remove(folder: Path) -> None:
    """Unmount a folder, if anything is mounted there; the last file that is open there ends it."""
    while folder.is_mount():
        try:
            _run("umount", str(folder))
        except InfrastructureError:
            _run("umount", "--lazy", str(folder))


def sync(folder: Path) -> None:
    """Have all that is written to a folder's file system reach the disk. Raises InfrastructureError."""
    _run("sync", "--file-system", str(folder))


def stop(folder: Path) -> None:
    """Let nothing reach the disk of a folder any more: what was not synced is lost, as when its power fails.

    Every use of it fails from here on, until `start`. A system may have written some of it on its own before:
    Linux does after 5 s (names and sizes) to 30 s (what files hold).

    Raises:
        InfrastructureError: it is no ext4 of its own, or this user may not.
    """
    if not folder.is_mount():
        raise InfrastructureError(f"{folder} has no file system of its own", hint=HINT)
    try:
        with _opened(folder) as handle:
            fcntl.ioctl(handle, SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
    except OSError as error:
        raise InfrastructureError(
            f"the file system of {folder} cannot be shut down: {error.strerror}",
            hint="it needs root and ext4",
        ) from error


def start(folder: Path) -> None:
    """Mount a stopped file system again: as a machine that starts after a power failure does.

    Raises:
        InfrastructureError: somebody still uses it, or it cannot be mounted.
    """
    image = image_of(folder)
    until = time.monotonic() + BUSY_LIMIT_S
    while folder.is_mount():
        try:
            _run("umount", str(folder))
        except InfrastructureError:
            if time.monotonic() > until:
                raise
            time.sleep(POLL_S)
    while loop := _loop_of(image):  # else mounting it again would find the stopped one
        if time.monotonic() > until:
            raise InfrastructureError(
                f"{loop} still holds {image}: another process has its file system mounted for itself"
            )
        time.sleep(POLL_S)
    _run("mount", "-o", "loop", str(image), str(folder))


def why_not() -> str:
    """Why this user cannot have such file systems here, at a glance; empty when nothing speaks against it."""
    if os.geteuid() != 0:
        return "needs root"
    if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
        return f"no `{missing[0]}` program (e2fsprogs, util-linux)"
    return "" if LOOPS.exists() else "this kernel has no loop devices"


def why_not_tried() -> str:
    """As `why_not`, and a small one is made, stopped, started and removed."""
    if why := why_not():
        return why
    with tempfile.TemporaryDirectory(prefix="steelyard-") as made:
        folder = Path(made) / "disk"
        try:
            make(folder, TRIED_MIB)
            stop(folder)
            start(folder)
        except InfrastructureError as error:
            return error.message
        finally:
            remove(folder)
    return ""


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield handle
    finally:
        os.close(handle)


def _loop_of(image: Path) -> str:
    """The loop device that has an image, if one does."""
    return _run("losetup", "--noheadings", "--output", "NAME", "--associated", str(image)).strip()


def _run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InfrastructureError(f"`{' '.join(words)}` failed: {done.stderr.strip()}", hint=HINT)
    return done.stdout
