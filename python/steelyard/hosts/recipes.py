"""A folder that a command makes once, e.g. one that is formatted: kept in the cache, copied for each use."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import InfrastructureError
from steelyard.folders import cache_folder

LIMIT_S = 120.0
HERE = "{here}"
"""In files and words: the folder in which the command runs."""


@dataclass(frozen=True)
class Recipe:
    """How a folder is made.

    Attributes:
        name: of the folder in the cache; another recipe has another name.
        what: for messages, e.g. "a NameNode's directory".
        files: path -> text, written before.
        words: the command.
        result: the folder that it makes.
        sign: a file in it that is there once it is whole.
        log: a file in which it says what went wrong.
    """

    name: str
    what: str
    files: Mapping[str, str]
    words: Sequence[str]
    result: str
    sign: str
    log: str


def copy_made(recipe: Recipe, into: Path) -> None:
    """Put a copy of what a recipe makes into `into`, which is not there yet.

    Raises:
        InfrastructureError: the command failed.
    """
    made = cache_folder() / "servers" / recipe.name
    made.parent.mkdir(parents=True, exist_ok=True)
    with (made.parent / f".{made.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            _make(recipe, made)
    shutil.copytree(made, into)


def _make(recipe: Recipe, made: Path) -> None:
    here = made.with_name(f"{made.name}.partial.{os.getpid()}")
    try:
        for path, text in recipe.files.items():
            (here / path).parent.mkdir(parents=True, exist_ok=True)
            (here / path).write_text(text.replace(HERE, str(here)))
        words = [word.replace(HERE, str(here)) for word in recipe.words]
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, cwd=here, check=False)
        if done.returncode or not (here / recipe.result / recipe.sign).exists():
            said = [*_lines(here / recipe.log), *done.stderr.splitlines()]
            raise InfrastructureError(
                f"{recipe.what} could not be made: {said[-1] if said else 'no reason given'}"
            )
        (here / recipe.result).replace(made)
    except (OSError, subprocess.SubprocessError) as error:
        raise InfrastructureError(f"{recipe.what} could not be made: {error}") from error
    finally:
        shutil.rmtree(here, ignore_errors=True)


def _lines(log: Path) -> list[str]:
    return log.read_text(errors="replace").splitlines() if log.exists() else []
