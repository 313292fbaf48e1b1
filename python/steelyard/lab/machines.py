"""What a trial says of its machines, whatever it did: their clocks, their disks, and who else used them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.analysis.counters import Window
from steelyard.analysis.warnings.host import STEAL
from steelyard.hosts.remote.host import WARNED_NS, RemoteHost
from steelyard.results.disk import replacing
from steelyard.results.manifest import Manifest
from steelyard.watch import machine

READ_AHEAD = 128 << 10
"""Bytes; what Linux has by default. Some cloud images have 8 MiB (docs/scalability.md)."""
FOLDER = "hosts"
"""Of a trial: K.parquet in it is what was sampled on `hosts[K]` of the manifest."""


def note_clock(said: dict[str, Any], host: RemoteHost, manifest: Manifest, effect: str) -> None:
    """Say how well a machine's clock was known in this trial, and when it was lost.

    Args:
        said: the machine in the manifest.
        host: it.
        manifest: receives a warning when the clock was not known well.
        effect: what that means, e.g. "its engine began early or late".
    """
    clock = host.clock.since(manifest.since_ns)
    said |= {"clock": clock.facts(), "lost_ns": host.lost_ns}
    if clock.bound_ns > WARNED_NS:
        known = f"the clock of {host.name} is known to {clock.bound_ns / 1e6:.1f} ms"
        manifest.warn("clock", f"{known}: by that much at most {effect}")


def note_steal(name: str, share: float | None, manifest: Manifest) -> None:
    """Warn of a machine of whose CPU other guests took too large a share."""
    if share is not None and share > STEAL:
        manifest.warn("steal", f"other guests of {name}'s machine took {share:.1%} of its CPU")


def read_ahead(hosts: Iterable[Mapping[str, Any]]) -> str | None:
    """What to say of disks that bring much more than was missed, where the page cache is part of a trial.

    Args:
        hosts: the facts of each where nodes are (`watch.host.facts`).
    """
    volumes = [volume for facts in hosts for volume in facts.get("file_systems", {}).values()]
    most = max((volume.get("read_ahead_bytes", 0) for volume in volumes), default=0)
    if most <= READ_AHEAD:
        return None
    return (
        f"the kernel may read {most >> 10:,} KiB of the disk for each miss, more than anybody may ask for; "
        f"`echo {READ_AHEAD >> 10} > /sys/block/DISK/queue/read_ahead_kb` sets what Linux has by default, "
        "until the next boot"
    )


def stolen(system: pl.DataFrame, manifest: Manifest) -> float | None:
    """The share of a machine's CPU that other guests took while phases ran; None if that was not sampled."""
    if not manifest.phases:
        return None
    window = Window(system, manifest.phases[0]["start_ns"], manifest.phases[-1]["end_ns"])
    found, whole = window.rate("machine", machine.STEAL), window.rate("machine", *machine.WHOLE)
    return found / whole if found is not None and whole else None


def join(system: Path, frames: Sequence[pl.DataFrame]) -> None:
    """Add rows that were sampled elsewhere to `system.parquet`, in the order of time."""
    with replacing(system) as beside:
        whole = pl.concat([pl.read_parquet(system), *frames])
        whole.sort("t_ns", maintain_order=True).write_parquet(beside)
