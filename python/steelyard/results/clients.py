"""What each of several engines is called, and whether its own machine let it run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.results.intervals import read_series

STARVED = "starved"
"""What the series says of a second in which the client had no processor (docs/format.md: `client`)."""


def client_names(manifest: Mapping[str, Any], count: int) -> tuple[str, ...]:
    """The names of the engines that have figures of a phase: their load hosts', or `engine K`.

    Args:
        manifest: of the trial.
        count: how many engines those are; of a machine that was lost there are none.
    """
    hosts = _load_hosts(manifest)
    if len(hosts) != count:
        hosts = [host for host in hosts if host.get("lost_ns") is None]
    if len(hosts) != count:
        return tuple(f"engine {k}" for k in range(count))
    return tuple(str(host["name"]) for host in hosts)


def starved_seconds(trial: Path, manifest: Mapping[str, Any], phase: str) -> dict[str, int]:
    """Name of an engine, as of `client_names` -> the seconds of a phase in which it was starved of CPU.

    Args:
        trial: the trial's folder.
        manifest: of it.
        phase: which.

    Returns:
        Those that ever were; nothing where a single engine ran on the laboratory's own machine.
    """
    hosts = {int(host["engine"]): str(host["name"]) for host in _load_hosts(manifest)}
    folders = {int(path.name): path for path in trial.glob("engines/*") if path.name.isdigit()}
    if not folders and hosts:  # a single load host's files are where one engine's are
        folders = {0: trial / "engine"}
    found = {
        hosts.get(index, f"engine {index}"): _starved(folder, phase)
        for index, folder in sorted(folders.items())
    }
    return {name: seconds for name, seconds in found.items() if seconds}


def _load_hosts(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [host for host in manifest.get("hosts") or () if host.get("role") == "load"]


def _starved(folder: Path, phase: str) -> int:
    seconds = read_series(folder, [phase]).filter(pl.col("client") == STARVED)
    return seconds["second"].n_unique()
