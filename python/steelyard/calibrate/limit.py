"""How fast the client can be before it is late itself: rates that rise until it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.calibrate.cells import OPEN_CAP, CalibrationCell
from steelyard.calibrate.judge import Verdict
from steelyard.calibrate.laws import Constant

LATE_US = 1_000.0
"""A client whose p99 starts later than this after its due time is late itself."""
STEPS_PER_OCTAVE = 2
FIRST_RATE = 5_000
LAST_RATE = 2_000_000
SECONDS = 2


def rising(*, quick: bool) -> Iterator[CalibrationCell]:
    """Cells of rising rates, to be stopped at the first that is late."""
    rate = float(FIRST_RATE)
    while rate <= LAST_RATE:
        whole = round(rate, -2)
        operations = int(whole * (1 if quick else SECONDS))
        yield CalibrationCell(Constant(500), "open constant", operations, OPEN_CAP, whole)
        rate *= 2 ** (1 / (1 if quick else STEPS_PER_OCTAVE))


def late(verdict: Verdict) -> str:
    """Why the client did not keep its rate; empty when it did."""
    if verdict.completed < verdict.operations:
        return f"{verdict.operations - verdict.completed:,} operations had no answer"
    p99 = verdict.late_us.get("p99", 0.0)
    if p99 > LATE_US:
        return f"p99 was sent {p99:,.0f} us after it was due"
    return ""


def ends(verdict: Verdict) -> bool:
    """Whether the client itself could not keep this rate: where the host stole its time nobody knows."""
    return bool(late(verdict)) and not verdict.disturbed


def found(tried: Sequence[Verdict]) -> dict[str, Any]:
    """The highest rate that was kept, and what happened at the first that was not."""
    kept = [v for v in tried if not late(v)]
    missed = next((v for v in tried if ends(v)), None)
    return {
        "highest_rate_per_s": kept[-1].rate_per_s if kept else None,
        "missed_rate_per_s": missed.rate_per_s if missed else None,
        "missed_because": late(missed) if missed else None,
        "tried": [
            {
                "rate_per_s": v.rate_per_s,
                "late_us": v.late_us,
                "completed_per_s": v.completed_per_s,
                "cpu_us": v.cpu_us,
                "steal_share": v.steal_share,
            }
            for v in tried
        ],
    }
