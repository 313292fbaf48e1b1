"""The machines whose engines share a run: engine k of K is on the k-th."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.engine.fleet import Fleet
from steelyard.engine.session import EngineSession, Queue
from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts.host import Watch
from steelyard.hosts.remote.engine import RemoteEngine
from steelyard.hosts.remote.host import RemoteHost
from steelyard.lab.machines import FOLDER, join, note_clock, note_steal, stolen
from steelyard.results.manifest import Manifest
from steelyard.spec.kind import declarations, declared
from steelyard.spec.models import Settings

SYSTEM = "system.parquet"


class LoadHosts:
    """Starts engines on other machines, and says of each machine what it is.

    Args:
        hosts: the machines, each with a worker.
    """

    def __init__(self, hosts: Sequence[RemoteHost]) -> None:
        self._hosts = hosts
        self._watches: dict[int, Watch] = {}

    def first(self, engines: int) -> LoadHosts:
        """Those of a trial with so many engines."""
        return LoadHosts(self._hosts[:engines])

    @property
    def names(self) -> list[str]:
        """What they are called, in order of their engines."""
        return [host.name for host in self._hosts]

    def launch(self, plan: dict[str, Any], folder: Path, events: Queue, index: int) -> EngineSession:
        """Start engine `index`; see `Fleet`."""
        return RemoteEngine(self._hosts[index], plan, folder, events, index)

    def note_facts(self, manifest: Manifest) -> None:
        """Say what machines they are."""
        for index, host in enumerate(self._hosts):
            facts = host.as_host().facts([])
            manifest.hosts.append(
                {"name": host.name, "address": host.address, "role": "load", "engine": index, "facts": facts}
            )

    def watch(self, fleet: Fleet) -> None:
        """Begin to sample each machine, and its engine."""
        named = {
            one.index: f"engine-{one.index}" if len(self._hosts) > 1 else "engine" for one in fleet.processes
        }
        self._watches = {
            one.index: self._hosts[one.index].watch([], {named[one.index]: one.pid})
            for one in fleet.processes
        }

    def keep_samples(self, manifest: Manifest, folder: Path) -> None:
        """Write each machine's samples to `hosts/K.parquet`, and what its engine used to `system.parquet`.

        It is said of which machine other guests of its own host took the CPU. One whose samples cannot be
        had keeps no other's from being written. Of a machine that was lost there are those that had come
        from it before.

        Raises:
            InfrastructureError, OSError: what went wrong first.
        """
        errors: list[Exception] = []
        frames = []
        (folder / FOLDER).mkdir()
        for index, watch in self._watches.items():
            host, path = self._hosts[index], folder / FOLDER / f"{index}.parquet"
            known = host.lost_ns is not None
            stopped, written = _fault(watch.stop), _fault(partial(watch.write, path))
            errors += [fault for fault in (stopped, written) if fault and not known]
            if written:
                continue
            found = pl.read_parquet(path)
            frames.append(found.filter(pl.col("source").str.starts_with("engine")))
            note_steal(host.name, stolen(found, manifest), manifest)
        join(folder / SYSTEM, frames)
        if errors:
            raise errors[0]

    def note_clocks(self, manifest: Manifest) -> None:
        """Say how well their clocks were known in this trial, and which machine was lost."""
        effect = "its engine began early or late, and its seconds are apart from those of others"
        # they come first; one may have been lost before
        for said, host in zip(manifest.hosts, self._hosts, strict=False):
            note_clock(said, host, manifest, effect)


def _fault(step: Callable[[], None]) -> InfrastructureError | OSError | None:
    """What went wrong in a step; None when nothing did."""
    try:
        step()
    except (InfrastructureError, OSError) as error:
        return error
    return None


def check_far(settings: Settings, *, apart: bool = False) -> None:
    """See that engines on other machines can reach the system.

    Args:
        settings: of a point.
        apart: local clusters are laid over other machines.

    Raises:
        InputError: it answers here only, or its client needs files of this machine.
    """
    system, kind = settings.system, declared(settings.system.kind)
    if kind.local and not apart:
        ways = " or ".join(["--server-hosts", *_ways(kind.typed)])
        raise InputError(
            f"--ssh: the nodes of a local {kind.typed} cluster answer on this machine alone",
            hint=f"lay it over other machines, or give a cluster that they reach: {ways}",
        )
    if kind.in_engine:
        raise InputError(f"--ssh: the {kind.typed} store lives in the engine's own process, on this machine")
    files = [name for name in kind.files if getattr(system, name, None) is not None]
    if files:
        raise InputError(f"--ssh: {files[0]} names a file of this machine, which load hosts do not have")


def _ways(typed: str) -> list[str]:
    """The flags with which a system of that name is given."""
    found = [flag for kind in declarations().values() if kind.typed == typed for flag in kind.given_by]
    return found or ["another system"]
