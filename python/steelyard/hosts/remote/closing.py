"""The end of a cluster that was made for us: awaited for so long, told apart from what a run has to say."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable

CLOSE_S = 120.0
"""A batch system or Kubernetes ends workers at its leisure."""


def close_in_time(name: str, close: Callable[[], object], limit_s: float = CLOSE_S) -> None:
    """Close a cluster; where that fails or takes too long a warning on stderr says so.

    Not every class takes a limit, and none keeps it for sure: so it is closed in a thread of its own.

    Args:
        name: what it is called.
        close: closes it.
        limit_s: so long it is waited for; it goes on behind.
    """
    said = [f"it was not closed within {limit_s:g} s"]

    def run() -> None:
        try:
            close()
        except (Exception, asyncio.CancelledError) as error:
            said[:] = [str(error) or type(error).__name__]
        else:
            said.clear()

    closing = threading.Thread(target=run, name="closing", daemon=True)
    closing.start()
    closing.join(limit_s)
    for text in said:
        print(f"warning: {name} may still run: {text}", file=sys.stderr)
