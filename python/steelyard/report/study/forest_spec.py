"""How a forest plot is drawn."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from steelyard.report.charts.base import GREY
from steelyard.report.study.forest import PAPER, Forest

WIDTH, STEP = 560, 60
"""Of the axis, and of each claim."""
UNDER = 14
"""Pixels by which an interval lies below the middle of its row, under the claim's words."""
LINE, LINES = 88, 2
"""Characters of a line of words, which fit the axis' width in any reader's font, and how many there are."""
TOLD = 360
"""Most pixels of what was found."""
SERIES = {
    "confirmed": ("#3c9d5b", "circle"),
    "refuted": ("#e4585a", "diamond"),
    "inconclusive": ("#808a96", "triangle-up"),
    PAPER: ("#4269d0", "square"),
}
"""What a mark stands for -> its colour and shape."""
TICKS = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
"""Values of each decade, from few to many."""
MOST_TICKS, LEAST_TICKS = 9, 3
NARROW, STEPS = 2.0, (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001)
"""An axis whose ends are less than this factor apart, and the distances that its ticks may have."""


def forest_spec(forest: Forest) -> dict[str, Any]:
    """The specification: a row a claim, its words above its interval, its verdict at the right."""
    told = {row["claim"]: row["told"] for row in forest.claims}
    said = _looked_up(told)
    right = alt.Axis(orient="right", title=None, ticks=False, domain=False, labelExpr=said, labelLimit=TOLD)
    layers = [_rows(forest), _bands(forest), _one(), _spans(forest), *_ends(forest), _cells(forest)]
    layers += [*_marks(forest), _words(forest, right)]
    drawn = alt.layer(*layers).resolve_axis(y="independent")
    spec = drawn.properties(width=WIDTH, height=STEP * len(forest.claims))
    data = {name: getattr(forest, name) for name in ("spans", "bands", "marks", "cells")}
    data["claims"] = [row | {"statement": _lines(row["statement"])} for row in forest.claims]
    return dict(spec.configure_legend(orient="top").to_dict()) | {"datasets": {**data, "one": [{"x": 1}]}}


def _lines(statement: str) -> list[str]:
    return textwrap.wrap(statement, LINE, max_lines=LINES, placeholder=" …")


def _looked_up(told: Mapping[str, Sequence[str]]) -> str:
    """The expression of labels that say other words, line by line, than the axis' values."""
    return f"({json.dumps(told)})[datum.label]"


def _y(forest: Forest, axis: alt.Axis | None = None) -> alt.Y:
    order = [row["claim"] for row in forest.claims]
    scale = alt.Scale(type="band", domain=order, paddingInner=0, paddingOuter=0)
    return alt.Y("claim:N", sort=order, scale=scale, axis=axis)


def _x(forest: Forest, field: str = "x") -> alt.X:
    scale = alt.Scale(type="log", domain=list(forest.domain), nice=False)
    axis = alt.Axis(values=ticks(forest.domain), format=",~r")
    return alt.X(f"{field}:Q", scale=scale, axis=axis, title="ratio")


def _of(name: str) -> alt.Chart:
    return alt.Chart(alt.NamedData(name))


def _rows(forest: Forest) -> alt.Chart:
    """Claims told apart by a hairline, with their names at the left."""
    left = alt.Axis(title=None, ticks=False, domain=False, grid=True, bandPosition=1)
    drawn: alt.Chart = _of("claims").mark_text(text="").encode(y=_y(forest, left))
    return drawn


def _words(forest: Forest, axis: alt.Axis) -> alt.Chart:
    text = _of("claims").mark_text(
        align="left", baseline="top", yOffset=3 - STEP / 2, fontSize=11.5, limit=alt.ExprRef("width")
    )
    drawn: alt.Chart = text.encode(x=alt.value(0), y=_y(forest, axis), text="statement:N")
    return drawn


def _one() -> alt.Chart:
    """No difference."""
    drawn: alt.Chart = _of("one").mark_rule(strokeDash=[4, 3], opacity=0.7).encode(x="x:Q")
    return drawn


def _bands(forest: Forest) -> alt.Chart:
    bars = _of("bands").mark_bar(height=14, color=GREY, opacity=0.25, yOffset=UNDER)
    drawn: alt.Chart = bars.encode(x=_x(forest, "low"), x2="high:Q", y=_y(forest))
    return drawn


def _color() -> alt.Color:
    names, hues = list(SERIES), [hue for hue, _ in SERIES.values()]
    return alt.Color("series:N", title=None, scale=alt.Scale(domain=names, range=hues))


def _spans(forest: Forest) -> alt.Chart:
    rules = _of("spans").mark_rule(strokeWidth=2.5, yOffset=UNDER, y2Offset=UNDER)
    drawn: alt.Chart = rules.encode(x=_x(forest, "low"), x2="high:Q", y=_y(forest), color=_color())
    return drawn


def _ends(forest: Forest) -> list[alt.Chart]:
    """A stroke where an interval ends within the axis."""
    return [
        _of("spans")
        .transform_filter(f"datum['{inside}']")
        .mark_tick(thickness=2, size=11, orient="vertical", yOffset=UNDER)
        .encode(x=_x(forest, end), y=_y(forest), color=_color())
        for end, inside in (("low", "from"), ("high", "to"))
    ]


def _cells(forest: Forest) -> alt.Chart:
    dots = _of("cells").mark_circle(size=16, opacity=0.6, color=GREY, yOffset=UNDER)
    drawn: alt.Chart = dots.encode(x=_x(forest), y=_y(forest), tooltip=_tips("cell"))
    return drawn


def _tips(name: str) -> list[alt.Tooltip]:
    return [alt.Tooltip("claim:N", title="claim"), alt.Tooltip("what:N", title=name)]


def _marks(forest: Forest) -> list[alt.Chart]:
    """Ours filled, the paper's hollow."""
    shape = alt.Shape(
        "series:N", title=None, scale=alt.Scale(domain=[*SERIES], range=[s for _, s in SERIES.values()])
    )
    return [
        _of("marks")
        .transform_filter(f"(datum.series == '{PAPER}') == {json.dumps(not ours)}")
        .mark_point(filled=ours, size=90 if ours else 110, strokeWidth=2, opacity=1, yOffset=UNDER)
        .encode(x=_x(forest), y=_y(forest), color=_color(), shape=shape, tooltip=_tips("ratio"))
        for ours in (False, True)
    ]


def ticks(domain: tuple[float, float]) -> list[float]:
    """Round values on a logarithmic axis, as many as have room; of a narrow one at equal distances."""
    low, high = domain
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [
        [value for n in decades for step in steps if low <= (value := round(step * 10.0**n, 12)) <= high]
        for steps in TICKS
    ]
    round_ones = next((values for values in found[::-1] if len(values) <= MOST_TICKS), found[0])
    if high / low >= NARROW and len(round_ones) >= LEAST_TICKS:
        return round_ones
    fine = (_multiples(step, low, high) for step in STEPS)
    return next(values for values in fine if len(values) >= LEAST_TICKS)


def _multiples(step: float, low: float, high: float) -> list[float]:
    return [round(n * step, 12) for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
