"""How dots with error bars are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from steelyard.report.charts.base import HEIGHT, PALETTE, WIDTH
from steelyard.report.study.dots import MEASURED, PAPER, Dots


def dots_chart(dots: Dots) -> dict[str, Any]:
    """The specification: lines or bars, each with its 95 % interval; the paper's values as hollow squares."""
    paper = any(row["source"] == PAPER for row in dots.rows)
    layers = [*(_bars(dots) if dots.bars else _lines(dots)), *([_paper(dots)] if paper else [])]
    layered = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    spec = dict(layered.configure_legend(orient="top").to_dict())
    return spec | {"datasets": {"points": dots.rows}}


def _base(dots: Dots, source: str) -> alt.Chart:
    order = list(dict.fromkeys(row["series"] for row in dots.rows))
    scale = alt.Scale(domain=order, range=[PALETTE[n % len(PALETTE)] for n in range(len(order))])
    color = alt.Color("series:N", title=None, sort=order, scale=scale, legend=_legend(order, bars=dots.bars))
    base = alt.Chart(alt.NamedData("points")).transform_filter(f"datum.source == '{source}'")
    encoded: alt.Chart = base.encode(x=_x(dots), color=color)
    if dots.bars and len(order) > 1:
        encoded = encoded.encode(xOffset=alt.XOffset("series:N", sort=order))
    return encoded


def _legend(order: Sequence[str], *, bars: bool) -> alt.Legend:
    """Whole names, in as many columns as fit on a narrow page."""
    longest = max(map(len, order))
    columns = 1 if longest > 26 else 2 if longest > 14 else 3
    symbol = {"symbolType": "square", "symbolStrokeWidth": 0} if bars else {"symbolType": "stroke"}
    return alt.Legend(columns=columns, labelLimit=0, **symbol)


def _x(dots: Dots) -> alt.X:
    if dots.x_order:
        return alt.X("x:N", title=dots.x_title, sort=list(dots.x_order), axis=alt.Axis(labelAngle=0))
    scale = alt.Scale(type="log") if dots.x_log else alt.Scale(zero=False)
    return alt.X("x:Q", title=dots.x_title, scale=scale, axis=alt.Axis(tickCount=8, format=",~r"))


def _y(dots: Dots) -> alt.Y:
    scale: Mapping[str, Any] = {"type": "log"} if dots.y_log else {"zero": True}
    axis = alt.Axis(format=",~r", tickCount=6)
    return alt.Y("y:Q", title=dots.y_title, scale=alt.Scale(**scale), axis=axis)


def _tips(dots: Dots) -> list[alt.Tooltip]:
    told = {"series": "line", "point": "point", "source": "source"}
    if dots.x_order:
        told["x"] = dots.x_title
    figures = {"y": dots.y_title, "low": "from", "high": "to", "trials": "trials"}
    if not dots.x_order:
        figures = {"x": dots.x_title, **figures}
    found = [alt.Tooltip(f"{name}:N", title=words) for name, words in told.items()]
    return found + [alt.Tooltip(f"{name}:Q", title=words, format=",.4~r") for name, words in figures.items()]


def _errors(dots: Dots, base: alt.Chart, **style: Any) -> alt.Chart:
    drawn: alt.Chart = base.mark_rule(strokeWidth=1.6, **style).encode(
        y=alt.Y("low:Q", title=dots.y_title), y2="high:Q"
    )
    return drawn


def _lines(dots: Dots) -> list[alt.Chart]:
    base, y = _base(dots, MEASURED), _y(dots)
    line = base.mark_line(strokeWidth=1.8).encode(y=y, **({} if dots.x_order else {"order": "x:Q"}))
    marks = base.mark_circle(size=55, opacity=1).encode(y=y, tooltip=_tips(dots))
    return [_errors(dots, base, opacity=0.7), line, marks]


def _bars(dots: Dots) -> list[alt.Chart]:
    base = _base(dots, MEASURED)
    bars = base.mark_bar(opacity=0.5).encode(y=_y(dots), tooltip=_tips(dots))
    dark = base.encode(color=alt.value("#59616d"))
    return [bars, _errors(dots, dark)]


def _paper(dots: Dots) -> alt.Chart:
    marks = _base(dots, PAPER).mark_square(size=80, filled=False, strokeWidth=2, opacity=1)
    drawn: alt.Chart = marks.encode(y=_y(dots), tooltip=_tips(dots))
    return drawn
