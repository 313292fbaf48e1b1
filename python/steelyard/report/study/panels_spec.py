"""A panel drawn: p99 by second of every repetition and its control, from the first action's start on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from steelyard.analysis.summary import TOTAL
from steelyard.analysis.windows.effect import Effect
from steelyard.report.charts.base import Lines, line_chart
from steelyard.report.charts.events import rounded_s
from steelyard.report.charts.thin import bin_seconds, rounded
from steelyard.report.model import TrialReport
from steelyard.report.timeline.charts import QUANTILES, latency_rows, milestones, shaded

X_TITLE = "seconds since the first action started"
ACTED, CONTROL = "with the actions", "control"


def panel_spec(shown: Sequence[TrialReport], trials: Mapping[int, TrialReport]) -> dict[str, Any]:
    """The Vega-Lite specification.

    Args:
        shown: trials with actions, at least one; shades and rules are the first one's.
        trials: all of the run by number, controls among them.
    """
    rows = [row for trial in shown for row in _both(trial, trials)]
    acted, start_s = shown[0].acted, _start_s(shown[0])
    assert acted is not None  # noqa: S101 - chosen for it
    drawn = Lines(
        rows,
        X_TITLE,
        "p99, milliseconds",
        list(dict.fromkeys(row["series"] for row in rows)),
        styles=[style for style in (ACTED, CONTROL) if any(row["style"] == style for row in rows)],
        log=True,
        shades=shaded(acted, start_s),
        events=milestones(acted, start_s),
    )
    return line_chart(drawn)


def _start_s(trial: TrialReport) -> float:
    whole: Effect | None = trial.acted.whole if trial.acted else None
    assert whole is not None  # noqa: S101 - chosen for it
    return whole.windows.start_s


def _both(trial: TrialReport, trials: Mapping[int, TrialReport]) -> Iterator[dict[str, Any]]:
    """Rows of a trial and of its control, over the same seconds."""
    name, start_s = f"repetition {trial.repetition}", _start_s(trial)
    yield from _rows(trial, start_s, name, ACTED)
    if trial.paired and (control := trials.get(trial.paired.control)):
        yield from _rows(control, start_s, name, CONTROL)


def _rows(trial: TrialReport, start_s: float, name: str, style: str) -> Iterator[dict[str, Any]]:
    if trial.measured is None:
        return
    phase = pl.col("phase") == trial.measured.phase.name
    of_all = trial.intervals.filter(phase & (pl.col("op") == TOTAL))
    column = QUANTILES["p99"]
    for row in latency_rows(of_all, bin_seconds(of_all.height)).to_dicts():
        if row[column]:
            at = rounded_s(row["second"] - start_s)
            yield {"x": at, "y": rounded(row[column] / 1e6), "series": name, "style": style}
