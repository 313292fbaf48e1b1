"""Lanes drawn: a bar for each state of a node."""

from __future__ import annotations

from typing import Any

from steelyard.report.chart import ROWS, Rows
from steelyard.report.timeline.lanes import ABSENT, SERVES

STEP = 26
"""Pixels of a lane."""
LEGEND: dict[str, Any] = {"orient": "top", "columns": 5, "symbolType": "square", "symbolStrokeWidth": 0}
"""Said of the chart itself: a page has a configuration of its own, of strokes."""
FIXED = {SERVES: "#3c9d5b", ABSENT: "#c3c8d0", "down": "#e4585a", "frozen": "#e4585a", "cut off": "#e4585a"}


def lane_chart(rows: Rows, x_title: str, shades: Rows) -> dict[str, Any]:
    """The specification.

    Args:
        rows: of `node`, `x`, `x2` in seconds, `state`.
        x_title: of the axis.
        shades: as of `Lines`.
    """
    import altair as alt  # takes a second to load

    from steelyard.report.charts.base import PALETTE, WIDTH, shade_layer

    order = list(dict.fromkeys(row["node"] for row in rows))
    states = list(dict.fromkeys(row["state"] for row in rows))
    spare = [hue for hue in PALETTE if hue not in FIXED.values()]
    hues = [FIXED.get(state) or spare[n % len(spare)] for n, state in enumerate(states)]
    x = alt.X("x:Q", title=x_title, scale=alt.Scale(nice=False, zero=False), axis=alt.Axis(tickCount=8))
    scale = alt.Scale(domain=states, range=hues)
    colour = alt.Color("state:N", title=None, sort=states, scale=scale, legend=alt.Legend(**LEGEND))
    ends = {"x": "from second", "x2": "to second"}
    seen = [alt.Tooltip("node:N"), alt.Tooltip("state:N")]
    seen += [alt.Tooltip(f"{name}:Q", title=title, format=",.1f") for name, title in ends.items()]
    bars = (
        alt.Chart(alt.NamedData("lanes"))
        .mark_bar(height=STEP * 0.6)
        .encode(x=x, x2="x2:Q", y=alt.Y("node:N", title=None, sort=order), color=colour, tooltip=seen)
    )
    layers = [shade_layer(), bars] if shades else [bars]
    drawn = alt.layer(*layers).properties(width=WIDTH, height=STEP * len(order))
    return (
        dict(drawn.to_dict()) | ROWS | {"datasets": {"lanes": rows} | ({"shades": shades} if shades else {})}
    )
