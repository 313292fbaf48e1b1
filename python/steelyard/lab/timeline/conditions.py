"""Conditions by which actions begin and end: pure state machines, told times and figures.

Each tells since when it has held. One that has come true stays so, whatever comes later: it is asked whether
an action's time has come, not whether it would have to wait again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from steelyard.analysis.steady import BATCH, LEAST_INTERVALS, Steady, steady
from steelyard.lab.timeline.figures import Key, Second
from steelyard.spec.triggers import STEADY, Figure, Triggered

NS = 1_000_000_000
JUDGE_EVERY = BATCH
"""Seconds between two judgements of steadiness: a further batch of five decides it, not a further second."""
MOST_SECONDS = 600
"""Steadiness is asked of the last so many: what is long past neither helps nor hinders."""


class Condition:
    """What may come true.

    Attributes:
        since_ns: when it came true, CLOCK_MONOTONIC; None = not yet.
    """

    since_ns: int | None = None

    def second(self, second: Second, now_ns: int, figures: Mapping[Key, float | None]) -> None:
        """A second of the run has passed; `figures` holds what nodes were asked for."""

    def ended(self, action: str, t_ns: int) -> None:
        """An action has ended."""


class At(Condition):
    """A time of the run.

    Args:
        began_ns: when the run phase began.
        at_s: seconds since then.
    """

    def __init__(self, began_ns: int, at_s: float) -> None:
        self.since_ns = began_ns + round(at_s * NS)


class After(Condition):
    """Another action has ended, in whatever way: what comes after a failure may be its cure."""

    def __init__(self, action: str) -> None:
        self._action = action

    def ended(self, action: str, t_ns: int) -> None:
        """See `Condition.ended`."""
        if action == self._action and self.since_ns is None:
            self.since_ns = t_ns


class Holds(Condition):
    """A figure has lain above or below its bound for long enough, without interruption.

    A second without the figure interrupts it: what is not known does not hold.
    """

    def __init__(self, figure: Figure) -> None:
        self._figure = figure
        self._first_ns: int | None = None

    def second(self, second: Second, now_ns: int, figures: Mapping[Key, float | None]) -> None:
        """See `Condition.second`."""
        asked = self._figure
        value = figures.get((asked.node, asked.metric)) if asked.node else second.get(asked.metric)
        if value is None or not self._beyond(value):
            self._first_ns = None
            return
        self._first_ns = now_ns if self._first_ns is None else self._first_ns
        if self.since_ns is None and now_ns - self._first_ns >= asked.for_s * NS:
            self.since_ns = now_ns

    def _beyond(self, value: float) -> bool:
        asked = self._figure
        return value > asked.above if asked.above is not None else value < (asked.below or 0.0)


Judge = Callable[[Any, str], Steady]


class IsSteady(Condition):
    """The run has come to a steady state: MSER-5 and change points find one, and it does not drift.

    Asked of the median response of each second where a rate is given, else of throughput, as reports do.

    Args:
        paced: whether a rate is given.
        judge: `analysis.steady.steady`.
    """

    def __init__(self, *, paced: bool, judge: Judge = steady) -> None:
        self._metric = "p50_ms" if paced else "rate_per_s"
        self._judge = judge
        self._series: list[float] = []
        self._told = 0

    def second(self, second: Second, now_ns: int, figures: Mapping[Key, float | None]) -> None:  # noqa: ARG002 - of the client alone
        """See `Condition.second`."""
        value = second.get(self._metric)
        if value is None or self.since_ns is not None:
            return
        self._series = [*self._series[1 - MOST_SECONDS :], value]
        self._told += 1
        if self._told >= LEAST_INTERVALS and self._told % JUDGE_EVERY == 0:
            found = self._judge(np.asarray(self._series), self._metric)
            if found.reached and not found.drift:
                self.since_ns = now_ns


class Trigger:
    """When an action begins: all its conditions have come true, and its `wait` has passed since.

    Args:
        asked: when it is to begin.
        began_ns: when the run phase began.
        paced: whether a rate is given.
    """

    def __init__(self, asked: Triggered, began_ns: int, *, paced: bool) -> None:
        self._wait_ns = round(asked.wait * NS)
        self.conditions: list[Condition] = []
        if asked.at is not None:
            self.conditions.append(At(began_ns, asked.at))
        if asked.after is not None:
            steady_first = asked.after == STEADY
            self.conditions.append(IsSteady(paced=paced) if steady_first else After(asked.after))
        if asked.when is not None:
            self.conditions.append(Holds(asked.when))

    def second(self, second: Second, now_ns: int, figures: Mapping[Key, float | None]) -> None:
        """A second of the run has passed."""
        for condition in self.conditions:
            condition.second(second, now_ns, figures)

    def ended(self, action: str, t_ns: int) -> None:
        """An action has ended."""
        for condition in self.conditions:
            condition.ended(action, t_ns)

    @property
    def due_ns(self) -> int | None:
        """When it begins; None while that is not known."""
        times = [condition.since_ns for condition in self.conditions]
        known = [t for t in times if t is not None]
        return max(known) + self._wait_ns if len(known) == len(times) else None
