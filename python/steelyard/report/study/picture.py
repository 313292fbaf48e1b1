"""The picture that opens a page: all claims on one logarithmic axis (a forest plot)."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.claims.verdict import SIZE
from steelyard.report.chart import Chart
from steelyard.report.study.answers import Answers
from steelyard.report.study.forest import Forest, absolute, forest_of

TITLE = "Claims: what was found, and the paper's figures"
NOTE = (
    "A ratio of 1 is no difference. Small dots are the cells, hollow squares the paper's own figures, grey "
    f"bars these figures divided and multiplied by {SIZE}; an interval without an end goes on."
)


def forest_chart(found: Answers) -> Chart | None:
    """The chart of all claims; None where none of them has a ratio."""
    forest = forest_of(found)
    if forest is None:
        return None
    several = any(absolute(answer) for answer in found.claims)
    note = NOTE + (" Figures that are no ratios are shown over the paper's." if several else "")
    return Chart("claims", TITLE, note, "", lambda: _drawn(forest))


def _drawn(forest: Forest) -> dict[str, Any]:
    """With the chart library loaded no earlier than that."""
    from steelyard.report.study.forest_spec import forest_spec

    return forest_spec(forest)
