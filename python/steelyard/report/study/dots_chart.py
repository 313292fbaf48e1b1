"""How dots with error bars are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import altair as alt

from steelyard.report.charts.base import HEIGHT, PALETTE, WIDTH, event_layer, shade_layer, upright
from steelyard.report.study.dots import MEASURED, PAPER, Dots

MARGIN = 1.03


def dots_chart(dots: Dots) -> dict[str, Any]:
    """The specification: lines or bars, each with its 95 % interval; the paper's values as hollow squares."""
    paper = any(row["source"] == PAPER for row in dots.rows)
    ours = _bars(dots) if dots.bars else _bands(dots) if dots.dense else _lines(dots)
    behind = [shade_layer()] if dots.shades else []
    layers = [*behind, *ours, *(_paper(dots) if paper else []), *([event_layer()] if dots.events else [])]
    layered = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    spec = dict(layered.configure_legend(orient="top").to_dict())
    more = {"shades": dots.shades, "events": dots.events}
    return spec | {"datasets": {"points": dots.rows} | {name: rows for name, rows in more.items() if rows}}


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
    return alt.Legend(columns=columns, labelLimit=0, symbolOpacity=1, **symbol)


def _x(dots: Dots) -> alt.X:
    if dots.x_order:
        return alt.X("x:N", title=dots.x_title, sort=list(dots.x_order), axis=alt.Axis(labelAngle=0))
    scale = alt.Scale(type="log", nice=not dots.dense) if dots.x_log else alt.Scale(zero=False)
    return alt.X("x:Q", title=dots.x_title, scale=scale, axis=_x_axis(dots))


def _x_axis(dots: Dots) -> alt.Axis:
    """Labels that would lie on each other are left out."""
    if dots.x_levels:
        return alt.Axis(values=list(dots.x_levels), labelOverlap="greedy", format=",.12~r")
    return alt.Axis(tickCount=8, format=",~r")


def _y(dots: Dots) -> alt.Y:
    scale: Mapping[str, Any] = _log(dots) if dots.y_log else {"zero": True}
    axis = alt.Axis(format=",~r", tickCount=6)
    return alt.Y("y:Q", title=upright(dots.y_title), scale=alt.Scale(**scale), axis=axis)


def _log(dots: Dots) -> Mapping[str, Any]:
    """A logarithmic axis ends with its values: at powers of ten most of it would be empty."""
    drawn = [row[name] for row in dots.rows for name in ("y", "low", "high")]
    found = [value for value in drawn if value is not None and value > 0]
    if not found:
        return {"type": "log"}
    return {"type": "log", "nice": False, "domain": [min(found) / MARGIN, max(found) * MARGIN]}


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
        y=alt.Y("low:Q", title=upright(dots.y_title)), y2="high:Q"
    )
    return drawn


def _lines(dots: Dots) -> list[alt.Chart]:
    base, y = _base(dots, MEASURED), _y(dots)
    line = base.mark_line(strokeWidth=1.8).encode(y=y, **({} if dots.x_order else {"order": "x:Q"}))
    marks = base.mark_circle(size=55, opacity=1).encode(y=y, tooltip=_tips(dots))
    return [_errors(dots, base, opacity=0.7), line, marks]


def _bands(dots: Dots) -> list[alt.Chart]:
    """Lines without dots; of a histogram, whose axis is logarithmic, as steps."""
    base, y = _base(dots, MEASURED), _y(dots)
    steps: Literal["step", "linear"] = "step" if dots.x_log else "linear"
    ends = {"y": alt.Y("low:Q", title=upright(dots.y_title)), "y2": alt.Y2("high:Q")}
    band = base.mark_area(opacity=0.18, interpolate=steps).encode(**ends)
    line = base.mark_line(strokeWidth=1.8, interpolate=steps).encode(y=y, order="x:Q")
    hover = base.mark_point(opacity=0, size=90, filled=True).encode(y=y, tooltip=_tips(dots))
    return [band, line, hover]


def _bars(dots: Dots) -> list[alt.Chart]:
    """On a logarithmic axis, which has no zero that a bar could begin at, dots beside each other."""
    base = _base(dots, MEASURED)
    if dots.y_log:
        marks = base.mark_circle(size=70, opacity=1).encode(y=_y(dots), tooltip=_tips(dots))
        return [_errors(dots, base, opacity=0.7), marks]
    bars = base.mark_bar(opacity=0.5).encode(y=_y(dots), tooltip=_tips(dots))
    dark = base.encode(color=alt.value("#59616d"))
    return [bars, _errors(dots, dark)]


def _paper(dots: Dots) -> list[alt.Chart]:
    """Hollow squares; ranges as rules, bounds as arrows, with their labels beside."""
    base, y = _base(dots, PAPER), _y(dots)
    marks = base.mark_square(size=80, filled=False, strokeWidth=2, opacity=1)
    found = [marks.encode(y=y, tooltip=_tips(dots))]
    paper = [row for row in dots.rows if row["source"] == PAPER]
    if any(row["low"] < row["high"] for row in paper):
        found.insert(0, _errors(dots, base.transform_filter("datum.low < datum.high")))
    for bound, mark, up in (("above", "triangle-up", -1), ("below", "triangle-down", 1)):
        if any(row["bound"] == bound for row in paper):
            arrow = base.transform_filter(f"datum.bound == '{bound}'")
            drawn = arrow.mark_point(shape=mark, filled=True, size=70, opacity=1, yOffset=12 * up)
            found.append(drawn.encode(y=y))
    if any(row["label"] for row in paper):
        text = base.mark_text(align="left", dx=9, fontSize=11)
        found.append(text.encode(y=y, text="label:N", color=alt.value("#7d8794")))
    return found
