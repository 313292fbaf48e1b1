"""Errors after which trying again is of no use."""

from __future__ import annotations

from steelyard.errors import InputError, LeftChangedError, MissingToolError
from steelyard.hosts.host import HostLostError
from steelyard.hosts.snapshots import SnapshotChangedError

HOPELESS = (InputError, MissingToolError, SnapshotChangedError, HostLostError, LeftChangedError)
"""Another attempt, and the next trial, would meet them again, or find a cluster that is not what it was."""
