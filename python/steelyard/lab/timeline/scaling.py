"""A controller at work in a run: the figure it goes by, and what it decides as actions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from steelyard.lab.timeline.controller import Controller
from steelyard.lab.timeline.figures import CPU_CORES, Second
from steelyard.lab.timeline.perform import members
from steelyard.spec.actions import Add, Remove
from steelyard.spec.scale import CPU_SHARE, Scale

OfNode = Callable[[str, str], float | None]
"""(node, metric) -> its figure now."""


class Scaling:
    """Turns what a controller decides into actions, one after the other.

    Args:
        rule: the controller's.
        testbed: the cluster.

    Attributes:
        change: id of what it decided and has not been told the end of; empty = nothing.
    """

    def __init__(self, rule: Scale, testbed: Any) -> None:
        self._rule, self._testbed = rule, testbed
        self._controller = Controller(rule, len(members(testbed)))
        self._made = 0
        self.change = ""

    def second(self, second: Second, now_ns: int, of_node: OfNode) -> Add | Remove | None:
        """A second of the run has passed; what is to be done now."""
        rule = self._rule
        value = self._cpu_share(of_node) if rule.metric == CPU_SHARE else second.get(rule.metric)
        decision = self._controller.second(now_ns, value)
        if decision is None:
            return None
        self._made += 1
        self.change = f"{rule.id}-{self._made}"
        said = {"id": self.change, "at": 0.0, "limit": rule.limit}
        if decision == "add":
            return Add(do="add", limited=rule.limited, **said)
        return Remove(do="remove", **said)

    def ended(self, t_ns: int) -> None:
        """Its change has ended, in whatever way, and nothing of it goes on."""
        self.change = ""
        self._controller.changed(t_ns, len(members(self._testbed)))

    def _cpu_share(self, of_node: OfNode) -> float | None:
        """The mean over nodes of what each uses of its quota; None while none is known."""
        quotas = getattr(self._testbed, "cpu", {})
        return _mean(
            [
                used / quota
                for node in members(self._testbed)
                if (quota := quotas.get(node)) and (used := of_node(node, CPU_CORES)) is not None
            ]
        )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
