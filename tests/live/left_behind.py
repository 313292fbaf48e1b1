"""What is left of a cluster whose laboratory was killed."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from bench_command import END_WITHIN_S, ours

from steelyard.hosts import cgroup, namespaces


def _text(file: Path) -> str:
    """A file's text; empty where it has gone meanwhile."""
    with suppress(OSError):
        return file.read_text()
    return ""


def left_of(name: str, out: Path, state: Path) -> dict[str, list[str]]:
    """What there is of a cluster: processes, groups, namespaces, mounts, folders, its record among them."""
    spaces = namespaces.FOLDER.glob(f"sy-{name}-*") if namespaces.FOLDER.exists() else ()
    found = {
        "processes": ours(out),
        "groups": [
            str(path)
            for path in (*cgroup.MOUNT.glob(f"*/steelyard/{name}"), *cgroup.MOUNT.glob(f"steelyard/{name}"))
        ],
        "namespaces": [*map(str, spaces)],
        "mounts": [line for line in Path("/proc/mounts").read_text().splitlines() if str(out) in line],
        "loop devices": [
            str(file.parent.parent)
            for file in Path("/sys/block").glob("loop*/loop/backing_file")
            if str(out) in _text(file)
        ],
        "folders": [*map(str, out.glob("**/work")), *map(str, (state / "clusters").glob(f"{name}*"))],
    }
    return {what: some for what, some in found.items() if some}


def left_in_the_end(name: str, out: Path, state: Path) -> dict[str, list[str]]:
    """The same once an engine, which ends by itself when its standard input does, has had the time to."""
    until = time.monotonic() + END_WITHIN_S
    while (left := left_of(name, out, state)) and time.monotonic() < until:
        time.sleep(0.1)
    return left
