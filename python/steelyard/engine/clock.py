"""Another machine's clock seen from here: what it shows when ours shows something, and how surely we know.

Times are CLOCK_MONOTONIC nanoseconds. An offset is the other machine's clock less ours.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

TIMES = frozenset({"t_ns", "at_ns", "start_ns", "end_ns", "window_end_ns"})
"""What of an engine's events, series and summaries is a time of a machine's clock; other `_ns` are spans."""


@dataclass(frozen=True)
class Exchange:
    """A question and its answer: sent and received by our clock, answered by the other's."""

    sent_ns: int
    there_ns: int
    received_ns: int


@dataclass(frozen=True)
class Offset:
    """An offset as it was measured.

    Attributes:
        at_ns: when, by our clock.
        offset_ns: the other clock less ours.
        bound_ns: how far off `offset_ns` is at most, however the way there and the way back differ.
    """

    at_ns: int
    offset_ns: int
    bound_ns: int


def offset_of(exchanges: Iterable[Exchange]) -> Offset:
    """The offset that agrees with all exchanges (Marzullo, 1984), the middle of what they leave.

    An answer was given between question and receipt, so that each exchange leaves an interval as long as
    its round trip. Where they have nothing in common, since a clock was slewed, the shortest counts.

    Raises:
        ValueError: there is no exchange.
    """
    all_ = list(exchanges)
    low_ns = max(one.there_ns - one.received_ns for one in all_)
    high_ns = min(one.there_ns - one.sent_ns for one in all_)
    if low_ns > high_ns:
        return offset_of([min(all_, key=lambda one: one.received_ns - one.sent_ns)])
    at_ns = (all_[0].sent_ns + all_[-1].received_ns) // 2
    return Offset(at_ns, (low_ns + high_ns) // 2, (high_ns - low_ns + 1) // 2)


class Clock:
    """A machine's clock: straight lines between the offsets that were measured; without any it is ours."""

    def __init__(self, measured: Iterable[Offset] = ()) -> None:
        self._measured = sorted(measured, key=lambda one: one.at_ns)

    def note(self, offset: Offset) -> None:
        """Take a measurement that is newer than all others."""
        self._measured = [*self._measured, offset]

    def since(self, at_ns: int) -> Clock:
        """What was measured from then on, by our clock."""
        return Clock(one for one in self._measured if one.at_ns >= at_ns)

    def facts(self) -> dict[str, Any]:
        """For the manifest: what was measured, the largest bound, and the drift."""
        measured = [asdict(one) for one in self._measured]
        drift, unsure = self.drift_ppm or (None, None)
        return {
            "bound_ns": self.bound_ns,
            "drift_ppm": drift,
            "drift_bound_ppm": unsure,
            "measured": measured,
        }

    @property
    def measured(self) -> tuple[Offset, ...]:
        """What it is known by, oldest first."""
        return tuple(self._measured)

    @property
    def bound_ns(self) -> int:
        """The largest bound of any offset."""
        return max((one.bound_ns for one in self._measured), default=0)

    @property
    def drift_ppm(self) -> tuple[float, float] | None:
        """How much faster it runs than ours, and how far off that is at most; None if measured once."""
        if len(self._measured) < 2:
            return None
        first, last = self._measured[0], self._measured[-1]
        gained_ns, unsure_ns = last.offset_ns - first.offset_ns, last.bound_ns + first.bound_ns
        return gained_ns / (last.at_ns - first.at_ns) * 1e6, unsure_ns / (last.at_ns - first.at_ns) * 1e6

    def there(self, here_ns: int) -> int:
        """What it shows when ours shows `here_ns`."""
        return here_ns + _between([(one.at_ns, one.offset_ns) for one in self._measured], here_ns)

    def here(self, there_ns: int) -> int:
        """What ours shows when it shows `there_ns`."""
        points = [(one.at_ns + one.offset_ns, one.offset_ns) for one in self._measured]
        return there_ns - _between(points, there_ns)

    def translated(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """What an engine there said, its times by our clock; those of its summary too."""
        if not self._measured:
            return dict(said)
        return {name: self._translated(name, value) for name, value in said.items()}

    def _translated(self, name: str, value: Any) -> Any:
        if name in TIMES and isinstance(value, int):
            return self.here(value)
        return self.translated(value) if name == "summary" and isinstance(value, dict) else value


def _between(points: list[tuple[int, int]], at: int) -> int:
    """The height at `at` of the line through points; beyond the ends that of the end."""
    place = bisect(points, at, key=lambda point: point[0])
    if place in (0, len(points)):
        return points[min(place, len(points) - 1)][1] if points else 0
    (left, low), (right, high) = points[place - 1], points[place]
    return low + (high - low) * (at - left) // (right - left)
