"""Which Steelyard this is."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path


def checkout() -> Path | None:
    """The repository this package runs from, or None when it is installed."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "Cargo.toml").is_file() and (root / "crates" / "engine").is_dir() else None


def version() -> str:
    """The version of the package; in a checkout that was never installed, what its Cargo.toml says."""
    try:
        return installed("steelyard")
    except PackageNotFoundError:
        root = checkout()
        text = (root / "Cargo.toml").read_text() if root else ""
        match = re.search(r'^version = "(.+)"', text, re.MULTILINE)
        return match[1] if match else "unknown"


@cache
def revision() -> str:
    """The version and, in a checkout, its commit as a local version (PEP 440): `0.1.0+g1a2b3c4d`.

    `.dirty` follows where a tracked file differs from it. The version alone where git knows no commit.
    """
    root = checkout()
    if root is None or not (root / ".git").exists():
        return version()
    command = ["git", "describe", "--always", "--dirty=.dirty", "--abbrev=8", "--exclude=*"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return version()
    return f"{version()}+g{done.stdout.strip()}"
