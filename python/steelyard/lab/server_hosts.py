"""The machines that have the nodes of a trial's system, each sampled by itself."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.errors import SteelyardError
from steelyard.hosts.host import Host, HostLostError, Watch
from steelyard.hosts.remote.host import RemoteHost
from steelyard.hosts.server_hosts import JoinedWatch, ServerHost, ServerHosts
from steelyard.lab.machines import FOLDER, join, note_clock, note_steal, stolen
from steelyard.results.manifest import Manifest

ROLE = "server"
SYSTEM = "system.parquet"


class ServerMachines:
    """Says of each machine what it is, and brings its samples home.

    Args:
        host: where the system is; on one machine, this one, there is nothing to be said here.
    """

    def __init__(self, host: Host) -> None:
        self._machines: tuple[ServerHost, ...] = host.machines if isinstance(host, ServerHosts) else ()

    def note_facts(self, manifest: Manifest) -> None:
        """Say what machines they are; each clock is measured before anything is sampled by it."""
        for machine in self._machines:
            if isinstance(machine.host, RemoteHost):
                machine.host.measure_clock()
            said = {"name": machine.name, "address": machine.address, "role": ROLE}
            manifest.hosts.append({**said, "facts": machine.host.facts([machine.folder])})

    def keep_samples(self, watch: Watch, manifest: Manifest, folder: Path) -> None:
        """Write each machine's samples to `hosts/K.parquet`, and its nodes' to `system.parquet`, too.

        Of a machine that was lost there are those that had come from it before.
        """
        if not isinstance(watch, JoinedWatch):
            return
        (folder / FOLDER).mkdir(exist_ok=True)
        frames = []
        for index, said in self._said(manifest):
            path = folder / FOLDER / f"{index}.parquet"
            with suppress(HostLostError):
                self._measure_again(str(said["name"]))
                watch.there[said["name"]].write(path)
                found = pl.read_parquet(path)
                frames.append(found.filter(pl.col("source").is_in(sorted(watch.nodes))))
                note_steal(said["name"], stolen(found, manifest), manifest)
        join(folder / SYSTEM, frames)

    def note_clocks(self, manifest: Manifest) -> None:
        """Say how well their clocks were known in this trial, and which machine was lost."""
        for _, said in self._said(manifest):
            host = self._host(str(said["name"]))
            if isinstance(host, RemoteHost):
                note_clock(said, host, manifest, "its nodes' samples are apart from those of others")

    def _said(self, manifest: Manifest) -> list[tuple[int, dict[str, Any]]]:
        return [(index, said) for index, said in enumerate(manifest.hosts) if said["role"] == ROLE]

    def _host(self, name: str) -> Host:
        return next(machine.host for machine in self._machines if machine.name == name)

    def _measure_again(self, name: str) -> None:
        """A clock that cannot be measured once more is known well enough from before."""
        host = self._host(name)
        with suppress(SteelyardError):
            if isinstance(host, RemoteHost):
                host.measure_clock()
