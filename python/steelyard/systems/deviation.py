"""A departure from what upstream ships, recorded in every result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Deviation:
    """One departure.

    Attributes:
        setting: its name.
        value: what it is here.
        default: what upstream ships; None where it has no such thing.
        reason: why.
    """

    setting: str
    value: Any
    default: Any
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """As the manifest keeps it."""
        return asdict(self)
