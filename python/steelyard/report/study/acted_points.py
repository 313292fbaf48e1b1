"""A study's timelines in figures: a row for each, over its repetitions."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.report.formatting import NONE, digits, whole
from steelyard.report.model import Figure
from steelyard.report.study.acted_tables import over
from steelyard.report.study.points import PointReport, spread
from steelyard.report.tables.base import Table
from steelyard.report.trial_row import Row
from steelyard.spec.metrics import BEYOND, CENSORED, UNDONE

COLUMNS = {
    "scaling, s": ("scaling_s", 1.0),
    "recovered, s": ("recovered_s", 1.0),
    "steady again, s": ("steady_again_s", 1.0),
    "p99 before, ms": ("total_before_p99_ns", 1e-6),
    "during": ("total_during_p99_ns", 1e-6),
    "after": ("total_after_p99_ns", 1e-6),
    "control": ("control_total_during_p99_ns", 1e-6),
    "worst": ("worst_window_p99_ns", 1e-6),
    "impact, s": ("impact_s", 1.0),
    "behind": ("lost_operations", 1.0),
    "reads lost": ("lost_reads", 1.0),
    "control's": ("control_lost_reads", 1.0),
    "moved / least": ("moved_over_least", 1.0),
    "hints replayed": ("hints_replayed", 1.0),
}
"""Heading -> metric (`spec.metrics.TIMELINE`), and what it is multiplied by."""
SELDOM = ("reads lost", "control's", "moved / least", "hints replayed")
"""Columns that stand only where a trial has something to tell."""
FAILED = " failed"
"""How an action that could not be done is told in `UNDONE`: how long that took is no time of it."""
COUNTS = ("lost_operations", "lost_reads", "control_lost_reads", "hints_replayed")
"""What is counted is often none in a trial and many in the next: no mean tells that, nor a median alone."""


def summary_table(found: Sequence[PointReport]) -> Table | None:
    """One row for each point with actions; None where there are none."""
    acted = [point for point in found if point.acted]
    if not acted:
        return None
    told = {n: c for n, c in COLUMNS.items() if n not in SELDOM or any(_told(p, c[0]) for p in acted)}
    rows = [(p.label, *(_cell(p, column, scale) for column, scale in told.values())) for p in acted]
    note = (
        "Over the trials that count: geometric means, of percentiles the median trial, of counts (behind, "
        "lost, replayed) the median trial, in brackets the least and the greatest. recovered: until as much "
        "succeeds as before, within a tenth and for good. steady again: level with "
        "what follows, which may be worse than before. > : a trial of so many in "
        "which it did not come within what was measured; then there is no mean. impact: excess "
        "response seconds less those of the control, the trial of the same repetition without actions. "
        "behind: operations due and not done in their second."
    )
    if "reads lost" in told:
        note += " reads lost: from the first action on, beside those of the control in the same seconds."
    return Table("Around the actions", ("point", *told), rows, words=1, note=note)


def _told(point: PointReport, column: str) -> bool:
    """Whether any trial has more to tell of it than nothing."""
    return any(row.get(column) for row in point.cell.counting)


def _cell(point: PointReport, column: str, scale: float) -> str:
    rows: Sequence[Row] = point.cell.counting  # type: ignore[assignment]
    if column == "scaling_s" and (failed := sum(FAILED in str(row.get(UNDONE) or "") for row in rows)):
        return f"failed ({failed} of {len(rows)})"
    if column in CENSORED:
        vain = [float(at) for row in rows if (at := row.get(f"{column}{BEYOND}")) is not None]
        if vain:
            return f"> {digits(min(vain) * scale)} ({len(vain)} of {len(rows)})"
    if column in COUNTS:
        return over([float(found) for row in rows if (found := row.get(column)) is not None], whole)
    sample = point.sample(Figure(column, lambda _: None))
    return spread(sample, scale, brackets=False) if sample else NONE
