"""Every claim's ratio with its interval against the paper's, as rows of a forest plot; of a study without
claims every check's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.analysis.claims.verdict import UNCOVERED
from steelyard.report.chart import Rows
from steelyard.report.formatting import NONE, clean
from steelyard.report.study.amounts import told
from steelyard.report.study.answers import Answer, Answers
from steelyard.spec.checks import Value

PAPER = "the paper"
RATIOS = frozenset({"trend", "ratio", "order", "equality", "speedup", "scaling"})
"""Checks whose figures are ratios; what others estimate is shown over the paper's figure, or a bound."""
BEYOND = 3.0
"""By how much the axis may reach past the ratios themselves: an interval that goes farther is cut there."""
BESIDE = 52
"""Characters of a line at the picture's right."""
AROUND = 1.15
"""Room at both ends of the axis."""


@dataclass(frozen=True)
class Forest:
    """What is drawn.

    Attributes:
        claims: one row a claim: `claim`, `statement`, `told` (what was found, and the verdict).
        spans: `claim`, `low`, `high` of an interval, cut at the ends of the axis.
        bands: `claim`, `low`, `high` of the sizes that agree with the paper.
        marks: `claim`, `series` (the direction's verdict, or the paper), `x`, `what`.
        cells: `claim`, `x`, `what` of each cell's ratio.
        domain: both ends of the axis.
    """

    claims: Rows
    spans: Rows
    bands: Rows
    marks: Rows
    cells: Rows
    domain: tuple[float, float]


def pictured(found: Answers) -> tuple[Answer, ...]:
    """What the picture is of: the paper's claims, or in a study without any our checks; those are left out
    which this form does not cover and that have nothing to be drawn."""
    return tuple(one for one in found.claims or found.checks if not _uncovered(one))


def left_out(found: Answers) -> int:
    """How many are not in the picture."""
    return sum(map(_uncovered, found.claims or found.checks))


def _uncovered(answer: Answer) -> bool:
    verdict = answer.verdict
    return verdict.direction == UNCOVERED and verdict.estimate is None and not any(_cells(answer))


def forest_of(found: Answers) -> Forest | None:
    """The rows of the chart; None where nothing has a ratio."""
    shown = pictured(found)
    marks = [row for answer in shown for row in _marks(answer)]
    cells = [row for answer in shown for row in _cells(answer)]
    inner = [row["x"] for row in (*marks, *cells)]
    if not inner:
        return None
    spans = [row for answer in shown if (row := _span(answer))]
    bands = [row for answer in shown if (row := _band(answer))]
    domain = domain_of(inner, [row[end] for row in (*spans, *bands) for end in ("low", "high")])
    return Forest(
        [_claim(answer) for answer in shown],
        [cut(row, domain) for row in spans],
        [cut(row, domain) for row in bands],
        marks,
        cells,
        domain,
    )


def _claim(answer: Answer) -> dict[str, Any]:
    verdict = answer.verdict
    figure = answer.found
    size = "" if verdict.size == "not claimed" else f", size {verdict.size}"
    paper = [f"paper {answer.printed}"] if verdict.paper else []
    ratio, *cells = lines_of(figure)
    first = ["; ".join([ratio, *paper])]
    if len(first[0]) > BESIDE:
        first = [ratio, *paper]
    words = [verdict.direction + size, *([] if figure == NONE else [*first, *cells])]
    return {"claim": answer.claim.id, "statement": clean(answer.claim.statement), "told": words}


def lines_of(found: str) -> list[str]:
    """A figure, and below it the cells that it is the mean of, where they are told."""
    return found.removesuffix(")").split(" (")


def absolute(answer: Answer) -> bool:
    """Whether its figure is no ratio, and drawn over the paper's or a bound."""
    return answer.claim.check.kind not in RATIOS and _over(answer) is not None


def _over(answer: Answer) -> float | None:
    """What the claim's figures are divided by: 1 for ratios, else the paper's figure, else a bound that is
    stated; None without any."""
    check = answer.claim.check
    if check.kind in RATIOS:
        return 1.0
    if answer.verdict.paper is not None or not isinstance(check, Value):
        return answer.verdict.paper
    bound = check.above or check.below
    return None if bound is None else bound * answer.claim.scale()


def series_of(direction: str) -> str:
    """Whatever decides nothing is drawn alike."""
    return direction if direction in ("confirmed", "refuted") else "inconclusive"


def is_shown(value: float) -> bool:
    """Whether a logarithmic axis has a place for it."""
    return math.isfinite(value) and value > 0


def _marks(answer: Answer) -> Iterator[dict[str, Any]]:
    """Ours and the paper's."""
    verdict, over = answer.verdict, _over(answer)
    if over is None or verdict.estimate is None or not is_shown(verdict.estimate.estimate):
        return
    x = verdict.estimate.estimate / over
    yield {
        "claim": answer.claim.id,
        "series": series_of(answer.verdict.direction),
        "x": x,
        "what": answer.found,
    }
    if verdict.paper:
        paper = {"series": PAPER, "x": verdict.paper / over, "what": answer.printed}
        yield {"claim": answer.claim.id, **paper}


def _cells(answer: Answer) -> Iterator[dict[str, Any]]:
    """The ratios beneath, unless there is one only and it is the claim's own."""
    found = [one for one in answer.verdict.evidence if not one.metric and is_shown(one.figure.estimate)]
    if len(found) > 1 or answer.verdict.estimate is None:
        for one in found:
            what = f"{clean(one.what)}: {told(one.figure)}"
            yield {"claim": answer.claim.id, "x": one.figure.estimate, "what": what}


def _span(answer: Answer) -> dict[str, Any] | None:
    estimate, over = answer.verdict.estimate, _over(answer)
    if estimate is None or over is None:
        return None
    ends = {"low": estimate.low / over, "high": estimate.high / over}
    return {"claim": answer.claim.id, "series": series_of(answer.verdict.direction), **ends}


def _band(answer: Answer) -> dict[str, Any] | None:
    over, band = _over(answer), answer.band
    if over is None or band is None:
        return None
    return {"claim": answer.claim.id, "low": band[0] / over, "high": band[1] / over}


def domain_of(inner: Sequence[float], outer: Sequence[float]) -> tuple[float, float]:
    """Around 1 and all ratios, and as much of the intervals as fits."""
    low, high = min(1.0, *inner), max(1.0, *inner)
    ends = [end for end in outer if is_shown(end)]
    return max(low / BEYOND, min([low, *ends])) / AROUND, min(high * BEYOND, max([high, *ends])) * AROUND


def cut(row: dict[str, Any], domain: tuple[float, float]) -> dict[str, Any]:
    """An interval within the axis; an interval that goes on says so by an end that is the axis' own."""
    low, high = domain
    ends = {"low": min(max(row["low"], low), high), "high": max(min(row["high"], high), low)}
    return {**row, **ends, "from": row["low"] >= low, "to": row["high"] <= high}
