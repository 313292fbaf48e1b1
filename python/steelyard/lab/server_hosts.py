"""The machines that have the nodes of a trial's system, ours or somebody else's, each sampled by itself."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import InfrastructureError, SteelyardError
from steelyard.hosts.host import Host, HostLostError, Watch
from steelyard.hosts.remote.host import RemoteHost, lost_hint
from steelyard.hosts.server_hosts import JoinedWatch, ServerHost, ServerHosts, WatchedHosts
from steelyard.lab.machines import FOLDER, join, note_clock, note_steal, stolen
from steelyard.lab.watched_nodes import as_node
from steelyard.results.manifest import Manifest

SYSTEM = "system.parquet"
WATCHED = WatchedHosts.role


class ServerMachines:
    """Says of each machine what it is, and brings its samples home.

    Args:
        host: where the system is; on one machine, this one, there is nothing to be said here.
    """

    def __init__(self, host: Host) -> None:
        there = host if isinstance(host, ServerHosts | WatchedHosts) else None
        self._machines: tuple[ServerHost, ...] = there.machines if there else ()
        self._role = there.role if there else ""

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called, in order of their nodes; of those that are only watched none."""
        return () if self._role == WATCHED else tuple(machine.name for machine in self._machines)

    def check(self) -> None:
        """See that all are there still; raises HostLostError.

        Of a single run a machine's loss is a part of what is measured, as a server's death is. A study's
        points are not to differ by it. One that is only watched may go.
        """
        for machine in self._machines if self._role != WATCHED else ():
            if isinstance(machine.host, RemoteHost) and machine.host.lost_ns is not None:
                raise HostLostError(
                    f"the host {machine.name} was lost, and its nodes with it", hint=lost_hint(machine.name)
                )

    def note_facts(self, manifest: Manifest) -> None:
        """Say what machines they are; each clock is measured before anything is sampled by it.

        One that is only watched, and cannot be, is said and left out.
        """
        for machine in self._machines:
            try:
                manifest.hosts.append(self._facts(machine))
            except InfrastructureError as error:
                if self._role != WATCHED:
                    raise
                manifest.warn("watched", f"{machine.name} is not watched: {error.message}")

    def _facts(self, machine: ServerHost) -> dict[str, Any]:
        if isinstance(machine.host, RemoteHost):
            machine.host.measure_clock()
        said = {"name": machine.name, "address": machine.address, "role": self._role}
        return {**said, "facts": machine.host.facts([machine.folder])}

    def keep_samples(self, watch: Watch, manifest: Manifest, folder: Path) -> None:
        """Write each machine's samples to `hosts/K.parquet`, and its nodes' to `system.parquet`, too.

        Of a machine that was lost there are those that had come from it before. Of one that is only watched
        the machine's own are its node's.
        """
        if not isinstance(watch, JoinedWatch):
            return
        (folder / FOLDER).mkdir(exist_ok=True)
        frames = []
        for index, said in self._said(manifest):
            path = folder / FOLDER / f"{index}.parquet"
            if said["name"] not in watch.there:
                manifest.warn("watched", f"{said['name']} was not watched: its worker was lost")
                continue
            with suppress(HostLostError):
                self._measure_again(str(said["name"]))
                watch.there[said["name"]].write(path)
                found = pl.read_parquet(path)
                if self._role == WATCHED:
                    frames.append(as_node(found, said, manifest))
                else:
                    frames.append(found.filter(pl.col("source").is_in(sorted(watch.nodes))))
                note_steal(said["name"], stolen(found, manifest), manifest)
        join(folder / SYSTEM, frames)

    def note_clocks(self, manifest: Manifest) -> None:
        """Say how well their clocks were known in this trial, and which machine was lost."""
        for _, said in self._said(manifest):
            host = self._host(str(said["name"]))
            if isinstance(host, RemoteHost):
                note_clock(said, host, manifest, "its samples are apart from those of others")

    def _said(self, manifest: Manifest) -> list[tuple[int, dict[str, Any]]]:
        return [(index, said) for index, said in enumerate(manifest.hosts) if said["role"] == self._role]

    def _host(self, name: str) -> Host:
        return next(machine.host for machine in self._machines if machine.name == name)

    def _measure_again(self, name: str) -> None:
        """A clock that cannot be measured once more is known well enough from before."""
        host = self._host(name)
        with suppress(SteelyardError):
            if isinstance(host, RemoteHost):
                host.measure_clock()
