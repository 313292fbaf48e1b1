"""The class archive of the quick profile: a JVM that maps ready-made classes starts with a third less CPU.

It is made once for each Java build and set of jars, from the lists of classes that first servers loaded, and
kept in the user's cache. Without it everything works as well, a little later. It holds for one class path
only, in this order.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from steelyard.folders import cache_folder
from steelyard.hosts.java import Java

JAVA_LEAST = 17
"""Older runtimes differ in how they make one; they do without."""
MAKE_LIMIT_S = 120.0


def place(java: Java, jars: Sequence[Path]) -> Path:
    """Where the archive for this Java build and these jars is, or would be."""
    stamps = [f"{jar} {jar.stat().st_mtime_ns} {jar.stat().st_size}" for jar in jars]
    name = hashlib.sha256("\n".join([java.full, str(java.binary), *stamps]).encode()).hexdigest()[:16]
    return cache_folder() / "classes" / f"{name}.jsa"


def usable(profile: str, java: Java) -> bool:
    """Whether servers start from an archive, once there is one."""
    return profile == "quick" and java.major >= JAVA_LEAST


def find(java: Java, jars: Sequence[Path]) -> Path | None:
    """The archive for this Java build and these jars, if there is one."""
    archive = place(java, jars)
    return archive if archive.exists() else None


def options(archive: Path | None, classes: Path | None) -> list[str]:
    """A server's options: its archive; while there is none, its classes are listed in `classes`, if given."""
    if archive:
        return [f"-XX:SharedArchiveFile={archive}"]
    return [f"-XX:DumpLoadedClassList={classes}"] if classes else []


def make(java: Java, jars: Sequence[Path], lists: Sequence[Path]) -> bool:
    """Make the archive from lists of classes; says whether it is there. A failure costs only the gain."""
    archive = place(java, jars)
    archive.parent.mkdir(parents=True, exist_ok=True)
    partial = archive.with_name(f"{archive.name}.partial.{os.getpid()}")
    merged = partial.with_suffix(".lst")
    words = [
        str(java.binary),
        "-Xshare:dump",
        "-Xlog:disable",
        f"-XX:SharedClassListFile={merged}",
        f"-XX:SharedArchiveFile={partial}",
        "-XX:+UseSerialGC",
        "-cp",
        ":".join(map(str, jars)),
    ]
    with suppress(OSError, subprocess.SubprocessError):
        merged.write_text(_merged(lists))
        subprocess.run(words, capture_output=True, timeout=MAKE_LIMIT_S, check=True)
        partial.replace(archive)
    for path in (partial, merged):
        path.unlink(missing_ok=True)
    return archive.exists()


def _merged(lists: Sequence[Path]) -> str:
    lines = dict.fromkeys(line for path in lists for line in path.read_text().splitlines())
    return "\n".join(lines) + "\n"
