"""Charts as files: SVG and PNG from the same definition as the page's, without a browser or a network."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steelyard.report.charts import Chart, charts_of
from steelyard.report.model import TrialReport
from steelyard.report.timeline.charts import timeline_charts

PNG_SCALE = 1.5
"""1,200 pixels wide: sharp in a document, drawn in a quarter of a second."""
TITLE_WIDTH = 95
"""Letters of a title's line; what is longer than the chart is wide would be cut off."""
LIGHT: dict[str, Any] = {
    "background": "#ffffff",
    "padding": {"left": 20, "right": 36, "top": 5, "bottom": 5},
    "font": "Helvetica, Arial, sans-serif",
    "axis": {"gridColor": "#e6e8ec", "domainColor": "#9aa1ab", "tickColor": "#9aa1ab",
             "labelColor": "#4a515c", "titleColor": "#4a515c", "titleFontWeight": "normal"},
    "axisY": {"titlePadding": 10},
    "legend": {"labelColor": "#1d232b", "symbolStrokeColor": "#4a515c"},
    "view": {"stroke": None},
    "text": {"color": "#1d232b"},
    "rule": {"color": "#4a515c"},
    "title": {"anchor": "start", "color": "#1d232b", "fontSize": 14},
}  # fmt: skip
"""Look of chart files; the page has its own for light and dark. The padding is for readers without these
fonts, whose own is wider (DejaVu by a sixth): labels at the edges would be cut off, or touch axes' titles."""


def charts_of_interest(trial: TrialReport) -> dict[str, Chart]:
    """File name without ending -> chart, of what was done to the cluster, of a trial's measured
    phase and of its system."""
    measured = trial.measured.phase.name if trial.measured else ""
    wanted = timeline_charts(trial)
    wanted += [chart for chart in charts_of(trial) if chart.group in ("system", measured)]
    return {f"trial-{trial.number:03}-{chart.key}": chart for chart in wanted}


def svg(chart: Chart) -> str:
    """A chart as SVG; its text is escaped."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(still(chart), config=LIGHT))


def still(chart: Chart) -> dict[str, Any]:
    """The definition without the invisible points that carry the page's tooltips, with its title."""
    layers = [layer for layer in chart.spec["layer"] if layer["mark"].get("opacity") != 0]
    return chart.spec | {"layer": layers, "title": textwrap.wrap(_title(chart), TITLE_WIDTH)}


def _title(chart: Chart) -> str:
    return f"{chart.title} ({chart.group})" if chart.group else chart.title


def write_charts(charts: Mapping[str, Chart], folder: Path) -> dict[str, str]:
    """Write charts as SVG and PNG.

    Args:
        charts: file name without ending -> chart.
        folder: made if missing.

    Returns:
        Title -> name of the SVG file in `folder`, in the order of the report.
    """
    import vl_convert

    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for name, chart in charts.items():
        drawn = svg(chart)
        (folder / f"{name}.svg").write_text(drawn, encoding="utf-8")
        (folder / f"{name}.png").write_bytes(vl_convert.svg_to_png(drawn, scale=PNG_SCALE))
        written[_title(chart)] = f"{name}.svg"
    return written
