"""Figures of trials in the units that people read: what a column is called, and how its values are told."""

from __future__ import annotations

import math

from steelyard.analysis.stats.runs import Interval
from steelyard.report.formatting import NONE, digits
from steelyard.spec.metrics import named

NS_PER = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def unit_of(metric: str, latency: str = "ms") -> tuple[float, str]:
    """(what a value is multiplied by, the unit it then has); ratios have none."""
    found = named(metric)
    unit = found.unit if found else ""
    if unit == "ns":
        return 1 / NS_PER[latency], latency
    return (100.0, "%") if unit == "share" else (1.0, unit)


def words_of(metric: str) -> str:
    """What people call a column."""
    found = named(metric)
    return found.words if found else metric


def of_cells(cells: tuple[float, float] | None) -> str:
    """` (cells 0.500 to 1.07)`, behind a mean of unlike cells; nothing behind another."""
    return f" (cells {digits(cells[0])} to {digits(cells[1])})" if cells else ""


def told(figure: Interval, metric: str = "", latency: str = "ms") -> str:
    """`1.23 [1.10, 1.38] ms`; without runs enough to bound it, or of zeros alone, the estimate."""
    factor, unit = unit_of(metric, latency)
    text = digits(figure.estimate * factor)
    if text == NONE:
        return NONE
    if math.isfinite(figure.low) and math.isfinite(figure.high) and (figure.low or figure.high):
        text += f" [{digits(figure.low * factor)}, {digits(figure.high * factor)}]"
    return f"{text} {unit}".rstrip()
