"""What only a whole study shows: points side by side, curves over its factors, what differs in meaning."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.report.chart import Chart
from steelyard.report.model import ReportModel
from steelyard.report.study.acted_points import summary_table
from steelyard.report.study.acted_tables import acted_tables
from steelyard.report.study.beside import beside
from steelyard.report.study.curves import curves
from steelyard.report.study.ledger import ledger
from steelyard.report.study.limits import limits_table
from steelyard.report.study.looks import looks_of
from steelyard.report.study.panels import panels
from steelyard.report.study.points import points, points_table
from steelyard.report.study.rates import rates_table
from steelyard.report.study.remarks import remarks
from steelyard.report.tables.base import Table
from steelyard.results.frames import Results

__all__ = ["Overview", "overview"]


@dataclass(frozen=True)
class Overview:
    """What stands on a study's page instead of each trial's details.

    Attributes:
        tables: two systems beside each other, points, what actions on the cluster cost, rates that were
            found once, limits of nodes, what differs in meaning, what was remarked on trials.
        charts: a panel for each timeline, curves over the factors.
    """

    tables: tuple[Table, ...]
    charts: tuple[Chart, ...]


def overview(model: ReportModel) -> Overview | None:
    """The overview of a study of several points; None for one point, whose trials are shown themselves."""
    found = points(model)
    if not found:
        return None
    info = Results(model.path).info
    rates = rates_table(info)
    acted = (summary_table(found), *acted_tables(found))
    tables = (
        beside(found, looks_of(info)),
        points_table(found),
        *acted,
        rates,
        limits_table(model),
        ledger(model),
        remarks(model),
    )
    drawn = () if model.study.get("figures") else tuple(curves(found))  # its own figures say it better
    return Overview(tuple(t for t in tables if t), (*panels(model, found), *drawn))
