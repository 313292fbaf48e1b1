"""How far the figures can be trusted on this machine, by the newest certificate of calibration there is."""

from __future__ import annotations

from steelyard.analysis.warnings.base import Check, Context, Warned
from steelyard.results.certificates import Certificate

ROOM = 1.05
"""A closed loop's rate wanders by some percent: what lies so little outside is inside."""


def calibrated(context: Context) -> Warned | None:
    """Whether rate and latency lie within what was calibrated; nothing where nothing was."""
    found = context.calibration
    if found is None:
        return None
    outside = _outside(context, found)
    if not outside:
        return Warned("calibrated", f"Calibrated: {_cited(found)}.", "note")
    return Warned(
        "outside_calibration",
        f"Outside what was calibrated: {' and '.join(outside)}. How far these figures may be off was not "
        f"measured on this machine ({_cited(found)}).",
    )


def _outside(context: Context, found: Certificate) -> list[str]:
    total = context.phase.total
    rate = max(context.phase.target_per_s or 0.0, total.rate_per_s)
    kept = max(found.rate_per_s, found.highest_rate_per_s or 0.0)
    p999_us = (total.response.p999_ns or 0) / 1e3
    outside = []
    if rate > kept * ROOM:
        outside.append(f"{rate:,.0f} operations/s, where at most {kept:,.0f} were kept without being late")
    if p999_us > found.longest_us * ROOM:
        longest = found.longest_us / 1e3
        outside.append(f"p99.9 of {p999_us / 1e3:,.3g} ms, where the longest tried was {longest:,.3g} ms")
    return outside


def _cited(found: Certificate) -> str:
    return (
        f"on {found.created[:10]} with the {found.driver} driver up to {found.rate_per_s:,.0f}/s: "
        f"percentiles were within {found.allowed} of the truth in {found.right} of {found.cells} cells; "
        f"{found.path}"
    )


CHECKS: tuple[Check, ...] = (calibrated,)
