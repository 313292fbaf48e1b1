"""Whether two results may be compared: the same host, the same workload and load; what differs is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.report.formatting import plain
from steelyard.results.flat import flat
from steelyard.results.in_effect import part

HOST = (
    "cpu_model",
    "cores",
    "memory_bytes",
    "kernel",
    "governor",
    "clock_source",
    "huge_pages",
    "file_system",
)
"""What of a host moves the figures of one and the same system."""
ASKED = ("workload", "load")
"""What was asked of the systems; a difference there makes figures of two different questions."""
MEMORY = 0.01
"""Kernels of one host report memories this close."""


@dataclass(frozen=True)
class Difference:
    """One thing that differs between A and B."""

    what: str
    a: str
    b: str


@dataclass(frozen=True)
class Alikeness:
    """What differs between two sides.

    Attributes:
        forbidding: hosts, workloads or loads: a comparison says nothing of the systems then.
        subject: settings of the systems: what is being compared; nothing of it is an A/A comparison.
        client: the load engine's version.
    """

    forbidding: tuple[Difference, ...]
    subject: tuple[Difference, ...]
    client: tuple[Difference, ...]


def alike(a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]], free: frozenset[str]) -> Alikeness:
    """Compare the manifests of two sides of one cell.

    Args:
        a, b: manifests of their trials.
        free: settings, such as `load.clients`, that are meant to differ.
    """
    forbidding = _differences([_host(m) for m in a], [_host(m) for m in b])
    asked = _differences([_asked(m) for m in a], [_asked(m) for m in b])
    return Alikeness(
        forbidding=(*forbidding, *(d for d in asked if d.what not in free)),
        subject=_differences([_system(m) for m in a], [_system(m) for m in b]),
        client=_differences([_client(m) for m in a], [_client(m) for m in b]),
    )


def _host(manifest: Mapping[str, Any]) -> dict[str, Any]:
    host = part(manifest, "host")
    return {f"host.{name}": host.get(name) for name in HOST if name in host}


def _asked(manifest: Mapping[str, Any]) -> dict[str, Any]:
    trial = part(manifest, "trial")
    return flat({name: part(trial, name) for name in ASKED})


def _system(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return flat({"system": part(manifest, "trial", "system")})


def _client(manifest: Mapping[str, Any]) -> dict[str, Any]:
    engine = part(manifest, "engine")
    return {f"engine.{name}": engine.get(name) for name in ("version", "source_hash")}


def _differences(a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]) -> tuple[Difference, ...]:
    names = dict.fromkeys(name for facts in (*a, *b) for name in facts)
    found = []
    for name in names:
        left, right = _values(a, name), _values(b, name)
        if left != right and not _close(name, a, b):
            found.append(Difference(name, ", ".join(left), ", ".join(right)))
    return tuple(found)


def _values(side: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    return sorted({plain(facts.get(name)) for facts in side})


def _close(name: str, a: Sequence[Mapping[str, Any]], b: Sequence[Mapping[str, Any]]) -> bool:
    if name != "host.memory_bytes":
        return False
    sizes = [float(facts.get(name) or 0) for facts in (*a, *b)]
    return min(sizes) > 0 and max(sizes) / min(sizes) - 1 <= MEMORY
