"""A machine's files: written, read, listed and removed for whoever asks, by path on that machine."""

from __future__ import annotations

import os
import shutil
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import InputError
from steelyard.hosts.snapshots import Restored, Rules, Snapshot, store


@dataclass(frozen=True)
class Entry:
    """A file or folder: its path below the folder that was listed, with '/', and a file's size in bytes."""

    path: str
    size: int


class LocalFiles:
    """The files of this machine; see `Host`."""

    def put(self, path: Path, text: str) -> None:
        """Write a file, and make the folders above it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def put_secret(self, path: Path, content: bytes) -> None:
        """Write a file that its owner alone may read at any time, and make the folders above it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)

    def get(self, path: Path, start: int = 0) -> bytes:
        """What a file holds from a byte on; of a negative `start` the last so many."""
        with path.open("rb") as file:
            length = file.seek(0, 2)
            file.seek(max(0, length + start) if start < 0 else start)
            return file.read()

    def list(self, folder: Path, pattern: str = "**/*") -> list[Entry]:
        """What lies below a folder and matches; empty when there is no such folder."""
        found = []
        for path in sorted(folder.glob(pattern)):
            with suppress(OSError):  # a server may just have removed it
                size = path.stat().st_size if path.is_file() else 0
                found.append(Entry(path.relative_to(folder).as_posix(), size))
        return found

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it, where they are not there yet."""
        path.mkdir(parents=True, exist_ok=True)

    def remove(self, path: Path) -> None:
        """Remove a folder with all that is in it, if it is there."""
        shutil.rmtree(path, ignore_errors=True)

    def fetch(self, folder: Path, into: Path) -> None:
        """Copy a folder of the host into one of the caller's machine; nothing when there is none."""
        if folder.exists():
            shutil.copytree(folder, into, dirs_exist_ok=True)

    def get_member(self, archive: Path, name: str) -> bytes | None:
        """A file out of a jar; None when it has none of that name."""
        with zipfile.ZipFile(archive) as opened:
            return opened.read(name) if name in opened.namelist() else None

    def snapshot(self, key: str) -> Snapshot | None:
        """The kept data of a key, if there are any."""
        return store.find(key)

    def keep(self, snapshot: Snapshot, source: Path, rules: Rules) -> Snapshot:
        """Keep the files of a cluster that has stopped."""
        return store.keep(snapshot, source, rules)

    def restore(self, snapshot: Snapshot, rules: Rules, into: Path) -> Restored:
        """Put kept files, unchanged, into a new cluster's folder."""
        return store.restore(snapshot, rules, into)

    def drop_snapshot(self, key: str) -> None:
        """Remove kept data, if they are there."""
        with suppress(InputError):
            store.remove(key)

    def check_room(self, beside: Path, needed: int, loaded: int) -> None:
        """See that there is room for data to be loaded, and kept."""
        store.check_room(beside, needed, loaded)
