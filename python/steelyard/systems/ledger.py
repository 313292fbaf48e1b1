"""The lines of a study's ledger that the record of a kind fills in; it may have lines of its own, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steelyard.results.in_effect import InEffect

Line = Callable[[InEffect], Any]
"""What one line says of a system; None where it does not know."""

WRITTEN = "Written before the answer"
READ = "A read asks"
AGAIN = "After a failure"
"""Where an operation is sent again; part of the line on retries."""
BUFFERING = "Client buffering"
TIMESTAMPS = "Write timestamps"
SPREAD = "Data is spread"
CACHES = "Caches"
COMPRESSION = "Compression"
HEAP = "Heap"
"""Part of the line on memory."""
ROLES = "Roles"
