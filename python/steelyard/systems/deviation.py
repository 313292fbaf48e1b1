"""A departure from what upstream ships, recorded in every result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from steelyard.spec.local import SLACK_US


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


def slack(us: int | None) -> list[Deviation]:
    """Of a timer slack that was asked for (`spec.local.LocalSystem.timer_slack_us`)."""
    why = "threads that wait for work wake less often, and later"
    return [Deviation("timer slack of threads, us", us, SLACK_US, why)] if us else []
