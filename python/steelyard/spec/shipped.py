"""Files that come with Steelyard, studies and papers: found in a checkout and where a wheel has put them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from steelyard.errors import InputError, nearest

ROOTS = (Path(__file__).resolve().parents[3], Path(sys.prefix) / "share" / "steelyard")
"""Of a checkout, and of an installed wheel."""


def shipped_folder(name: str) -> Path | None:
    """`studies` or `papers`, where this installation has it."""
    return next((root / name for root in ROOTS if (root / name).is_dir()), None)


def shipped() -> dict[str, Path]:
    """Name -> file; a study in a folder is called FOLDER/NAME."""
    folder = shipped_folder("studies")
    return dict(_studies(folder)) if folder else {}


def _studies(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*.toml")):
        yield path.relative_to(folder).with_suffix("").as_posix(), path


def find_study(word: str) -> Path:
    """The file that a word means: a path, or a shipped study's name.

    Raises:
        InputError: it is neither; the nearest shipped name is told.
    """
    path = Path(word)
    if path.exists() or path.suffix == ".toml":
        return path
    known = shipped()
    if word not in known:
        raise InputError(
            f"no study '{word}'{nearest(word, known)}",
            hint="give a TOML file, or a name of `steelyard studies list`",
        )
    return known[word]
