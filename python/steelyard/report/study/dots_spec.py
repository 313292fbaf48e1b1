"""Dots drawn, with the chart library loaded no earlier than that."""

from __future__ import annotations

from typing import Any

from steelyard.report.study.dots import Dots


def dots_spec(dots: Dots) -> dict[str, Any]:
    """The Vega-Lite specification."""
    from steelyard.report.study.dots_chart import dots_chart

    return dots_chart(dots)
