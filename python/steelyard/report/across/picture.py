"""Ratios that papers print and ours beside them, on one logarithmic axis: a row for each of our claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steelyard.report.across.model import Across, Asked, Ours
from steelyard.report.chart import Chart
from steelyard.report.formatting import clean
from steelyard.report.study.forest import PAPER, Forest, cut, domain_of, is_shown, series_of

TITLE = "Ratios that papers print, and ours"
NOTE = (
    "A ratio of 1 is no difference. Filled: ours with its 95 % interval (confirmed: on the papers' side); "
    "hollow squares: papers' own figures, of ranges the middle. Other questions stand in the tables."
)


def ratios_chart(model: Across) -> Chart | None:
    """The chart; None where no result has a ratio of a question's terms."""
    rows = [row for asked in model.questions for row in _rows(asked)]
    if not rows:
        return None
    marks = [mark for row in rows for mark in row["marks"]]
    spans = [row["span"] for row in rows]
    ends = [span[end] for span in spans for end in ("low", "high")]
    domain = domain_of([mark["x"] for mark in marks], ends)
    claims = [{name: row[name] for name in ("claim", "statement", "told")} for row in rows]
    forest = Forest(claims, [cut(span, domain) for span in spans], [], marks, [], domain)
    return Chart("ratios-across-papers", TITLE, NOTE, "", lambda: _drawn(forest))


def _rows(asked: Asked) -> Iterator[dict[str, Any]]:
    """Of one question: what our claims found, and the papers' figures that they judge."""
    for number, ours in enumerate(asked.ours):
        if ours.ratio is None or not is_shown(ours.ratio.estimate):
            continue
        again = any((one.study, one.claim) == (ours.study, ours.claim) for one in asked.ours[:number])
        claim = f"{ours.study.rpartition('/')[2]}: {ours.claim}" + (f" ({ours.run})" if again else "")
        series, found = series_of(ours.direction), ours.ratio
        mark = {"claim": claim, "series": series, "x": found.estimate, "what": ours.found}
        yield {
            "claim": claim,
            "statement": clean(f"{asked.question.asks} ({asked.question.ratio})"),
            "told": [clean(ours.bears_out or "open"), ours.found],
            "marks": [mark, *_printed(asked, ours, claim)],
            "span": {"claim": claim, "series": series, "low": found.low, "high": found.high},
        }


def _printed(asked: Asked, ours: Ours, claim: str) -> Iterator[dict[str, Any]]:
    for said in asked.said:
        if said.figure and ours in said.ours and is_shown(said.figure.middle):
            what = clean(f"{said.source}: {said.figure.words}")
            yield {"claim": claim, "series": PAPER, "x": said.figure.middle, "what": what}


def _drawn(forest: Forest) -> dict[str, Any]:
    """With the chart library loaded no earlier than that."""
    from steelyard.report.study.forest_spec import forest_spec

    return forest_spec(forest)
