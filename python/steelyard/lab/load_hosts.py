"""The machines whose engines share a run: engine k of K is on the k-th."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.analysis.counters import Window
from steelyard.analysis.warnings.host import STEAL
from steelyard.engine.fleet import Fleet
from steelyard.engine.session import EngineSession, Queue
from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts.host import Watch
from steelyard.hosts.remote.engine import RemoteEngine
from steelyard.hosts.remote.host import WARNED_NS, RemoteHost
from steelyard.results.disk import replacing
from steelyard.results.manifest import Manifest
from steelyard.spec.kind import declarations, declared
from steelyard.spec.models import Settings
from steelyard.watch import machine

SYSTEM = "system.parquet"


class LoadHosts:
    """Starts engines on other machines, and says of each machine what it is.

    Args:
        hosts: the machines, each with a worker.
    """

    def __init__(self, hosts: Sequence[RemoteHost]) -> None:
        self._hosts = hosts
        self._watches: dict[int, Watch] = {}

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
        had keeps no other's from being written.

        Raises:
            InfrastructureError, OSError: what went wrong first.
        """
        errors: list[Exception] = []
        system = folder / SYSTEM
        frames = [pl.read_parquet(system)]
        (folder / "hosts").mkdir()
        for index, watch in self._watches.items():
            host, path = self._hosts[index], folder / "hosts" / f"{index}.parquet"
            if host.lost_ns is not None:
                continue
            try:
                watch.stop()
                watch.write(path)
            except (InfrastructureError, OSError) as error:
                errors.append(error)
                continue
            frames.append(found := pl.read_parquet(path))
            if (share := stolen(found, manifest)) is not None and share > STEAL:
                manifest.warn("steal", f"other guests of {host.name}'s machine took {share:.1%} of its CPU")
        engines = [frame.filter(pl.col("source").str.starts_with("engine")) for frame in frames[1:]]
        with replacing(system) as beside:
            pl.concat([frames[0], *engines]).sort("t_ns", maintain_order=True).write_parquet(beside)
        if errors:
            raise errors[0]

    def note_clocks(self, manifest: Manifest) -> None:
        """Say how well their clocks were known in this trial, and which machine was lost."""
        for said, host in zip(manifest.hosts, self._hosts, strict=False):  # one may have been lost before
            clock = host.clock.since(manifest.since_ns)
            said |= {"clock": clock.facts(), "lost_ns": host.lost_ns}
            if clock.bound_ns > WARNED_NS:
                manifest.warn(
                    "clock",
                    f"the clock of {host.name} is known to {clock.bound_ns / 1e6:.1f} ms: by that much at "
                    "most its engine began early or late, and its seconds are apart from those of others",
                )


def stolen(system: pl.DataFrame, manifest: Manifest) -> float | None:
    """The share of a machine's CPU that other guests took while phases ran; None if that was not sampled."""
    if not manifest.phases:
        return None
    window = Window(system, manifest.phases[0]["start_ns"], manifest.phases[-1]["end_ns"])
    found, whole = window.rate("machine", machine.STEAL), window.rate("machine", *machine.WHOLE)
    return found / whole if found is not None and whole else None


def check_far(settings: Settings) -> None:
    """See that engines on other machines can reach the system.

    Raises:
        InputError: it answers here only, or its client needs files of this machine.
    """
    system, kind = settings.system, declared(settings.system.kind)
    if kind.local:
        raise InputError(
            f"--ssh: the nodes of a local {kind.typed} cluster answer on this machine alone",
            hint="give a cluster that other machines reach: " + " or ".join(_ways(kind.typed)),
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
