"""What a host would have to have for a study's own clusters, and has not: told before anything starts."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass

import psutil

from steelyard.hosts.host import Host
from steelyard.hosts.records import clusters_folder
from steelyard.spec.estimate import estimate
from steelyard.spec.local import SAFE_QUOTAS, LocalSystem
from steelyard.spec.models import Trial
from steelyard.spec.units import bytes_text

WAY_OUT = "(of a study that comes with Steelyard: --small), or spread nodes over hosts (--server-hosts)"


@dataclass(frozen=True)
class Room:
    """What there is: processors, bytes of memory, and bytes free where clusters' files are."""

    cores: int
    memory_bytes: float
    free_bytes: float


def room_of(host: Host) -> Room:
    """Of this machine, whatever control group this process is in; its processors as `host` tells them."""
    folder = clusters_folder()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    return Room(host.abilities().cores, psutil.virtual_memory().total, free)


def shortages(planned: Sequence[Trial], room: Room) -> list[str]:
    """Warnings, a line each: CPU quotas, memory and disk that nodes would have and the host has not."""
    own = [trial for trial in planned if isinstance(trial.system, LocalSystem)]
    return [
        f"warning: {line}"
        for line in (_cores(own, len(planned), room), _memory(own, len(planned), room), _disk(own, room))
        if line
    ]


def _cores(own: Sequence[Trial], count: int, room: Room) -> str:
    each = [getattr(trial.system, "quota_cores", None) or 0.0 for trial in own]
    over = [quotas for quotas in each if quotas > SAFE_QUOTAS * room.cores]
    if not over:
        return ""
    return (
        f"{len(over)} of {count} trials would not count: CPU quotas of their nodes sum to "
        f"{max(over):g} cores, of the {room.cores} of this host {SAFE_QUOTAS * room.cores:g} can be "
        f"promised; lower system.limits.cpu {WAY_OUT}"
    )


def _memory(own: Sequence[Trial], count: int, room: Room) -> str:
    over = [mib for trial in own if (mib := _limits_mib(trial)) > room.memory_bytes / 2**20]
    if not over:
        return ""
    return (
        f"in {len(over)} of {count} trials nodes may use up to {bytes_text(max(over) * 2**20)} of memory "
        f"together, of {bytes_text(room.memory_bytes)} of this host; lower system.limits.memory_mib {WAY_OUT}"
    )


def _limits_mib(trial: Trial) -> int:
    system = trial.system
    if not isinstance(system, LocalSystem):
        return 0
    return sum(system.limits_of(name).memory_mib or 0 for name in system.node_names)


def _disk(own: Sequence[Trial], room: Room) -> str:
    needed = estimate(own).disk_bytes if own else 0.0
    if needed <= room.free_bytes:
        return ""
    return (
        f"its systems would need about {bytes_text(needed)} of disk at a time, of which "
        f"{bytes_text(room.free_bytes)} are free in {clusters_folder()} (STEELYARD_STATE sets another "
        f"folder); lower workload.records {WAY_OUT}"
    )
