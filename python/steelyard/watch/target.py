"""What is watched: one node, as the sampler sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.watch.beans import Role
from steelyard.watch.inquiry import Inquiry


@dataclass(frozen=True)
class WatchTarget:
    """One node as the watcher sees it.

    Attributes:
        name: the node's name, the `source` of its samples.
        cluster: the recorded cluster it is of: the host finds its processes by both names at every sample,
            since a restart changes them.
        cgroups: controller name -> folder of its control group ("unified" on v2); empty without one.
        namespace: its network namespace, if it has one.
        agent: the metrics agent's (host, port), if loaded.
        jmx: (role, host, port) of each of its servers that tells its metrics at /jmx.
        inquiries: what else it is asked, in protocols of their own.
        host: the machine it is on, by name; empty = the one that watches.
        outside: it is somebody else's: what it tells is all that can be had from here.
    """

    name: str
    cluster: str = ""
    cgroups: Mapping[str, Path] = field(default_factory=dict)
    namespace: str | None = None
    agent: tuple[str, int] | None = None
    jmx: tuple[tuple[Role, str, int], ...] = ()
    inquiries: tuple[Inquiry, ...] = ()
    host: str = ""
    outside: bool = False
