"""What is tried: each cell is a law under a loop at a rate, long enough for its percentiles."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from steelyard.calibrate.laws import Bimodal, Constant, Law, Lognormal, OneStall, PeriodicStall, Ramp

LoopKind = Literal["open constant", "open Poisson", "target, large cap", "target, small cap", "closed"]
RATES = (1_000, 10_000)
OPEN_CAP = 16_384
"""So many in flight are never reached: every operation is sent when it is due."""
LARGE_CAP = 256
SMALL_ROOM = 4
"""A small cap holds so many times what is in flight on average: the queue drains after a stall."""
CLIENTS = 16
SEED = 20_251


@dataclass(frozen=True)
class CalibrationCell:
    """One try.

    Attributes:
        law: of the server.
        loop: how operations are made.
        operations: how many; numbers 0 to operations - 1.
        in_flight: at most so many at a time; in a closed loop the number of clients.
        rate: operations per second that fall due; None in a closed loop.
        burn_us: CPU that the server uses for each request beside answering it.
        faults: what the server does instead of answering (crates/fakes/src/fault.rs).
        timeout_ms: an attempt's and an operation's deadline.
        retry: the engine's policy.
        quantum_us: of the engine's wake-ups (docs/format.md, `pacing`).
    """

    law: Law
    loop: LoopKind
    operations: int
    in_flight: int
    rate: float | None = None
    burn_us: int = 0
    seed: int = SEED
    faults: dict[str, Any] = field(default_factory=dict)
    timeout_ms: int = 10_000
    retry: str = "none"
    quantum_us: int | Literal["auto", "exact"] = "auto"

    @property
    def arrivals(self) -> dict[str, Any]:
        """As the plan says it."""
        if self.rate is None:
            return {"kind": "closed"}
        return {"kind": "poisson" if self.loop == "open Poisson" else "constant", "rate": self.rate}

    @property
    def name(self) -> str:
        """`one_stall, target, small cap (2), 1000/s`."""
        rate = "" if self.rate is None else f", {self.rate:,.0f}/s"
        cap = "" if self.loop.startswith("open") else f" ({self.in_flight})"
        quantum = "" if self.quantum_us == "auto" else f", {self.pacing}"
        return f"{self.law.kind}, {self.loop}{cap}{rate}{quantum}"

    @property
    def pacing(self) -> str:
        """`auto`, `exact` or `250us`, as a load has it."""
        return self.quantum_us if isinstance(self.quantum_us, str) else f"{self.quantum_us}us"


def laws(seconds: float) -> tuple[Law, ...]:
    """Every law, its times fitted into a run of so many seconds: a stall takes a twentieth of it."""
    ms = seconds * 1e3
    return (
        Constant(500),
        Lognormal(500, 0.6),
        Bimodal(300, 10_000, 0.02),
        PeriodicStall(500, every_ms=ms / 5, stall_ms=ms / 100),
        OneStall(500, at_ms=ms * 0.4, stall_ms=ms / 20),
        Ramp(200, 5_000, over_ms=ms),
    )


def cells(*, quick: bool) -> Iterator[CalibrationCell]:
    """Every try, the closed loops last. The long ones stall for 1 s in 20 s."""
    for rate, seconds in zip(RATES, (4, 2) if quick else (20, 10), strict=True):
        for law in laws(seconds):
            for loop in _paced(quick=quick):
                yield CalibrationCell(law, loop, rate * seconds, _cap(loop, law, rate), rate)
    seconds = 2 if quick else 10
    for law in laws(seconds):
        operations = int(seconds * CLIENTS * 1e6 / (law.typical_us() + 100))
        yield CalibrationCell(law, "closed", operations, CLIENTS)


def busy_cells(*, quick: bool) -> Iterator[CalibrationCell]:
    """The same rates beside a server that uses CPU for every request: most of a core at the highest."""
    for rate in RATES:
        yield CalibrationCell(
            Constant(500), "open Poisson", rate * (2 if quick else 10), OPEN_CAP, rate, burn_us=BUSY_US
        )


BUSY_US = 60


def coarse_cells(*, quick: bool) -> Iterator[CalibrationCell]:
    """Without a quantum and with coarse ones, at which one read brings several answers and one stamp."""
    for rate, seconds in zip(RATES, (4, 2) if quick else (10, 10), strict=True):
        for law in (Lognormal(500, 0.6),) if quick else (Lognormal(500, 0.6), Constant(5_000)):
            for quantum_us in QUANTA_US:
                yield CalibrationCell(
                    law, "open Poisson", rate * seconds, OPEN_CAP, rate, quantum_us=quantum_us
                )


QUANTA_US: tuple[int | Literal["exact"], ...] = ("exact", 250, 1_000)


def _paced(*, quick: bool) -> tuple[LoopKind, ...]:
    if quick:
        return ("open Poisson", "target, small cap")
    return ("open constant", "open Poisson", "target, large cap", "target, small cap")


def _cap(loop: LoopKind, law: Law, rate: float) -> int:
    if loop.startswith("open"):
        return OPEN_CAP
    if loop == "target, large cap":
        return LARGE_CAP
    most_us = law.to_us if isinstance(law, Ramp) else law.typical_us()
    return max(2, math.ceil(SMALL_ROOM * rate * most_us / 1e6))
