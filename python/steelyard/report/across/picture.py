"""Ratios that papers print and ours beside them, on one logarithmic axis: a row for each of our claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.report.across.model import Across, Asked, Ours
from steelyard.report.chart import Chart
from steelyard.report.formatting import clean
from steelyard.report.study.forest import PAPER, Forest, cut, domain_of, is_shown, lines_of, series_of

TITLE = "Ratios that papers print, and ours"
NOTE = (
    "A ratio of 1 is no difference. Filled: ours with its 95 % interval (confirmed: on the papers' side); "
    "hollow squares: papers' own figures, of ranges the middle, without bounds. Other questions: the tables."
)


def ratios_chart(model: Across) -> Chart | None:
    """The chart; None where no result has a ratio of a question's terms."""
    shown = [
        (asked, ours)
        for asked in model.questions
        for ours in asked.ours
        if ours.ratio is not None and is_shown(ours.ratio.estimate)
    ]
    if not shown:
        return None
    named = [*zip(_names(shown), shown, strict=True)]
    marks = [mark for name, (asked, ours) in named for mark in _marks(name, asked, ours)]
    spans = [_span(name, ours) for name, (_, ours) in named]
    domain = domain_of([mark["x"] for mark in marks], [s[end] for s in spans for end in ("low", "high")])
    claims = [
        {
            "claim": name,
            "statement": _asks(asked),
            "told": [clean(ours.bears_out or "open"), *lines_of(ours.found)],
        }
        for name, (asked, ours) in named
    ]
    forest = Forest(claims, [cut(span, domain) for span in spans], [], marks, [], domain)
    return Chart("ratios-across-papers", TITLE, NOTE, "", lambda: _drawn(forest))


def _names(shown: Sequence[tuple[Asked, Ours]]) -> list[str]:
    """`compare-a: read`; with the question and the result where one stands in several rows."""
    short = [f"{ours.study.rpartition('/')[2]}: {ours.claim}" for _, ours in shown]
    long = [f"{asked.name}, {ours.study}: {ours.claim}, {ours.run}" for asked, ours in shown]
    return [clean(one if short.count(one) == 1 else more) for one, more in zip(short, long, strict=True)]


def _asks(asked: Asked) -> str:
    return clean(f"{asked.question.asks} ({asked.question.ratio})")


def _span(name: str, ours: Ours) -> dict[str, Any]:
    assert ours.ratio is not None  # noqa: S101 - only such are shown
    return {
        "claim": name,
        "series": series_of(ours.direction),
        "low": ours.ratio.low,
        "high": ours.ratio.high,
    }


def _marks(name: str, asked: Asked, ours: Ours) -> Iterator[dict[str, Any]]:
    """Ours, and the papers' figures that it judges."""
    assert ours.ratio is not None  # noqa: S101 - only such are shown
    yield {"claim": name, "series": series_of(ours.direction), "x": ours.ratio.estimate, "what": ours.found}
    for said in asked.said:
        figure = said.figure if ours in said.ours else None
        if figure and None not in (figure.low, figure.high):
            what = clean(f"{said.source}: {figure.words}")
            yield {"claim": name, "series": PAPER, "x": figure.middle, "what": what}


def _drawn(forest: Forest) -> dict[str, Any]:
    """With the chart library loaded no earlier than that."""
    from steelyard.report.study.forest_spec import forest_spec

    return forest_spec(forest)
