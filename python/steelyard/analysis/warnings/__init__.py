"""Warnings that come unasked: each kind one small pure function from a `Context` to a `Warned` or None.

`phase` checks how the load was driven, `steadiness` whether it came to rest, `inside` what the servers told,
`host` what the machine did to it, `outcome` how the trial ended and what was judged, `calibration` whether it
lies within what was calibrated. Thresholds stand, with their reason, beside the check that uses them.
"""

from __future__ import annotations

from steelyard.analysis.warnings import calibration, host, inside, outcome, phase, steadiness
from steelyard.analysis.warnings.base import Check, Context, Level, Warned

CHECKS: tuple[Check, ...] = (
    *outcome.CHECKS,
    *phase.CHECKS,
    *steadiness.CHECKS,
    *inside.CHECKS,
    *host.CHECKS,
    *calibration.CHECKS,
)
"""In the order in which a report shows them."""

SIDE_CHECKS: tuple[Check, ...] = (phase.errors, phase.censored, outcome.audit)
"""For phases beside the measured one (load, warm-up, audit)."""

_RANK: dict[Level, int] = {"fault": 0, "warning": 1, "note": 2}

__all__ = ["CHECKS", "SIDE_CHECKS", "Check", "Context", "Level", "Warned", "derive"]


def derive(context: Context, checks: tuple[Check, ...] = CHECKS) -> tuple[Warned, ...]:
    """Everything there is to warn about, the gravest first."""
    found = [warned for check in checks if (warned := check(context)) is not None]
    return tuple(sorted(found, key=lambda warned: _RANK[warned.level]))
