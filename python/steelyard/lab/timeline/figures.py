"""Figures that conditions ask for: of the client second by second, of nodes from the newest samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.spec.triggers import CLIENT

Key = tuple[str | None, str]
"""A node (None: the client) and a metric."""
CPU_CORES, CPU_TOTAL = "cpu_cores", "cpu_seconds_total"
PER_S, TOTAL = "_per_s", "_total"
SAME_NS = 3_000_000_000
"""A counter that stands still for less may be one sample that was looked at twice."""


@dataclass(frozen=True)
class Second:
    """One whole second of a phase, over all engines.

    Attributes:
        number: since the phase's start, from 0.
        rate_per_s: operations answered in it.
        failed_per_s: of them failures.
        p50_ms, p99_ms: of answers in it; of several engines the worst engine's. None without an answer.
        in_flight, backlog: at its end.
    """

    number: int
    rate_per_s: float
    failed_per_s: float
    p50_ms: float | None
    p99_ms: float | None
    in_flight: float
    backlog: float

    def get(self, metric: str) -> float | None:
        """A figure of the client by its name."""
        value: float | None = getattr(self, metric) if metric in CLIENT else None
        return value


def second_of(events: Iterable[Mapping[str, Any]]) -> Second:
    """From each engine's `interval` event of one second."""
    seen = list(events)

    def worst_ms(name: str) -> float | None:
        known = [float(e[name]) / 1e6 for e in seen if e.get(name) is not None]
        return max(known, default=None)

    def total(name: str) -> float:
        return sum(float(e.get(name) or 0) for e in seen)

    return Second(
        number=int(seen[0].get("second", 0)),
        rate_per_s=total("done"),
        failed_per_s=float(sum(sum((e.get("failed") or {}).values()) for e in seen)),
        p50_ms=worst_ms("response_p50_ns"),
        p99_ms=worst_ms("response_p99_ns"),
        in_flight=total("in_flight"),
        backlog=total("backlog"),
    )


class Seconds:
    """Puts engines' events of the same second together: a second is whole when every engine has told it.

    Args:
        engines: how many there are.
    """

    def __init__(self, engines: int) -> None:
        self._engines = engines
        self._parts: dict[int, dict[int, Mapping[str, Any]]] = {}
        self._last = -1

    def take(self, newest: Mapping[int, Mapping[str, Any]]) -> Second | None:
        """The newest second, once, as soon as all engines have told it.

        Args:
            newest: engine -> its newest `interval` event; may have been told before.
        """
        for engine, event in newest.items():
            self._parts.setdefault(int(event.get("second", 0)), {})[engine] = event
        whole = [n for n, parts in self._parts.items() if n > self._last and len(parts) == self._engines]
        if not whole:
            return None
        self._last = max(whole)
        found = second_of(self._parts[self._last].values())
        self._parts = {n: parts for n, parts in self._parts.items() if n > self._last}
        return found


Latest = Callable[[str, str], float | None]
"""(node, metric) -> its newest sample."""


class NodeFigures:
    """Levels of nodes as sampled, and rates of counters between two looks.

    Args:
        latest: the watch.
    """

    def __init__(self, latest: Latest) -> None:
        self._latest = latest
        self._before: dict[Key, tuple[int, float, float | None]] = {}  # when, the counter, its rate then

    def get(self, node: str, metric: str, now_ns: int) -> float | None:
        """The figure now; None while it is not known: a rate needs two different samples."""
        level = self._latest(node, metric)
        if level is not None:
            return level
        counter = CPU_TOTAL if metric == CPU_CORES else f"{metric.removesuffix(PER_S)}{TOTAL}"
        if metric != CPU_CORES and not metric.endswith(PER_S):
            return None
        value = self._latest(node, counter)
        if value is None:
            return None
        return self._rate((node, metric), now_ns, value)

    def _rate(self, key: Key, now_ns: int, value: float) -> float | None:
        rate = None
        if before := self._before.get(key):
            then_ns, seen, known = before
            if value == seen and now_ns - then_ns < SAME_NS:
                return known
            if now_ns > then_ns and value >= seen:
                rate = (value - seen) / ((now_ns - then_ns) / 1e9)
        self._before[key] = (now_ns, value, rate)
        return rate
