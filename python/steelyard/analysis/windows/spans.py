"""Before, during and after: the whole seconds of a phase, cut by the acknowledged times of actions.

Histograms and counts are kept by whole seconds since the phase began, so windows are made of them: the second
in which an action starts and the one in which it ends belong to `during`. An action that has no end, because
the run's end or its limit came first, leaves no `after`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from steelyard.results.actions import ActionTimes

NS = 1e9


@dataclass(frozen=True)
class Seconds:
    """Whole seconds since a phase began: from `first` on, up to `end`, which is not one of them."""

    first: int
    end: int

    def __len__(self) -> int:
        return max(self.end - self.first, 0)

    def within(self, other: Seconds) -> Seconds:
        """Those that both have."""
        return Seconds(max(self.first, other.first), min(self.end, other.end))


@dataclass(frozen=True)
class Windows:
    """A phase around an action, or around all of them.

    Attributes:
        before, during, after: neighbours; each may be empty.
        start_s, end_s: when the action started and ended, in seconds since the phase began, to the
            nanosecond; `end_s` is the phase's end where it did not end in it.
        ended: whether it did.
    """

    before: Seconds
    during: Seconds
    after: Seconds
    start_s: float
    end_s: float
    ended: bool

    @property
    def rest(self) -> Seconds:
        """From its start to the end of what comes after."""
        return Seconds(self.during.first, max(self.after.end, self.during.end))

    def each(self) -> Iterator[tuple[str, Seconds]]:
        """(name, window), in the order of time."""
        yield from (("before", self.before), ("during", self.during), ("after", self.after))

    def of(self, second: int) -> str:
        """The window that holds a second; empty when none does."""
        return next((name for name, w in self.each() if w.first <= second < w.end), "")


@dataclass(frozen=True)
class _Acting:
    """When an action acted, in seconds since the phase began."""

    start_s: float
    end_s: float
    ended: bool


def acted(actions: Iterable[ActionTimes], start_ns: int, seconds: float) -> list[ActionTimes]:
    """The actions that started within a phase, in the order of their starts."""
    last_ns = start_ns + seconds * NS
    found = [a for a in actions if a.started_ns is not None and start_ns <= a.started_ns < last_ns]
    return sorted(found, key=lambda a: a.started_ns or 0)


def around_all(
    actions: Sequence[ActionTimes], start_ns: int, seconds: float, first: int = 0
) -> Windows | None:
    """The windows around all actions of a phase: from the first one's start to the last one's end.

    Args:
        actions: of the trial, as actions.ndjson has them (docs/format.md).
        start_ns: the phase's start.
        seconds: its length; a second that is not whole is left out.
        first: seconds at its start that are left out as warm-up.

    Returns:
        None when no action started in the phase.
    """
    times = [_acting(a, start_ns, seconds) for a in acted(actions, start_ns, seconds)]
    if not times:
        return None
    ended = all(t.ended for t in times)
    whole = _Acting(min(t.start_s for t in times), max(t.end_s for t in times), ended)
    return _windows(whole, [], seconds, first)


def around_each(
    actions: Sequence[ActionTimes], start_ns: int, seconds: float, first: int = 0
) -> list[tuple[ActionTimes, Windows]]:
    """Each action with its own windows: `before` begins where the action before it ended, `after` ends where
    the next one starts. Arguments as of `around_all`."""
    found = acted(actions, start_ns, seconds)
    times = [_acting(a, start_ns, seconds) for a in found]
    others = [[*times[:n], *times[n + 1 :]] for n in range(len(times))]
    return [
        (action, _windows(own, rest, seconds, first))
        for action, own, rest in zip(found, times, others, strict=True)
    ]


def _acting(action: ActionTimes, start_ns: int, seconds: float) -> _Acting:
    assert action.started_ns is not None  # noqa: S101 - those that did not start were left out
    start_s = (action.started_ns - start_ns) / NS
    if action.how not in ("done", "failed") or action.ended_ns is None:
        return _Acting(start_s, seconds, ended=False)  # past its limit it still goes on
    end_s = (action.ended_ns - start_ns) / NS
    return _Acting(start_s, min(end_s, seconds), ended=end_s < seconds)


def _windows(own: _Acting, others: Sequence[_Acting], seconds: float, first: int) -> Windows:
    whole = int(seconds)
    start = min(int(own.start_s), whole)
    end = min(max(math.ceil(own.end_s), start + 1), whole) if own.ended else whole
    began = [min(math.ceil(o.end_s), start) for o in others if o.start_s <= own.start_s]
    goes_on = any(o.start_s < own.end_s < o.end_s for o in others)
    following = [max(int(o.start_s), end) for o in others if o.start_s >= own.end_s]
    until = end if goes_on else min([whole, *following])
    before = Seconds(min(max([first, *began]), start), start)
    return Windows(before, Seconds(start, end), Seconds(end, until), own.start_s, own.end_s, own.ended)
