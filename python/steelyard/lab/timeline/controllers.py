"""Controllers that decide by a figure how many nodes a cluster is to have: pure, told the time.

A moving average against two bounds, as Kuhlenkamp, Klems and Röss (PVLDB 7(12), 2014) scale by CPU in their
benchmark EB2. A controller decides; it starts nothing.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

Decision = Literal["add", "remove"]
KNOWN = 0.8
"""Share of a window's seconds that must be known: with fewer the average is of something else."""


@dataclass(frozen=True)
class Rule:
    """When to grow and when to shrink.

    Attributes:
        above: one node more when the average lies above it.
        below: one less when it lies below it; None = never. In the unit of the figure (CPU: share of what the
            nodes may use; p99: ms).
        window_s: seconds of the moving average.
        cool_down_s: seconds after the end of a change in which nothing is decided.
        least, most: nodes.
    """

    above: float
    below: float | None = None
    window_s: int = 60
    cool_down_s: float = 120.0
    least: int = 1
    most: int = 6

    def __post_init__(self) -> None:
        """Bounds that would make it swing are refused."""
        if self.below is not None and self.below >= self.above:
            raise ValueError(f"below = {self.below:g} is not under above = {self.above:g}: it would swing")
        if not 1 <= self.least <= self.most:
            raise ValueError(f"least = {self.least} and most = {self.most} enclose no number of nodes")
        if self.window_s < 1:
            raise ValueError("window_s is at least one second")


class Controller:
    """Decides, second by second.

    Args:
        rule: when to grow and when to shrink.
        nodes: how many there are.
    """

    def __init__(self, rule: Rule, nodes: int) -> None:
        self.rule, self.nodes = rule, nodes
        self._window: deque[float | None] = deque(maxlen=rule.window_s)
        self._pending = False
        self._quiet_until_s: float | None = None

    @property
    def average(self) -> float | None:
        """Over the window; None until it is full, and while too little of it is known."""
        known = [value for value in self._window if value is not None]
        full = len(self._window) == self.rule.window_s
        return sum(known) / len(known) if full and len(known) >= KNOWN * self.rule.window_s else None

    def second(self, t_s: float, value: float | None) -> Decision | None:
        """A second has passed.

        Args:
            t_s: its end.
            value: the figure of it; None = not known.

        Returns:
            What is to be done now. Until `changed` tells that it has been done, nothing more is decided.
        """
        self._window.append(value)
        if self._pending or (self._quiet_until_s is not None and t_s < self._quiet_until_s):
            return None
        decision = self._decide()
        self._pending = decision is not None
        return decision

    def changed(self, t_s: float, nodes: int) -> None:
        """A change has ended, perhaps in vain; what was measured before it says nothing of what is now."""
        self.nodes, self._pending = nodes, False
        self._quiet_until_s = t_s + self.rule.cool_down_s
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
