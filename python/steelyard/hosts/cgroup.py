"""Control groups, versions 1 and 2: one per node holds all its processes under one limit of CPU, memory, I/O.

The CPU period is fixed, equal for all systems, and bursts are off; both are recorded.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from steelyard.errors import InfrastructureError
from steelyard.hosts.process import Identity, identity
from steelyard.spec.local import NodeLimits

MOUNT = Path("/sys/fs/cgroup")
CPU_PERIOD_US = 100_000
CONTROLLERS = ("cpu", "cpuacct", "memory", "blkio")
"""What version 1 mounts one by one; version 2 calls the last "io" and has the second within the first."""


@dataclass(frozen=True)
class DiskRates:
    """What a node's processes may read and write a second; 0 = as much as there is.

    Attributes:
        read_mib, write_mib: MiB/s.
        read_iops, write_iops: operations/s, as the kernel hands them to the disk.
    """

    read_mib: float = 0
    write_mib: float = 0
    read_iops: int = 0
    write_iops: int = 0

    def by_name(self) -> dict[tuple[str, str], int]:
        """(name in version 2, name in version 1) -> bytes or operations a second."""
        return {
            ("rbps", "read_bps"): round(self.read_mib * (1 << 20)),
            ("wbps", "write_bps"): round(self.write_mib * (1 << 20)),
            ("riops", "read_iops"): self.read_iops,
            ("wiops", "write_iops"): self.write_iops,
        }


@dataclass(frozen=True)
class Group:
    """The control group of one node.

    Attributes:
        folders: controller -> folder; "unified" on version 2; empty where there is none.
        missing: why a controller is not there, by its name.
    """

    folders: dict[str, Path] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def add(group: Group, pid: int) -> None:
    """Put a process, with all it will start, into the group."""
    for folder in group.folders.values():
        (folder / "cgroup.procs").write_text(str(pid))


def members(folder: Path) -> list[Identity]:
    """What is in a group now; empty when the group is gone."""
    with suppress(OSError):
        pids = map(int, (folder / "cgroup.procs").read_text().split())
        return [found for pid in pids if pid and (found := identity(pid))]
    return []


def limit_cpu(group: Group, cores: float | None) -> None:
    """Set the CPU quota in cores; None takes it away. Raises InfrastructureError if it cannot be set."""
    quota = round(cores * CPU_PERIOD_US) if cores else None
    if "unified" in group.folders:
        _write(group, "unified", "cpu.max", f"{quota or 'max'} {CPU_PERIOD_US}")
    elif "cpu" in group.folders or quota is not None:
        _write(group, "cpu", "cpu.cfs_period_us", str(CPU_PERIOD_US))
        _write(group, "cpu", "cpu.cfs_quota_us", str(quota or -1))


def limit(group: Group, limits: NodeLimits, folder: Path) -> None:
    """Set the limits of memory (page cache included) and, for the disk that `folder` is on, of I/O."""
    if limits.memory_mib and "unified" in group.folders:
        _write(group, "unified", "memory.max", str(limits.memory_mib << 20))
    elif limits.memory_mib:
        _write(group, "memory", "memory.limit_in_bytes", str(limits.memory_mib << 20))
    rates = DiskRates(
        limits.disk_read_mib_per_s or 0,
        limits.disk_write_mib_per_s or 0,
        limits.disk_read_iops or 0,
        limits.disk_write_iops or 0,
    )
    if chosen := {name: value for name, value in rates.by_name().items() if value}:
        _limit_disk(group, device_of(folder), chosen)


def throttle(group: Group, rates: DiskRates, folder: Path) -> None:
    """Change what its processes may read from, and write to, the disk that `folder` is on.

    Version 1 counts what a process writes and waits for (synced, or past the page cache); what the kernel
    writes by itself later is nobody's.

    Args:
        group: of the node.
        rates: what is allowed from now on; 0 lifts a limit.
        folder: where its data is.

    Raises:
        InfrastructureError: it is on no disk of its own, or this user may not.
    """
    _limit_disk(group, device_of(folder), rates.by_name())


def _limit_disk(group: Group, device: str, wanted: Mapping[tuple[str, str], int]) -> None:
    """Limits of one disk, each by its names in version 2 and 1; 0 lifts one."""
    for (new, old), value in wanted.items():
        if "unified" in group.folders:
            _write(group, "unified", "io.max", f"{device} {new}={value or 'max'}")
        else:
            _write(group, "blkio", f"blkio.throttle.{old}_device", f"{device} {value}")


def _write(group: Group, controller: str, name: str, value: str) -> None:
    folder = group.folders.get(controller)
    if folder is None:
        why = group.missing.get(controller, "it is missing")
        raise InfrastructureError(
            f"a limit needs the control group controller {controller!r}: {why}",
            hint="run as root on a host with control groups, or leave the limit out",
        )
    try:
        (folder / name).write_text(value)
    except OSError as error:
        raise InfrastructureError(
            f"cannot write {value!r} to {folder / name}: {error.strerror}",
            hint="run as root on a host with control groups, or leave the limit out",
        ) from error


def folders(cluster: str, node: str) -> list[Path]:
    """Where `make` would make the group of a node."""
    return [root / "steelyard" / cluster / node for root in _roots().values()]


def make(cluster: str, node: str) -> Group:
    """Make the group of a node in every hierarchy that lets us; what does not is told in `missing`."""
    found = Group()
    for name, root in _roots().items():
        folder = root / "steelyard" / cluster / node
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if name == "unified":
                _delegate(root, folder)
            found.folders[name] = folder
        except OSError as error:
            found.missing[name] = f"{folder}: {error.strerror}"
    if "unified" not in found.folders:
        found.missing.update({name: "not mounted" for name in CONTROLLERS if name not in _roots()})
    return found


def _delegate(root: Path, folder: Path) -> None:
    for parent in [root, *reversed(folder.relative_to(root).parents[:-1])]:
        at = root / parent
        (at / "cgroup.subtree_control").write_text("+cpu +memory +io")


def _roots() -> dict[str, Path]:
    if (MOUNT / "cgroup.controllers").exists():
        return {"unified": MOUNT}
    return {name: MOUNT / name for name in CONTROLLERS if (MOUNT / name / "cgroup.procs").exists()}


def remove(folder: Path) -> None:
    """Remove a group of ours, and our folders above it once empty; waits a moment for its last task."""
    until = time.monotonic() + 2.0
    while folder.exists():
        try:
            folder.rmdir()
        except OSError:
            if time.monotonic() > until:
                return
            time.sleep(0.02)
    with suppress(OSError):
        folder.parent.rmdir()
        folder.parent.parent.rmdir()


def device_of(path: Path) -> str:
    """The disk "major:minor" below a path: throttling works on disks, not on partitions."""
    number = path.stat().st_dev
    entry = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if (entry / "partition").exists():
        return (entry.resolve().parent / "dev").read_text().strip()
    if not entry.exists():
        raise InfrastructureError(
            f"{path} is on no disk of its own (major {os.major(number)})", hint="leave disk limits out"
        )
    return f"{os.major(number)}:{os.minor(number)}"


@cache
def version() -> str:
    """Which control groups this host has: "2", "1" or "none"."""
    roots = _roots()
    return "2" if "unified" in roots else "1" if roots else "none"


def writable() -> bool:
    """Whether this user may make groups."""
    roots = _roots().values()
    return bool(roots) and all(os.access(root, os.W_OK) for root in roots)
