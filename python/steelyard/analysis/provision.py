"""Demand and supply of nodes over time, and how far they lie apart.

Demand is the least number of nodes whose highest rate, measured beforehand, is at least what is offered;
supply is how many serve. Accuracy and timeshare are those of the SPEC Research Group (Herbst et al.,
SPEC-RG-2016-01, arXiv 1604.03470): nodes too few and too many on average over the run, and the share of time
with either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.windows.milestones import JOINED
from steelyard.results.actions import ActionTimes

Counts = NDArray[np.int64]
NS = 1e9


@dataclass(frozen=True)
class Provision:
    """How far supply lay from demand.

    Attributes:
        under_nodes, over_nodes: too few and too many on average over all seconds (accuracy, in nodes).
        under_share, over_share: of the seconds, with too few and with too many (timeshare).
    """

    under_nodes: float
    over_nodes: float
    under_share: float
    over_share: float


def demand(
    curve: Sequence[tuple[float, float]], capacity: Sequence[tuple[int, float]], seconds: int
) -> Counts:
    """Nodes that the load needs in each second, by the rate in its middle.

    Args:
        curve: (seconds since the run began, operations per second), lines between; the last rate stays.
        capacity: (nodes, highest rate), at least one.
        seconds: of the run.

    Returns:
        One number a second; where no measured size is enough the largest one.
    """
    rates = np.interp(np.arange(seconds) + 0.5, *np.array(curve, dtype=np.float64).T)
    sizes = sorted(capacity)
    found = np.full(seconds, sizes[-1][0], dtype=np.int64)
    for nodes, highest in reversed(sizes):
        found[rates <= highest] = nodes
    return found


def supply(first: int, actions: Iterable[ActionTimes], start_ns: int, seconds: int) -> Counts:
    """Nodes that serve in each second, as of its middle.

    One that joins serves once it has passed the milestone of doing its share; one that leaves until it left.

    Args:
        first: nodes at the start.
        actions: what was done, as actions.ndjson has it.
        start_ns: the run's start, CLOCK_MONOTONIC.
        seconds: of the run.
    """
    middle = np.arange(seconds) + 0.5
    found = np.full(seconds, first, dtype=np.int64)
    for at_ns, change in _changes(actions):
        found[middle >= (at_ns - start_ns) / NS] += change
    return found


def _changes(actions: Iterable[ActionTimes]) -> Iterable[tuple[int, int]]:
    """(time, nodes more or less)."""
    for action in actions:
        if action.do == "add":
            passed = {m.node: m.t_ns for m in reversed(action.milestones) if m.what in JOINED}
            yield from ((t_ns, 1) for t_ns in passed.values())
        elif action.do == "remove":
            passed = {m.node: m.t_ns for m in reversed(action.milestones) if m.what == "left"}
            yield from ((t_ns, -1) for t_ns in passed.values())


def provision(needed: Counts, there: Counts) -> Provision | None:
    """How far supply lay from demand; None of no second."""
    if not needed.size:
        return None
    lack, excess = np.maximum(needed - there, 0), np.maximum(there - needed, 0)
    return Provision(
        float(lack.mean()), float(excess.mean()), float((lack > 0).mean()), float((excess > 0).mean())
    )
