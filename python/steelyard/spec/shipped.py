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
    """The file that a word means: a path, or a shipped study's name, or its last part where one alone has it.

    Raises:
        InputError: it is none; the nearest shipped name is told, of a folder what is in it.
    """
    path = Path(word)
    if path.is_file() or path.suffix == ".toml":
        return path
    known = shipped()
    found = [word] if word in known else [name for name in known if name.endswith(f"/{word}")]
    if len(found) == 1:
        return known[found[0]]
    if path.exists():
        return path
    hint = "give a TOML file, or a name of `steelyard studies list`"
    inside = [name for name in known if name.startswith(f"{word.rstrip('/')}/")]
    if inside:
        raise InputError(f"'{word}' is a folder of studies: {', '.join(inside)}", hint="give one of them")
    if found:
        raise InputError(f"several studies are called '{word}': {', '.join(found)}", hint="give one of them")
    words = [*known, *(name.rpartition("/")[2] for name in known)]
    raise InputError(f"no study '{word}'{nearest(word, words)}", hint=hint)


def find_studies(word: str) -> dict[str, Path]:
    """Name -> file of each study that a word means: a folder of shipped ones, or what `find_study` finds."""
    known = shipped()
    inside = {name: path for name, path in known.items() if name.startswith(f"{word.rstrip('/')}/")}
    if inside and not Path(word).is_file():
        return inside
    path = find_study(word)
    return {next((name for name, file in known.items() if file == path), word): path}
