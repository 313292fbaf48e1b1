"""A controller decides by a figure's moving average how many nodes a cluster is to have.

A pure state machine, told figures and times: it starts nothing. Kuhlenkamp, Klems and Röss (PVLDB 7(12),
2014) name such a rule by CPU in their benchmark type EB2.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from steelyard.spec.scale import Scale

Decision = Literal["add", "remove"]
NS = 1_000_000_000
KNOWN = 0.8
"""Share of a window's seconds that must be known: with fewer the average is of something else."""


class Controller:
    """Decides, second by second.

    Args:
        rule: when to grow and when to shrink.
        nodes: how many there are.
    """

    def __init__(self, rule: Scale, nodes: int) -> None:
        self.rule, self.nodes = rule, nodes
        self._window: deque[float | None] = deque(maxlen=round(rule.average))
        self._changing = False
        self._quiet_until_ns = 0

    @property
    def average(self) -> float | None:
        """Over the window; None until it is full, and while too little of it is known."""
        known = [value for value in self._window if value is not None]
        full = len(self._window) == self._window.maxlen
        return sum(known) / len(known) if full and len(known) >= KNOWN * len(self._window) else None

    def second(self, now_ns: int, value: float | None) -> Decision | None:
        """A second has passed.

        Args:
            now_ns: when it was known, CLOCK_MONOTONIC.
            value: the figure of it; None = not known.

        Returns:
            What is to be done now. Until `changed` tells that it has ended, nothing more is decided.
        """
        self._window.append(value)
        if self._changing or now_ns < self._quiet_until_ns:
            return None
        decision = self._decide()
        self._changing = decision is not None
        return decision

    def changed(self, t_ns: int, nodes: int) -> None:
        """A change has ended, perhaps without success; what was measured before is of other nodes."""
        self.nodes, self._changing = nodes, False
        self._quiet_until_ns = t_ns + round(self.rule.cool_down * NS)
        self._window.clear()

    def _decide(self) -> Decision | None:
        average, rule = self.average, self.rule
        if average is None:
            return None
        if average > rule.above and self.nodes < rule.most:
            return "add"
        if rule.below is not None and average < rule.below and self.nodes > rule.least:
            return "remove"
        return None
