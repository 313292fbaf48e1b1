"""A study's timelines in figures: a row for each, over its repetitions."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.report.formatting import NONE, digits
from steelyard.report.model import Figure
from steelyard.report.study.points import PointReport, spread
from steelyard.report.tables.base import Table
from steelyard.report.trial_row import Row
from steelyard.spec.metrics import BEYOND, CENSORED

COLUMNS = {
    "scaling, s": ("scaling_s", 1.0),
    "steady again, s": ("steady_again_s", 1.0),
    "p99 before, ms": ("total_before_p99_ns", 1e-6),
    "during": ("total_during_p99_ns", 1e-6),
    "after": ("total_after_p99_ns", 1e-6),
    "control": ("control_total_during_p99_ns", 1e-6),
    "worst": ("worst_window_p99_ns", 1e-6),
    "impact, s": ("impact_s", 1.0),
    "lost": ("lost_operations", 1.0),
}
"""Heading -> metric (`spec.metrics.TIMELINE`), and what it is multiplied by."""


def summary_table(found: Sequence[PointReport]) -> Table | None:
    """One row for each point with actions; None where there are none."""
    acted = [point for point in found if point.acted]
    if not acted:
        return None
    rows = [(p.label, *(_cell(p, column, scale) for column, scale in COLUMNS.values())) for p in acted]
    note = (
        "Over the trials that count: geometric means, of percentiles the median trial. > : a trial of so "
        "many in which it did not come within what was measured; then there is no mean. impact: excess "
        "response seconds less those of the control, the trial of the same repetition without actions."
    )
    return Table("Around the actions", ("point", *COLUMNS), rows, words=1, note=note)


def _cell(point: PointReport, column: str, scale: float) -> str:
    rows: Sequence[Row] = point.cell.counting  # type: ignore[assignment]
    if column in CENSORED:
        vain = [float(at) for row in rows if (at := row.get(f"{column}{BEYOND}")) is not None]
        if vain:
            return f"> {digits(min(vain) * scale)} ({len(vain)} of {len(rows)})"
    sample = point.sample(Figure(column, lambda _: None))
    return spread(sample, scale, brackets=False) if sample else NONE
