"""The page cache of this machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

from steelyard.errors import InfrastructureError

DROP_CACHES = Path("/proc/sys/vm/drop_caches")


def drop() -> None:
    """Write what is dirty, then forget every clean page, directory entry and inode of this machine.

    Raises:
        InfrastructureError: only root may.
    """
    subprocess.run(["sync"], check=False)
    try:
        DROP_CACHES.write_text("3\n")
    except OSError as error:
        raise InfrastructureError(
            f"the page cache cannot be dropped, as the study's cache asks ({DROP_CACHES}: {error.strerror})",
            hint="run as root, or leave cache out of the study",
        ) from None
