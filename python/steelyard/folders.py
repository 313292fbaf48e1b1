"""Where Steelyard keeps things of its own on this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from platformdirs import user_cache_dir, user_state_dir


def state_folder() -> Path:
    """`$STEELYARD_STATE`, else the user's state folder: what runs, snapshots, certificates."""
    return Path(os.environ.get("STEELYARD_STATE") or user_state_dir("steelyard"))


def cache_folder() -> Path:
    """`$STEELYARD_CACHE`, else the user's cache folder: what can be fetched or built again."""
    return Path(os.environ.get("STEELYARD_CACHE") or user_cache_dir("steelyard"))


def failed_folder(name: str) -> Path:
    """Where logs and configuration of a failed start are kept, without those of an earlier one."""
    folder = state_folder() / "failed" / name
    shutil.rmtree(folder, ignore_errors=True)
    return folder
