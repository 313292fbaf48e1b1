"""What a trial did and what happened to it, as rules in its charts."""

from __future__ import annotations

from steelyard.report.chart import Rows
from steelyard.report.formatting import clean, plain
from steelyard.report.model import TrialReport

EVENTS_NOTE = "Dotted: what the trial did; point at a rule to read it."


def events(trial: TrialReport, origin: float, within: tuple[float, float]) -> Rows:
    """Rows of `x`, seconds since `origin`, and `event`; times are CLOCK_MONOTONIC seconds.

    Args:
        trial: whose timeline.
        origin: second 0 of the chart.
        within: the first and the last time that are shown.
    """
    rows: Rows = []
    for event in trial.manifest.get("timeline") or ():
        at = float(event.get("t_ns") or 0) / 1e9
        if within[0] <= at <= within[1]:
            detail = plain(event.get("detail"))
            told = clean(event.get("event", "")) + ("" if detail == "-" else f": {detail}")
            rows.append({"x": rounded_s(at - origin), "event": told[:200]})
    return rows


def rounded_s(second: float) -> float:
    """A time to a hundredth of a second."""
    return round(second, 2)
