"""Certificates of calibration on disk: one JSON file each in the state folder, found again by the host.

The file is described in docs/calibration.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.errors import InputError
from steelyard.folders import state_folder
from steelyard.results.disk import read_json, write_json, writing

FORMAT = 1
SAME_HOST = ("hostname", "machine", "cpu_model", "cores", "kernel")
"""Facts of a host that must be equal for a certificate to speak of it."""


@dataclass(frozen=True)
class Certificate:
    """What a report wants to know of a certificate.

    Attributes:
        path: its file.
        created: when, RFC 3339.
        driver: `cql`, `hbase` or `null`.
        engine: source hash of the engine that was calibrated.
        rate_per_s: the highest rate at which every percentile was right.
        highest_rate_per_s: the highest rate that the client kept without being late; None if it kept none.
        longest_us: the longest p99.9 that was right.
        right, cells: cells in which every percentile was right, and all.
        allowed: what a percentile may be off to be right, in words.
    """

    path: Path
    created: str
    driver: str
    engine: str
    rate_per_s: float
    highest_rate_per_s: float | None
    longest_us: float
    right: int
    cells: int
    allowed: str


def folder() -> Path:
    """Where certificates are kept: below `$STEELYARD_STATE`, else the user's state folder."""
    return state_folder() / "calibration"


def save(certificate: Mapping[str, Any]) -> Path:
    """Keep a certificate; returns its file.

    Raises:
        InfrastructureError: the folder cannot be written.
    """
    day = "".join(c for c in str(certificate["created"])[:19] if c.isalnum())
    path = folder() / f"{day}-{certificate['driver']}.json"
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, certificate)
    return path


def newest(host: Mapping[str, Any], driver: str) -> Certificate | None:
    """The newest finished certificate of this host and driver; None if there is none."""
    for path in sorted(folder().glob(f"*-{driver}.json"), reverse=True):
        try:
            found = read_json(path)
        except InputError:
            continue  # a damaged one certifies nothing
        if _speaks_of(found, host):
            return _certificate(path, found)
    return None


def _speaks_of(found: Mapping[str, Any], host: Mapping[str, Any]) -> bool:
    told = found.get("host") or {}
    same = all(host.get(fact) is not None and told.get(fact) == host.get(fact) for fact in SAME_HOST)
    return same and found.get("format") == FORMAT and found.get("status") == "done"


def _certificate(path: Path, found: Mapping[str, Any]) -> Certificate:
    cells = found.get("cells") or ()
    right = [cell for cell in cells if cell["within"]]
    errors = [error for cell in right for error in cell["errors"].values()]
    return Certificate(
        path=path,
        created=str(found["created"]),
        driver=str(found["driver"]),
        engine=str((found.get("engine") or {}).get("source_hash", "")),
        rate_per_s=max((cell["completed_per_s"] for cell in right), default=0.0),
        highest_rate_per_s=(found.get("rates") or {}).get("highest_rate_per_s"),
        longest_us=max((e["truth"] for e in errors), default=0.0),
        right=len(right),
        cells=len(cells),
        allowed="{relative:.0%} + {absolute_us:.0f} us".format(**found["allowed"]).replace("%", " %"),
    )
