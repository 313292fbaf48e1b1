"""Which Steelyard this is."""

from __future__ import annotations

import re
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
