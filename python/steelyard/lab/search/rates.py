"""The highest rate that a system bears: which rate to try next, told what the last one came to.

Nothing here measures, waits or knows an engine. A rate is borne when nearly all that fell due was answered
well and, if a bound is given, the latency stayed below it. The search doubles and halves until a borne and an
unborne rate enclose the answer, halves the enclosure on a logarithmic scale, and tries what it found again
and again before it is believed: one lucky or unlucky probe decides nothing.
"""

from __future__ import annotations

import math
import random
from dataclasses import asdict, dataclass, field
from typing import Literal

from steelyard.lab.search.answered import Answered

REACHED = 0.98
"""Share of what falls due that must be answered well."""
GROWTH = 2.0
MOST_PROBES = 60
"""A search that has not ended by then swings: the system answers differently each time."""

Reason = Literal["confirmed", "highest allowed", "not even the least", "swings"]


@dataclass(frozen=True)
class Probe:
    """What one rate came to.

    Attributes:
        rate_per_s: offered.
        due_per_s, ok_per_s, chance_per_s: as of `Answered`.
        latency_ns: the figure that has a bound, over all attempts; None when nothing was measured.
        borne: whether the system bore it.
    """

    rate_per_s: float
    due_per_s: float
    ok_per_s: float
    chance_per_s: float
    latency_ns: float | None
    borne: bool


@dataclass(frozen=True)
class Limits:
    """Between which rates, and how closely, is searched.

    Attributes:
        start, least, most: rates a second.
        precision: relative width of the last enclosure, e.g. 0.05.
        confirm: how many probes of the rate that was found must come, more than half of them borne.
        bound_ns: highest latency; None for saturation.
    """

    start: float
    least: float = 1.0
    most: float = 1e9
    precision: float = 0.05
    confirm: int = 3
    bound_ns: float | None = None

    def judge(self, rate_per_s: float, found: Answered, latency_ns: float | None) -> Probe:
        """A probe with its verdict."""
        reached = found.ok_per_s >= REACHED * found.due_per_s - found.chance_per_s
        below = self.bound_ns is None or (latency_ns is not None and latency_ns <= self.bound_ns)
        return Probe(rate_per_s, **asdict(found), latency_ns=latency_ns, borne=reached and below)


def staggered(start: float, precision: float, seed: int) -> float:
    """Where the search of a trial begins: at most one step above `start`, by its seed.

    What a search finds is a rung of the ladder that its first rate sets up. If all trials began alike they
    would end on one rung however their answers differ, and the spread over trials would lack the step, which
    is all that is known of each. Trials of one repetition have one seed, and one ladder.
    """
    halvings = math.ceil(math.log2(math.log(GROWTH) / math.log(1 + precision)))
    step = GROWTH ** (0.5 ** max(halvings, 0))
    share = random.Random(seed).random()  # noqa: S311 - no secret
    return float(start * step**share)


@dataclass
class Search:
    """One search: ask `rate` for what to try, `tell` what it came to, until `reason` is set.

    Attributes:
        limits: what is searched.
        probes: all that was tried, in order.
        low: the highest rate taken for borne; None before there is one.
        high: the lowest rate taken for too much.
        reason: why it ended; None while it goes on.
    """

    limits: Limits
    probes: list[Probe] = field(default_factory=list)
    low: float | None = None
    high: float | None = None
    reason: Reason | None = None

    def __post_init__(self) -> None:
        self._rate = min(max(self.limits.start, self.limits.least), self.limits.most)
        self._tries: list[bool] = []
        self._confirming = False
        self._falls = 0

    @property
    def rate(self) -> float:
        """The rate to try next."""
        return self._rate

    @property
    def found(self) -> float | None:
        """The highest rate that the system bears; None if there is none, or the search swung."""
        return self.low if self.reason in ("confirmed", "highest allowed") else None

    def tell(self, probe: Probe) -> None:
        """What the rate to be tried came to."""
        self.probes.append(probe)
        self._tries.append(probe.borne)
        borne = self._verdict()
        if borne is not None:
            self._tries = []
            self._decided(borne)
        if self.reason is None and len(self.probes) >= MOST_PROBES:
            self.reason = "swings"

    def _verdict(self) -> bool | None:
        """Borne at the first try or by two of three; to be confirmed, by more than half of all tries."""
        borne, failed = self._tries.count(True), self._tries.count(False)
        majority = self.limits.confirm // 2 + 1 if self._confirming else 2
        if borne >= majority or (borne == 1 and not failed and not self._confirming):
            return True
        return False if failed >= majority else None

    def _decided(self, borne: bool) -> None:
        if borne and self._confirming:
            self.reason = "highest allowed" if self.high is None else "confirmed"
            return
        if borne:
            self.low, self._falls = self._rate, 0
        else:
            self.high = self._rate
            self.low = None if self._confirming else self.low
        self._confirming = False
        self._choose()

    def _choose(self) -> None:
        """The next rate, or that what was found is to be confirmed."""
        if self.high is None:
            self._upwards()
        elif self.low is None:
            self._downwards(self.high)
        elif self.high / self.low > (1 + self.limits.precision) * (1 + 1e-9):
            self._rate = math.sqrt(self.low * self.high)
        else:
            self._confirming, self._rate = True, self.low

    def _upwards(self) -> None:
        if self._rate >= self.limits.most:
            self._confirming = True
        self._rate = min(self._rate * GROWTH, self.limits.most)

    def _downwards(self, high: float) -> None:
        """Halves; where a rate was borne before, by small steps that grow: the answer is near."""
        if high <= self.limits.least:
            self.reason = "not even the least"
            return
        near = any(probe.borne for probe in self.probes)
        step = min(1 + self.limits.precision * 2**self._falls, GROWTH) if near else GROWTH
        self._falls += 1
        self._rate = max(high / step, self.limits.least)
