"""What a system under test is: it comes up, tells its facts, and is always taken down again; a folder a kind.

What is here knows server configuration and how servers change; it knows nothing of workloads or results. A
kind is one record (`kind`), and every record stands in `kinds`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.hosts.host import Host
    from steelyard.spec.base import SystemSettings
    from steelyard.systems.base import Testbed

__all__ = ["create"]


def create(system: SystemSettings, *, name: str, root: Path, host: Host | None = None) -> Testbed:
    """The testbed of a system, not yet up.

    Args:
        system: what is to be tested.
        name: names what is made for it: record, control groups, namespaces.
        root: a folder on disk for what it stores; what is made in it is removed by `down`.
        host: where its servers run, if it starts any; None = this machine.

    Raises:
        InputError: settings that this system cannot have, or hosts that it cannot be on.
    """
    from steelyard.hosts.local import LocalHost
    from steelyard.systems.capabilities import check
    from steelyard.systems.kind import kind_of
    from steelyard.systems.placement import check_laid_over

    kind, there = kind_of(system.kind), host or LocalHost()
    check_laid_over(kind.typed, kind.laid_over, there)
    testbed = kind.testbed(system, name=name, root=root, host=there)
    check(testbed)
    return testbed
