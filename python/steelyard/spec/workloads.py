"""From a word to a workload: a letter of YCSB's core or a paper, a YCSB property file, or a TOML file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from steelyard.errors import InputError, nearest
from steelyard.spec import ycsb_file
from steelyard.spec.lines import Place, key_lines
from steelyard.spec.workload import CORE

Fragment = tuple[dict[str, Any], dict[Place, str]]
"""Settings as in a study file (`workload`, perhaps `load`), and where each was said."""


def find_workload(word: str, origin: str, folder: Path | None = None) -> Fragment:
    """The settings a workload's name or file stands for.

    Args:
        word: `a` ... `f`, `g`, `r`, `w`, `rs`, `rw`, `rsw`, or a file.
        origin: where the word was said.
        folder: relative files are looked for here; None = the working directory.

    Raises:
        InputError: neither a known name nor a readable file, or a file with a mistake in it.
    """
    if core := CORE.get(word.lower()):
        return {"workload": core.model_dump(mode="json", exclude_none=True)}, {}
    path = (folder or Path()) / word
    if not path.is_file():
        known = ", ".join(CORE)
        raise InputError(
            f"{origin}: no workload '{word}'{nearest(word, CORE)}",
            hint=f"workloads with a letter are {known}; anything else is a property file or a TOML file",
        )
    text = read_text(path)
    if path.suffix == ".toml":
        values, origins = parse_toml(path, text)
        values.setdefault("name", path.stem)
        return {"workload": values}, {("workload", *place): said for place, said in origins.items()}
    return ycsb_file.settings(path.name, ycsb_file.parse(path, text))


def read_text(path: Path) -> str:
    """A file's text; what hinders is an InputError that names the file."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def parse_toml(path: Path, text: str) -> Fragment:
    """A TOML file's values, and `path:line` of each key."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}") from None
    return values, {place: f"{path}:{line}" for place, line in key_lines(text).items()}
