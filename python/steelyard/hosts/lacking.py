"""What cannot be done to servers on this machine, by the names of capabilities, each with the reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from steelyard.errors import InfrastructureError
from steelyard.hosts import cgroup, mounts, namespaces


def lacking(folder: Path) -> dict[str, str]:
    """At a glance, nothing is tried.

    Args:
        folder: where servers would have their files; it need not be there yet.

    Returns:
        Capability -> why servers there cannot have it done to them.
    """
    asked: dict[str, Callable[[], str]] = {
        "resize": _no_groups,
        "throttle": lambda: _no_groups() or _no_disk(folder),
        "partition": namespaces.why_not,
        "power_loss": mounts.why_not,
    }
    return {what: why for what, ask in asked.items() if (why := ask())}


def _no_groups() -> str:
    if cgroup.version() == "none":
        return "there are no control groups: mount /sys/fs/cgroup"
    return "" if cgroup.writable() else "control groups need root"


def _no_disk(folder: Path) -> str:
    there = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        cgroup.device_of(there)
    except InfrastructureError as error:
        return error.message
    return ""
