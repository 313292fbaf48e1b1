"""Which files of a cluster's nodes a snapshot has, and how they get from one place to the other."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from steelyard.errors import InfrastructureError

SPARE_BYTES = 256 << 20
"""What must stay free on the disk beside a copy."""
NO_LINK = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP)
"""The file system has no second name for this file: another disk, or one that knows no hard links."""


def _none(_: PurePosixPath) -> bool:
    return False


@dataclass(frozen=True)
class Rules:
    """What of a node's folder makes up its data; of functions of modules, so that they can be sent to a host.

    Attributes:
        parts: the folders of a node that are kept; not all nodes need to have all.
        immutable: of a path below the node's folder, whether no server ever writes to that file again, so
            that snapshot and cluster can share it.
        left_out: whether a file is not kept, e.g. one that says who has the folder in use.
    """

    parts: tuple[str, ...]
    immutable: Callable[[PurePosixPath], bool]
    left_out: Callable[[PurePosixPath], bool] = _none


@dataclass(frozen=True)
class File:
    """A file: its path from the cluster's folder on ("node1/data/..."), its size, whether it is shared."""

    path: str
    size: int
    shared: bool


@dataclass(frozen=True)
class Tree:
    """Folders and files of all nodes, each sorted by path."""

    folders: tuple[str, ...]
    files: tuple[File, ...]

    @property
    def bytes(self) -> int:
        """What all files hold."""
        return sum(file.size for file in self.files)

    def copied_bytes(self, *, linkable: bool) -> int:
        """What a second place takes of the disk: what is not shared, or all where nothing can be linked."""
        return sum(file.size for file in self.files if not (linkable and file.shared))


def scan(root: Path, nodes: Iterable[str], rules: Rules) -> Tree:
    """The files of the nodes in ROOT/NODE that the rules keep.

    Raises:
        InfrastructureError: there is what is neither file nor folder.
    """
    folders: list[str] = []
    files: list[File] = []
    for node in nodes:
        for part in rules.parts:
            for path in _below(root / node / part):
                inside = PurePosixPath(path.relative_to(root / node))
                if path.is_symlink() or not (path.is_dir() or path.is_file()):
                    raise InfrastructureError(f"{path} is neither file nor folder, and cannot be kept")
                if path.is_dir():
                    folders.append(f"{node}/{inside}")
                elif not rules.left_out(inside):
                    files.append(File(f"{node}/{inside}", path.stat().st_size, rules.immutable(inside)))
    return Tree(tuple(sorted(folders)), tuple(sorted(files, key=lambda file: file.path)))


def _below(folder: Path) -> list[Path]:
    return [folder, *folder.rglob("*")] if folder.exists() else []


def linkable(source: Path, target: Path) -> bool:
    """Whether two folders, which need not be there yet, are on one file system."""
    return _existing(source).stat().st_dev == _existing(target).stat().st_dev


def check_room(tree: Tree, source: Path, target: Path) -> int:
    """See that the disk has room for a second place; returns the bytes that it will take.

    Raises:
        InfrastructureError: it has not.
    """
    needed = tree.copied_bytes(linkable=linkable(source, target))
    check_free(target, needed)
    return needed


def check_free(folder: Path, needed: int) -> None:
    """See that so many bytes can be written below a folder, which need not be there yet.

    Raises:
        InfrastructureError: the disk has no room for them.
    """
    free = shutil.disk_usage(_existing(folder)).free
    if needed + SPARE_BYTES > free:
        raise InfrastructureError(
            f"{folder}: {needed >> 20} MiB are to be written there and {SPARE_BYTES >> 20} MiB to stay free, "
            f"but the disk has {free >> 20} MiB left",
            hint="`steelyard snapshots list` shows what is kept, `steelyard snapshots rm` removes it",
        )


def _existing(folder: Path) -> Path:
    return next(parent for parent in (folder, *folder.parents) if parent.exists())


def place(tree: Tree, source: Path, target: Path) -> int:
    """Put a tree's files from one root into another, where none of them is yet.

    Returns:
        Bytes that were copied; the others are shared.

    Raises:
        InfrastructureError: the disk refuses.
    """
    copied = 0
    try:
        for folder in tree.folders:
            (target / folder).mkdir(parents=True, exist_ok=True)
        for file in tree.files:
            copied += _place(file, source / file.path, target / file.path)
    except OSError as error:
        raise InfrastructureError(f"{source} could not be put to {target}: {error}") from error
    return copied


def _place(file: File, source: Path, target: Path) -> int:
    if file.shared:
        try:
            os.link(source, target)
        except OSError as error:
            if error.errno not in NO_LINK:
                raise
        else:
            return 0
    shutil.copy2(source, target)
    return file.size


def used_bytes(folder: Path) -> int:
    """What a folder takes of the disk, files that are shared with others included."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))
