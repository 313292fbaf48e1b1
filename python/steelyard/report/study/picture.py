"""The picture that opens a page: all claims on one logarithmic axis (a forest plot), or all checks of a study
that has no claims; of what has no ratio the curves over its factors."""

from __future__ import annotations

from typing import Any

from steelyard.analysis.claims.verdict import SIZE
from steelyard.report.chart import Chart
from steelyard.report.study.answers import Answers
from steelyard.report.study.forest import Forest, absolute, forest_of, left_out, pictured

TITLE = "Claims: what was found, and the paper's figures"
CHECKS = "Checks: what was found"
ONE = "A ratio of 1 is no difference. Small dots are the cells"
PAPERS = f", hollow squares the paper's own figures, grey bars these figures divided and multiplied by {SIZE}"
CUT = "; an interval without an end goes on."
NOT_HERE = " Not drawn: {away} of {all}, for which this form has no trials."
OVER = " Figures that are no ratios are shown over the paper's, or else over the bound that is stated."


def forest_chart(found: Answers) -> Chart | None:
    """The chart of all claims, or checks; None where none of them has a ratio."""
    forest = forest_of(found)
    if forest is None:
        return None
    shown = pictured(found)
    papers = PAPERS if any(answer.verdict.paper for answer in shown) else ""
    note = ONE + papers + CUT + (OVER if any(absolute(answer) for answer in shown) else "")
    if away := left_out(found):
        note += NOT_HERE.format(away=away, all=away + len(shown))
    return Chart("claims", TITLE if found.claims else CHECKS, note, "", lambda: _drawn(forest))


def curves_first(found: Answers) -> bool:
    """Whether the curves over the study's factors open its page, for want of another picture."""
    return forest_of(found) is None and not any(drawn.chart for drawn in found.figures)


def _drawn(forest: Forest) -> dict[str, Any]:
    """With the chart library loaded no earlier than that."""
    from steelyard.report.study.forest_spec import forest_spec

    return forest_spec(forest)
