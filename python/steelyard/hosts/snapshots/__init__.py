"""Loaded data, kept: the files of a cluster at rest, put back for the next trial instead of a new load.

`files` knows which of a node's files are kept and how: one inode for both where nothing ever writes to it
again, a copy of everything else. `checksums` proves that they have not changed since. `store` is the folder
of all snapshots: none is ever half there, each says what shaped it. Which files a system has, and when they
are at rest, is the system's own affair.
"""

from steelyard.hosts.snapshots.checksums import SnapshotChangedError
from steelyard.hosts.snapshots.files import Rules
from steelyard.hosts.snapshots.store import Restored, Snapshot

__all__ = ["Restored", "Rules", "Snapshot", "SnapshotChangedError"]
