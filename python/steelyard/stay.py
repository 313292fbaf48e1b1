"""What a trial finds of its system, and what it leaves of it: trials of one group share a cluster."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.errors import InfrastructureError

DROP_CACHES = Path("/proc/sys/vm/drop_caches")


@dataclass
class Stay:
    """The state of a system between trials.

    Attributes:
        up: it is up already.
        loaded: it holds the records already.
        empties: its table is dropped before the load.
        keep: it stays up for the next trial, if this one goes well.
    """

    up: bool = False
    loaded: bool = False
    empties: bool = False
    keep: bool = False

    def driver(self, driver: dict[str, Any]) -> dict[str, Any]:
        """The plan's `driver` section, with `fresh` as this trial needs it."""
        if "fresh" not in driver:
            return driver
        return {**driver, "fresh": not self.loaded and (self.empties or driver["fresh"])}


def drop_page_cache() -> None:
    """Write what is dirty, then forget every clean page, directory entry and inode of this host.

    Raises:
        InfrastructureError: only root may.
    """
    subprocess.run(["sync"], check=False)
    try:
        DROP_CACHES.write_text("3\n")
    except OSError as error:
        raise InfrastructureError(
            f"cache = 'cold': the page cache cannot be dropped ({DROP_CACHES}: {error.strerror})",
            hint="run as root, or leave cache out of the study",
        ) from None
