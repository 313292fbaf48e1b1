"""The list of checksums beside a snapshot: that it is, byte for byte, what was taken.

Its form is that of `b2sum -l 256`, so that `b2sum -c CHECKSUMS` in the snapshot's folder checks it, too.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from steelyard.errors import InfrastructureError

DIGEST_BYTES = 32
PIECE_BYTES = 1 << 20
TOLD = 3
"""So many files are named when a snapshot has changed."""


class SnapshotChangedError(InfrastructureError):
    """A snapshot is not what was taken; every trial that needs it would meet that again."""


def digest(path: Path) -> str:
    """BLAKE2b of a file, 256 bits, as hex digits."""
    found = hashlib.blake2b(digest_size=DIGEST_BYTES)
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            found.update(piece)
    return found.hexdigest()


def digests(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """Path -> digest, on as many cores as there are; raises OSError when a file cannot be read."""
    listed = list(paths)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return dict(zip(listed, pool.map(lambda path: digest(root / path), listed), strict=True))


def text(found: Mapping[str, str]) -> str:
    """The list as `b2sum` writes it."""
    return "".join(f"{value}  {path}\n" for path, value in sorted(found.items()))


def parse(listed: str) -> dict[str, str]:
    """Path -> digest of a list; lines of another form are left out, so that their files are too many."""
    rows = (line.partition("  ") for line in listed.splitlines())
    return {path: value for value, _, path in rows if path}


def check(root: Path, listed: Mapping[str, str], there: Iterable[str]) -> None:
    """See that the files below `root` are those of the list, and hold what they held.

    Args:
        root: the snapshot's folder.
        listed: path -> digest.
        there: the paths of the files that are there.

    Raises:
        SnapshotChangedError: naming the first files that are missing, too many, or different.
    """
    found = set(there)
    faults = [f"{path} is missing" for path in sorted(listed.keys() - found)]
    faults += [f"{path} was not there" for path in sorted(found - listed.keys())]
    if not faults:
        now = digests(root, listed)
        faults = [f"{path} has other content" for path, value in sorted(listed.items()) if now[path] != value]
    if faults:
        more = f" and {len(faults) - TOLD} more" if len(faults) > TOLD else ""
        raise SnapshotChangedError(
            f"the snapshot {root.name} is not what was taken: {'; '.join(faults[:TOLD])}{more}",
            hint=f"`steelyard snapshots rm {root.name}` removes it; the next run loads the data anew",
        )
