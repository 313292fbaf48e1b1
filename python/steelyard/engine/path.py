"""Finding the engine's binary, and refusing one that is not of this source."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sysconfig
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from steelyard.errors import EngineError
from steelyard.version import checkout

NAME = "steelyard-engine"
PLAN_FORMAT = 2
HANDSHAKE_LIMIT_S = 20


@dataclass(frozen=True)
class Engine:
    """An engine that has shaken hands."""

    path: Path
    version: str
    source_hash: str


def find_engine() -> Engine:
    """The engine to use: STEELYARD_ENGINE, else the installation's own, else the one in the scripts folder.

    Raises:
        EngineError: there is none, or it is of another plan format or, in a checkout, of other sources.
    """
    path = engine_path()
    said = handshake(path)
    if said.get("plan_format") != PLAN_FORMAT:
        raise EngineError(
            f"{path} speaks plan format {said.get('plan_format')}, this Steelyard {PLAN_FORMAT}",
            hint="run `make build`, or install both from one release",
        )
    root = checkout()
    if root is not None and said.get("source_hash") != source_hash(root):
        raise EngineError(
            f"the engine at {path} is stale: it was built from other sources than those in {root}",
            hint="run `make build`",
        )
    return Engine(path, str(said.get("version")), str(said.get("source_hash")))


def engine_path() -> Path:
    """Where the engine's binary is."""
    found = Path(override) if (override := os.environ.get("STEELYARD_ENGINE")) else _installed()
    if not os.access(found, os.X_OK) or found.is_dir():
        raise EngineError(
            f"there is no engine at {found}", hint="`make build` makes it; STEELYARD_ENGINE names another"
        )
    return found


def _installed() -> Path:
    """The file this installation recorded: right for plain, editable and --user installs."""
    try:
        files = distribution("steelyard").files or ()
    except PackageNotFoundError:
        files = ()
    recorded = (Path(str(f.locate())).resolve() for f in files if f.name == NAME)
    return next(recorded, Path(sysconfig.get_path("scripts")) / NAME)


def handshake(path: Path) -> dict[str, Any]:
    """What the engine says of itself: `version`, `plan_format`, `source_hash`."""
    try:
        done = subprocess.run(
            [str(path), "handshake"], capture_output=True, text=True, timeout=HANDSHAKE_LIMIT_S, check=True
        )
        said = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise EngineError(
            f"{path} does not answer as an engine does: {error}", hint="run `make build`"
        ) from error
    if not isinstance(said, dict):
        raise EngineError(f"{path} does not answer as an engine does: {done.stdout.strip()[:200]!r}")
    return said


def source_hash(root: Path) -> str:
    """The hash that crates/engine/build.rs stamps into a binary built from these sources."""
    files = [root / "Cargo.toml", root / "Cargo.lock"]
    files += (f for f in (root / "crates").rglob("*") if f.suffix in (".rs", ".toml") and f.is_file())
    digest = hashlib.sha256()
    for name, file in sorted((str(f.relative_to(root)), f) for f in files):
        digest.update(name.encode() + b"\0")
        digest.update(file.read_bytes() if file.is_file() else b"")
        digest.update(b"\0")
    return digest.digest()[:8].hex()
