"""Charts as files: SVG and PNG from the same definition as the page's, drawn without a browser or a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from steelyard.report.charts import Chart, charts_of
from steelyard.report.model import TrialReport

PNG_SCALE = 2.0
FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
LIGHT: dict[str, Any] = {
    "background": "#ffffff",
    "font": "Helvetica, Arial, sans-serif",
    "axis": {"gridColor": "#e6e8ec", "domainColor": "#9aa1ab", "tickColor": "#9aa1ab", "labelColor": "#4a515c",
             "titleColor": "#4a515c", "titleFontWeight": "normal"},
    "legend": {"labelColor": "#1d232b"},
    "view": {"stroke": None},
    "title": {"anchor": "start", "color": "#1d232b", "fontSize": 14},
}  # fmt: skip
"""Colours of chart files; the page has its own for light and dark."""


def chart_file(trial: TrialReport, chart: Chart) -> str:
    """The file name of a chart without ending."""
    return f"trial-{trial.number:03}-{chart.key}"


def write_charts(trial: TrialReport, folder: Path) -> dict[str, str]:
    """Write every chart of a trial as SVG and PNG.

    Returns:
        Title -> name of the SVG file in `folder`, in the order of the report.
    """
    import vl_convert

    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for chart in charts_of(trial):
        name = chart_file(trial, chart)
        spec = chart.spec | {"title": f"{chart.title} ({chart.group})"}
        svg = vl_convert.vegalite_to_svg(spec, config=LIGHT)
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
        (folder / f"{name}.png").write_bytes(vl_convert.svg_to_png(svg, scale=PNG_SCALE))
        written[f"{chart.title} ({chart.group})"] = f"{name}.svg"
    return written
