"""A worker's process on another machine: `python -m steelyard.hosts.remote.worker`, its order on stdin.

It ends at once when the laboratory, or the way to it, is gone: at the end of its standard input, or with the
ssh session that started it. What it has started ends with it.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
import threading

from steelyard.hosts.remote.launch import Order
from steelyard.hosts.remote.scratch import make_scratch, remove_scratch

PR_SET_PDEATHSIG = 1
GONE = 3
"""Exit status when the laboratory is gone."""


def main() -> None:
    """Be a worker until the laboratory ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    order = Order.read(sys.stdin.buffer.readline())
    import dask

    dask.config.set(order.config)  # before `distributed` is imported
    threading.Thread(target=_end_with_input, daemon=True).start()
    asyncio.run(_work(order))
    remove_scratch()
    os._exit(0)


def _end_with_input() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    remove_scratch()
    os._exit(GONE)


async def _work(order: Order) -> None:
    from distributed import Worker

    async with Worker(
        order.scheduler, name=order.name, security=order.tls, local_directory=str(make_scratch() / "dask"),
        **order.options,
    ) as worker:  # fmt: skip
        print("UP", worker.address, flush=True)
        await worker.finished()


if __name__ == "__main__":
    main()
