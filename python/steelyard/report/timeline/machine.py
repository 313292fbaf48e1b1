"""What actions did, for other programs: the fields of the measures, units in their names."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from steelyard.report.model import TrialReport


def timeline_json(trial: TrialReport) -> dict[str, Any] | None:
    """Actions with their windows and measures, and the pair; None where nothing was done to the cluster."""
    if trial.acted is None:
        return None
    found: dict[str, Any] = asdict(trial.acted)
    found["control"] = None
    if trial.paired:
        against = trial.paired.compared
        found["control"] = {
            "trial": trial.paired.control,
            "impact_s": against.impact_s,
            "impact_share": against.impact_share,
            **asdict(against),
            "effect": asdict(trial.paired.effect),
        }
    return found
