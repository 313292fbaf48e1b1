"""Servers from their published Maven artifacts: fetched once into the cache, complete or not at all."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from steelyard.errors import InfrastructureError, InputError, MissingToolError
from steelyard.folders import cache_folder

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>steelyard</groupId><artifactId>servers</artifactId><version>1</version>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""
DEPENDENCY = (
    "    <dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{}</dependency>"
)
EXCLUSION = "<exclusion><groupId>{}</groupId><artifactId>{}</artifactId></exclusion>"
FREE_BYTES_MIN = 300 << 20
NEEDS_NETWORK = "the first start of a version needs the network (or a mirror in ~/.m2/settings.xml)"
HINTS = {
    "No space left": "free some disk space",
    "Unknown host": NEEDS_NETWORK,
    "Connection refused": NEEDS_NETWORK,
    "timed out": "the network is slow or closed; try again, or name a mirror in ~/.m2/settings.xml",
    "offline": "Maven is in offline mode and has not got this version yet",
}


@dataclass(frozen=True)
class Jars:
    """Jars of one folder, in the order of the class path."""

    folder: Path
    names: tuple[str, ...]

    @property
    def paths(self) -> list[Path]:
        """Each with its folder."""
        return [self.folder / name for name in self.names]


def cached(name: str) -> Jars | None:
    """The jars of that name, if they have been fetched."""
    folder = _folder(name)
    return Jars(folder, tuple(sorted(jar.name for jar in folder.glob("*.jar")))) if folder.exists() else None


def _folder(name: str) -> Path:
    return cache_folder() / "servers" / name


def fetch(name: str, coordinates: Sequence[str], without: Sequence[str] = ()) -> Jars:
    """The jars of these artifacts and all they depend on, fetched where they are not in the cache.

    Args:
        name: names the folder in the cache, e.g. "cassandra-5.0.7".
        coordinates: "group:artifact:version" each.
        without: "group:artifact" of what they name and must not get.

    Raises:
        MissingToolError: no Maven. InputError: no such version. InfrastructureError: no network, no disk, ...
    """
    folder = _folder(name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _fetch_into(folder, coordinates, without)
    found = cached(name)
    if found is None:
        raise InfrastructureError(f"{folder} was removed as soon as it was fetched")
    return found


def _fetch_into(folder: Path, coordinates: Sequence[str], without: Sequence[str]) -> None:
    if not shutil.which("mvn"):
        raise MissingToolError(
            f"no Maven (mvn), which fetches {folder.name}", hint="install maven, e.g. apt-get install maven"
        )
    if shutil.disk_usage(folder.parent).free < FREE_BYTES_MIN:
        raise InfrastructureError(
            f"less than 300 MiB free below {folder.parent}", hint="free some disk space"
        )
    partial = folder.with_name(f"{folder.name}.partial.{os.getpid()}")
    try:
        (partial / "lib").mkdir(parents=True)
        (partial / "pom.xml").write_text(pom(coordinates, without))
        _run_maven(partial, folder.name, coordinates)
        (partial / "lib").replace(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _run_maven(partial: Path, name: str, coordinates: Sequence[str]) -> None:
    words = ["mvn", "-q", "-B", "-f", str(partial / "pom.xml"), "dependency:copy-dependencies"]
    options = [f"-DoutputDirectory={partial / 'lib'}", "-DincludeScope=runtime"]
    done = subprocess.run([*words, *options], capture_output=True, text=True, check=False)
    if done.returncode == 0 and any((partial / "lib").glob("*.jar")):
        return
    why = next(
        (line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line), "no reason given"
    )
    for sign, hint in HINTS.items():
        if sign.lower() in why.lower():
            raise InfrastructureError(f"Maven could not fetch {name}: {why}", hint=hint)
    if "Could not find artifact" in why:
        raise InputError(f"no such version: {', '.join(coordinates)}", hint="is the version spelt right?")
    raise InfrastructureError(f"Maven could not fetch {name}: {why}", hint="run `mvn -v`, and try again")


def pom(coordinates: Sequence[str], without: Sequence[str] = ()) -> str:
    """A project that depends on these artifacts and nothing else; none of them gets what is in `without`."""
    refused = "".join(EXCLUSION.format(*map(escape, artifact.split(":"))) for artifact in without)
    exclusions = f"<exclusions>{refused}</exclusions>" if refused else ""
    lines = [DEPENDENCY.format(*map(escape, found.split(":")), exclusions) for found in coordinates]
    return POM.format(dependencies="\n".join(lines))
