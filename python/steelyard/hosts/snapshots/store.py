"""The folder of snapshots: taken whole or not at all, found by what shaped them, listed and removed.

A snapshot is `snapshots/KEY/` in the state folder: `snapshot.json`, `CHECKSUMS`, and a folder for each node.
It is written as `.KEY.partial` and renamed when it is complete; it is renamed back before it is removed. A
lock beside it says who takes, removes (alone) or reads it (together).
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from steelyard.errors import InfrastructureError, InputError, nearest
from steelyard.folders import state_folder
from steelyard.hosts.snapshots import checksums, files
from steelyard.hosts.snapshots.checksums import SnapshotChangedError
from steelyard.hosts.snapshots.files import Rules, Tree

FORMAT = 1
ABOUT, LIST = "snapshot.json", "CHECKSUMS"


@dataclass(frozen=True)
class Snapshot:
    """A kept data set, as snapshot.json says it (docs/format.md).

    Attributes:
        key: of everything that shaped it.
        kind: of system, e.g. "cassandra".
        cluster: the name of the cluster it was loaded on; Cassandra's files know it.
        block: the cluster's address block.
        nodes: names of its nodes.
        load: which load it was: `id`, `created`, `records`, `seconds`, `run`.
        shape: every setting that shaped it.
        holding: what the running cluster said of itself and its data at rest; said again after a restore.
        bytes: what its files hold.
        files: how many they are.
    """

    key: str
    kind: str
    cluster: str
    block: str
    nodes: tuple[str, ...]
    load: Mapping[str, Any]
    shape: Mapping[str, Any]
    holding: Mapping[str, Any]
    bytes: int = 0
    files: int = 0
    format: int = field(default=FORMAT)

    @property
    def folder(self) -> Path:
        """Where it is."""
        return folder() / self.key

    def tree(self, rules: Rules) -> Tree:
        """Its files now."""
        return files.scan(self.folder, self.nodes, rules)

    def check(self) -> None:
        """See that all its files are what they were, and no others are there; raises SnapshotChangedError."""
        try:
            sums = checksums.parse((self.folder / LIST).read_text())
        except (OSError, ValueError) as error:
            raise SnapshotChangedError(
                f"the snapshot {self.key} cannot be checked: {error}",
                hint=f"steelyard snapshots rm {self.key}",
            ) from error
        below = (path for node in self.nodes for path in (self.folder / node).rglob("*"))
        there = (path.relative_to(self.folder).as_posix() for path in below if not path.is_dir())
        checksums.check(self.folder, sums, there)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody removes it meanwhile. Raises InfrastructureError when it is being removed, or is gone."""
        with _locked(self.key, fcntl.LOCK_SH, f"the snapshot {self.key} is being removed"):
            if not (self.folder / ABOUT).exists():
                raise InfrastructureError(f"the snapshot {self.key} has been removed")
            yield


@dataclass(frozen=True)
class Restored:
    """What putting a snapshot back took: seconds, of checking and placing, and bytes copied and shared."""

    seconds: float
    copied_bytes: int
    shared_bytes: int


def folder() -> Path:
    """Where all snapshots are."""
    return state_folder() / "snapshots"


def find(key: str) -> Snapshot | None:
    """The snapshot of a key, if there is one; raises SnapshotChangedError for one that cannot be read."""
    path = folder() / key / ABOUT
    if not path.parent.exists():
        return None
    try:
        said = json.loads(path.read_text())
        if said.get("format") != FORMAT:
            raise ValueError(f"format {said.get('format')}, this Steelyard reads {FORMAT}")
        return Snapshot(**{**said, "nodes": tuple(said["nodes"])})
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise SnapshotChangedError(
            f"the snapshot {key} cannot be read: {error}", hint=f"steelyard snapshots rm {key}"
        ) from error


def listed() -> list[str]:
    """The keys of all snapshots that are whole; what a killed taker or remover has left is removed."""
    if not folder().is_dir():
        return []
    for left in folder().glob(".*.partial"):
        _remove_left(left)
    return sorted(path.name for path in folder().iterdir() if path.is_dir() and path.name[0] != ".")


def _remove_left(partial: Path) -> None:
    try:
        with _locked(partial.name[1:].removesuffix(".partial"), fcntl.LOCK_EX, "in use"):
            shutil.rmtree(partial, ignore_errors=True)
    except InfrastructureError:
        pass  # somebody is at work on it


def blocks() -> set[str]:
    """The address blocks that snapshots will want again."""
    found = set()
    for key in listed():
        try:
            snapshot = find(key)
        except SnapshotChangedError:
            continue
        if snapshot:
            found.add(snapshot.block)
    return found


def keep(snapshot: Snapshot, source: Path, rules: Rules) -> Snapshot:
    """Keep the files of a cluster that has stopped.

    Args:
        snapshot: what is to be said of them; sizes are filled in.
        source: the cluster's folder.
        rules: which files.

    Returns:
        The snapshot; the one that is there already, if somebody else was faster.

    Raises:
        InfrastructureError: no room, or the disk refuses. Nothing is left of it then.
    """
    tree = files.scan(source, snapshot.nodes, rules)
    partial = folder() / f".{snapshot.key}.partial"
    folder().mkdir(parents=True, exist_ok=True)
    with _locked(snapshot.key, fcntl.LOCK_EX, f"the snapshot {snapshot.key} is in use"):
        if earlier := find(snapshot.key):
            return earlier
        shutil.rmtree(partial, ignore_errors=True)
        files.check_room(tree, source, partial)
        try:
            partial.mkdir()
            files.place(tree, source, partial)
            sums = checksums.digests(partial, (file.path for file in tree.files))
            (partial / LIST).write_text(checksums.text(sums))
            whole = {**asdict(snapshot), "bytes": tree.bytes, "files": len(tree.files)}
            (partial / ABOUT).write_text(json.dumps(whole, indent=1, default=str) + "\n")
            partial.rename(snapshot.folder)
        except BaseException as error:
            shutil.rmtree(partial, ignore_errors=True)
            if isinstance(error, OSError):
                raise InfrastructureError(f"the snapshot could not be written: {error}") from error
            raise
    kept = find(snapshot.key)
    if kept is None:
        raise InfrastructureError(f"the snapshot {snapshot.key} was removed as soon as it was taken")
    return kept


def restore(snapshot: Snapshot, rules: Rules, into: Path) -> Restored:
    """Put the files of a snapshot, unchanged, into a new cluster's folder; nobody removes it meanwhile.

    Raises:
        SnapshotChangedError: it is not what was taken. InfrastructureError: it is gone, or there is no room.
    """
    began = time.monotonic()
    with snapshot.held():
        tree = snapshot.tree(rules)
        snapshot.check()
        files.check_room(tree, snapshot.folder, into)
        copied = files.place(tree, snapshot.folder, into)
    return Restored(time.monotonic() - began, copied, tree.bytes - copied)


def check_room(beside: Path, needed: int, loaded: int) -> None:
    """See, before hours are spent, that there is room for data that are loaded, and kept.

    Args:
        beside: a folder on the disk on which they are loaded.
        needed: bytes that loading takes there.
        loaded: bytes that they take in the end.

    Raises:
        InfrastructureError: there is not.
    """
    files.check_free(beside, needed)
    if not files.linkable(beside, folder()):
        files.check_free(folder(), loaded)


def get(key: str) -> Snapshot:
    """The snapshot of a key. Raises InputError if there is none, SnapshotChangedError as `find`."""
    found = find(key)
    if found is None:
        raise _no_such(key)
    return found


def _no_such(key: str) -> InputError:
    return InputError(
        f"there is no snapshot {key!r}{nearest(key, listed())}", hint="`steelyard snapshots list` shows all"
    )


def remove(key: str) -> None:
    """Remove a snapshot, also one that cannot be read.

    Raises:
        InputError: there is none. InfrastructureError: it is in use.
    """
    if key not in listed():
        raise _no_such(key)
    with _locked(key, fcntl.LOCK_EX, f"the snapshot {key} is in use"):
        partial = folder() / f".{key}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        (folder() / key).rename(partial)
        shutil.rmtree(partial)


@contextmanager
def _locked(key: str, how: int, else_: str) -> Iterator[None]:
    """Hold a snapshot's lock; raises InfrastructureError at once when others hold it otherwise."""
    try:
        descriptor = os.open(folder() / f".{key}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise InfrastructureError(f"{folder()} cannot be written: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InfrastructureError(else_, hint="try again when that process has ended") from None
        yield
    finally:
        os.close(descriptor)
