"""Dots with error bars: the one form of all charts over a study's points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from steelyard.report.chart import Rows

MEASURED, PAPER = "measured", "paper"


@dataclass(frozen=True)
class Dots:
    """Rows with `series`, `x`, `y`, `low`, `high`, `trials`, `point`, and `source`: measured, or the paper's.

    Of the paper's `bound` says whether the value lies `above` or `below` the one printed, `label` what it is
    called; both may be empty.

    Attributes:
        rows: one for each point.
        x_title, y_title: axis titles with units.
        x_order: words on the x axis in their order; empty: numbers.
        x_levels: numbers that the x axis names and no others, such as a factor's levels; empty: round ones.
        x_log, y_log: logarithmic axes.
        bars: bars from zero instead of lines; dots alone where the axis has none.
        dense: so many values that lines have no dots, and bands for error bars.
        shades, events: rows as of `charts.base.Lines`, of figures over seconds: phases of actions.
    """

    rows: Rows
    x_title: str
    y_title: str
    x_order: Sequence[str] = ()
    x_levels: Sequence[float] = ()
    x_log: bool = False
    y_log: bool = False
    bars: bool = False
    dense: bool = False
    shades: Rows = field(default_factory=list)
    events: Rows = field(default_factory=list)
