"""What all charts share: size, palette, the line chart with tooltips and zoom, and rules for events."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt

from steelyard.report.chart import Rows

WIDTH, HEIGHT = 760, 260
UPRIGHT = 42
"""Characters that fit the height, in any reader's font."""
PALETTE = [
    "#4269d0",
    "#e08b1b",
    "#3c9d5b",
    "#e4585a",
    "#9467d9",
    "#23a5b5",
    "#b0709b",
    "#8f7a55",
    "#7d8794",
    "#7fa32c",
]
"""Ten hues that keep apart on white and on near-black."""
GREY = "#808a96"
"""Of the legend's solid and dashed strokes, on light and on dark."""


@dataclass(frozen=True)
class Lines:
    """A line chart: rows with `x`, `y`, `series` and perhaps `style`.

    Attributes:
        rows: the points.
        x_title, y_title: axis titles with units.
        order: the series in the order of the legend.
        hues: all series that any chart of this family has, so that one keeps its colour; empty: `order`.
        styles: names of `style`, solid first, dashed next; empty when rows have none.
        log: logarithmic y axis.
        x: a ready x encoding, for axes other than seconds.
        events: rows with `x` and `event`, drawn as vertical rules.
        tooltip: further fields shown with a point: field -> title.
        shades: rows with `x`, `x2` and `event`, drawn as bands behind the lines.
    """

    rows: Rows
    x_title: str
    y_title: str
    order: Sequence[str]
    hues: Sequence[str] = ()
    styles: Sequence[str] = ()
    log: bool = False
    x: alt.X | None = None
    events: Rows = field(default_factory=list)
    tooltip: dict[str, str] = field(default_factory=dict)
    shades: Rows = field(default_factory=list)


def upright(title: str) -> list[str]:
    """The lines of a vertical axis' title, which would be cut off at both ends where it is too long."""
    return textwrap.wrap(title, UPRIGHT)


def _named(name: str) -> alt.NamedData:
    """Data that is put in after the definition has been checked: checking each point would take seconds."""
    return alt.NamedData(name)


def _y(lines: Lines) -> alt.Y:
    axis, title = alt.Axis(format=",~r", tickCount=6), upright(lines.y_title)
    if lines.log:
        return alt.Y("y:Q", title=title, scale=alt.Scale(type="log"), axis=axis)
    return alt.Y("y:Q", title=title, scale=alt.Scale(zero=True), axis=axis)


def _tooltip(lines: Lines) -> list[alt.Tooltip]:
    found = [alt.Tooltip("series:N", title="series")]
    found += [alt.Tooltip("style:N", title="time")] if lines.styles else []
    found += [] if lines.x else [alt.Tooltip("x:Q", title=lines.x_title, format=",.0f")]
    found += [alt.Tooltip(f"{name}:N", title=title) for name, title in lines.tooltip.items()]
    return [*found, alt.Tooltip("y:Q", title=lines.y_title, format=",.4~r")]


def event_layer() -> alt.Chart:
    """Dotted rules from the data `events`."""
    seen = alt.Tooltip("event:N", title="event")
    rules = alt.Chart(_named("events")).mark_rule(strokeDash=[2, 3], opacity=0.55, size=1.5)
    drawn: alt.Chart = rules.encode(
        x="x:Q", tooltip=[seen, alt.Tooltip("x:Q", title="second", format=",.1f")]
    )
    return drawn


def shade_layer() -> alt.Chart:
    """Bands from the data `shades`, the height of the chart."""
    bands = alt.Chart(_named("shades")).mark_rect(opacity=0.14, color=GREY, clip=True)
    drawn: alt.Chart = bands.encode(x="x:Q", x2="x2:Q", tooltip=[alt.Tooltip("event:N", title="action")])
    return drawn


def line_chart(lines: Lines) -> dict[str, Any]:
    """The specification of a line chart; dragging moves, shift and the wheel zoom, a double click resets."""
    x = lines.x or alt.X("x:Q", title=lines.x_title, scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=8))
    color = alt.Color(
        "series:N",
        sort=list(lines.order),
        title=None,
        scale=alt.Scale(domain=list(lines.order), range=_hues(lines)),
    )
    styled: dict[str, Any] = {}
    if lines.styles:
        dash = alt.Scale(domain=list(lines.styles), range=[[1, 0], [5, 3], [2, 2]][: len(lines.styles)])
        styled["strokeDash"] = alt.StrokeDash(
            "style:N",
            sort=list(lines.styles),
            title=None,
            scale=dash,
            legend=alt.Legend(symbolStrokeColor=GREY),
        )
    base = alt.Chart(_named("lines")).encode(x=x, y=_y(lines), color=color)
    zoom = alt.selection_interval(bind="scales", encodings=["x"], zoom="wheel![event.shiftKey]")
    drawn = base.mark_line(strokeWidth=1.8, interpolate="linear", clip=True).encode(**styled).add_params(zoom)
    hover = base.mark_point(opacity=0, aria=False, size=90, filled=True, clip=True).encode(
        tooltip=_tooltip(lines)
    )
    behind = [shade_layer()] if lines.shades else []
    layers = [event_layer()] if lines.events else []
    layered = alt.layer(*behind, drawn, hover, *layers).properties(width=WIDTH, height=HEIGHT)
    spec = dict(layered.configure_legend(orient="top", columns=5, symbolType="stroke").to_dict())
    more = {"events": lines.events, "shades": lines.shades}
    data = {"lines": lines.rows} | {name: rows for name, rows in more.items() if rows}
    return spec | {"datasets": data}


def _hues(lines: Lines) -> list[str]:
    family = list(lines.hues or lines.order)
    return [PALETTE[family.index(name) % len(PALETTE)] for name in lines.order]
