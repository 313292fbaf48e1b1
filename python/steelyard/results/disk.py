"""Writing files so that what stands under a name is whole, and a full disk is said in words."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from steelyard.errors import InfrastructureError, InputError

FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn what the disk refuses inside into an InfrastructureError that names the folder."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise InfrastructureError(
                f"the disk of {folder} is full", hint="make room; what was written before is kept there"
            ) from error
        raise InfrastructureError(f"{folder} cannot be written: {error.strerror or error}") from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name to write to beside `path`; it takes its place when all went well, and is removed otherwise."""
    beside = path.with_name(path.name + ".new")
    with writing(path.parent):
        try:
            yield beside
            beside.replace(path)
        except BaseException:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            raise


def write_atomically(path: Path, text: str) -> None:
    """Write a file that is either the old one or the whole new one, whatever happens meanwhile.

    Raises:
        InfrastructureError: the disk is full or refuses.
    """
    with replacing(path) as beside, beside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically; paths and other strangers become their text."""
    write_atomically(path, json.dumps(value, indent=1, default=str, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file that holds an object; what hinders is an InputError that names the file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: expected an object, found {type(found).__name__}")
    return found
