"""The latency laws of the fake servers (crates/fakes/src/law.rs), as they are told and as they work.

A law gives each operation some work (ns), and says when work that came at a time is done. Times are ns since
the case's epoch; a stall is a server that stands still.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.calibrate.draws import LATENCY, SECOND, Words, fake_unit

US, MS = 1_000, 1_000_000


@dataclass(frozen=True)
class Law:
    """A law; its fields are figures with their units in their names."""

    kind: ClassVar[str]

    def words(self) -> dict[str, Any]:
        """As the fakes are told."""
        return {"kind": self.kind, **asdict(self)}

    def text(self) -> str:
        """As people are told: `one_stall latency_us=300 at_ms=8000 stall_ms=1000`."""
        return " ".join([self.kind, *(f"{name}={value:g}" for name, value in asdict(self).items())])

    def work(self, seed: int, numbers: Words) -> NDArray[np.int64]:
        """Work of each operation, ns."""
        raise NotImplementedError

    def done(self, came: int, work: int) -> int:
        """When work that came at a time is done, ns since the epoch."""
        return came + work

    def typical_us(self) -> float:
        """About the mean latency while the server is not standing still."""
        raise NotImplementedError


def _same(us: float, numbers: Words) -> NDArray[np.int64]:
    return np.full(len(numbers), int(us * US), dtype=np.int64)


@dataclass(frozen=True)
class Constant(Law):
    """Always the same."""

    kind = "constant"
    latency_us: float

    def work(self, seed: int, numbers: Words) -> NDArray[np.int64]:  # noqa: ARG002
        """The latency."""
        return _same(self.latency_us, numbers)

    def typical_us(self) -> float:
        """The latency."""
        return self.latency_us


@dataclass(frozen=True)
class Lognormal(Law):
    """The logarithm is normal."""

    kind = "lognormal"
    median_us: float
    sigma: float

    def work(self, seed: int, numbers: Words) -> NDArray[np.int64]:
        """Box and Muller's normal draws."""
        radius = np.sqrt(-2 * np.log(fake_unit(seed, LATENCY, numbers)))
        normal = radius * np.cos(2 * np.pi * fake_unit(seed, SECOND, numbers))
        return np.array(self.median_us * np.exp(self.sigma * normal) * US, dtype=np.int64)

    def typical_us(self) -> float:
        """The mean."""
        return float(self.median_us * np.exp(self.sigma**2 / 2))


@dataclass(frozen=True)
class Bimodal(Law):
    """Fast, or for a share of the operations slow."""

    kind = "bimodal"
    fast_us: float
    slow_us: float
    slow_share: float

    def work(self, seed: int, numbers: Words) -> NDArray[np.int64]:
        """One of the two."""
        slow = fake_unit(seed, LATENCY, numbers) < self.slow_share
        return (np.where(slow, self.slow_us, self.fast_us) * US).astype(np.int64)

    def typical_us(self) -> float:
        """The mean."""
        return self.slow_us * self.slow_share + self.fast_us * (1 - self.slow_share)


@dataclass(frozen=True)
class PeriodicStall(Constant):
    """Constant, and a stall at every multiple of a period but 0."""

    kind = "periodic_stall"
    every_ms: float
    stall_ms: float

    def done(self, came: int, work: int) -> int:
        """After the stall it came in, and the one it runs into."""
        every, stall = int(self.every_ms * MS), int(self.stall_ms * MS)
        last = came // every * every
        begun = max(came, last + stall) if last else came
        return begun + work + (stall if begun + work > last + every else 0)


@dataclass(frozen=True)
class OneStall(Constant):
    """Constant, and one stall."""

    kind = "one_stall"
    at_ms: float
    stall_ms: float

    def done(self, came: int, work: int) -> int:
        """After the stall, if it came in it or runs into it."""
        at, stall = int(self.at_ms * MS), int(self.stall_ms * MS)
        if came < at:
            return came + work + (stall if came + work > at else 0)
        return max(came, at + stall) + work


@dataclass(frozen=True)
class Ramp(Law):
    """From one latency to another in a straight line, by arrival; then the last."""

    kind = "ramp"
    from_us: float
    to_us: float
    over_ms: float

    def work(self, seed: int, numbers: Words) -> NDArray[np.int64]:  # noqa: ARG002
        """None of its own: it depends on the arrival."""
        return _same(0, numbers)

    def done(self, came: int, work: int) -> int:
        """By how far the ramp has risen."""
        part = min(came / (self.over_ms * MS), 1.0)
        return came + work + int((self.from_us + (self.to_us - self.from_us) * part) * US)

    def typical_us(self) -> float:
        """The middle."""
        return (self.from_us + self.to_us) / 2
