"""A class of Dask's clusters that is this house's own, as a study's `cluster` names one: for tests.

Each worker is a process with a namespace of processes of its own, so that it counts as a machine.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from distributed import Scheduler, SpecCluster
from distributed.deploy.spec import ProcessInterface

APART = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
WORKER = [
    sys.executable,
    "-m",
    "distributed.cli.dask_worker",
    "--no-nanny",
    "--no-dashboard",
    "--nthreads",
    "1",
]


class OwnWorker(ProcessInterface):  # type: ignore[misc]  # Dask has no types
    """A worker; `name` as Dask gives it."""

    def __init__(self, scheduler: str, name: Any = None, folder: str = "") -> None:
        super().__init__()
        self.name, self._words = name, [*APART, *WORKER, "--name", str(name), scheduler]
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with Path(self._folder, f"worker-{self.name}.log").open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._words, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._folder
            )
        await super().start()

    async def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            await self._process.wait()
        await super().close()


class OwnCluster(SpecCluster):  # type: ignore[misc]  # Dask has no types
    """Workers on this machine.

    Args:
        folder: receives what they say, and `closed` when the cluster is.
        fails: it cannot be scaled.
    """

    def __init__(self, folder: str, *, fails: bool = False) -> None:
        self._folder, self._fails = folder, fails
        Path(folder, "owner").write_text(str(os.getpid()))
        super().__init__(
            scheduler={"cls": Scheduler, "options": {"host": "127.0.0.1", "port": 0, "dashboard": False}},
            worker={"cls": OwnWorker, "options": {"folder": folder}},
        )

    def scale(self, *given: Any, **words: Any) -> Any:
        if self._fails:
            raise RuntimeError("there is no room")
        return super().scale(*given, **words)

    def close(self, *given: Any, **words: Any) -> Any:
        found = super().close(*given, **words)
        Path(self._folder, "closed").touch()
        return found
