"""The agent's jar: compiled once per source with any JDK at hand, and kept in the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from steelyard.errors import InfrastructureError, MissingToolError
from steelyard.folders import cache_folder

SOURCE = Path(__file__).with_name("SteelyardAgent.java")
MANIFEST = "Manifest-Version: 1.0\r\nPremain-Class: SteelyardAgent\r\nAgent-Class: SteelyardAgent\r\n\r\n"


def agent_jar(javac: Path | None = None) -> Path:
    """The agent's jar, for `-javaagent:PATH=port=P,host=H`; compiled first where the cache has none.

    Args:
        javac: the compiler to use; None tries JAVA_HOME, PATH and /usr/lib/jvm in this order.

    Raises:
        MissingToolError: there is no JDK. A run can go on without the agent and the servers' metrics.
        InfrastructureError: every compiler found failed.
    """
    source = SOURCE.read_bytes()
    jar = cache_folder() / "agent" / f"steelyard-agent-{hashlib.sha256(source).hexdigest()[:16]}.jar"
    if not jar.exists():
        _build([javac] if javac else list(compilers()), jar)
    return jar


def compilers() -> Iterator[Path]:
    """Each javac there is: of JAVA_HOME, on PATH, in /usr/lib/jvm."""
    home = os.environ.get("JAVA_HOME")
    found = [Path(home, "bin", "javac")] if home else []
    if on_path := shutil.which("javac"):
        found.append(Path(on_path))
    found += sorted(Path("/usr/lib/jvm").glob("*/bin/javac"))
    seen: set[Path] = set()
    for path in found:
        if path.is_file() and path.resolve() not in seen:
            seen.add(path.resolve())
            yield path


def _build(candidates: list[Path], jar: Path) -> None:
    if not candidates:
        raise MissingToolError(
            "the metrics agent cannot be compiled: no javac in JAVA_HOME, on PATH or in /usr/lib/jvm",
            hint="install a JDK (`apt-get install default-jdk-headless`), or go on without server metrics",
        )
    jar.parent.mkdir(parents=True, exist_ok=True)
    failures = []
    for javac in candidates:
        with tempfile.TemporaryDirectory(dir=jar.parent) as folder:
            if (failure := _compile(javac, Path(folder))) is None:
                _pack(Path(folder), jar)
                return
        failures.append(f"{javac}: {failure}")
    raise InfrastructureError("the metrics agent does not compile: " + "; ".join(failures))


def _compile(javac: Path, into: Path) -> str | None:
    """Compile for Java 8; returns what the compiler said when it failed."""
    failure = ""
    for target in (
        ["--release", "8"],
        ["-source", "8", "-target", "8"],
    ):  # Java 8's own javac knows no --release
        command = [str(javac), *target, "-Xlint:-options", "-encoding", "UTF-8", "-d", str(into), str(SOURCE)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode == 0:
            return None
        failure = failure or done.stderr.strip()
    return failure


def _pack(classes: Path, jar: Path) -> None:
    """Write the jar beside its final name, then rename, so that nobody ever loads half of one."""
    made = classes / "agent.jar"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/MANIFEST.MF", MANIFEST)
        for path in sorted(classes.glob("*.class")):
            archive.write(path, path.name)
    made.replace(jar)
