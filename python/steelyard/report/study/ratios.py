"""The proportions of the form that ran, beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

from pydantic import ValidationError

from steelyard.analysis.evidence import Cell, Trials
from steelyard.report.formatting import NONE, clean, digits
from steelyard.report.model import ReportModel
from steelyard.report.tables.base import Table
from steelyard.results.in_effect import part
from steelyard.spec.actions import Add
from steelyard.spec.levels import level_number
from steelyard.spec.models import Point, Trial
from steelyard.spec.ratios import KeptRatio
from steelyard.spec.trials import data_to_memory

ADDED: Literal["nodes added to nodes"] = "nodes added to nodes"
HALF = (0.4, 0.6)
"""Shares of the capacity that count as half load."""
P99 = "total_response_p99_ns"
THROUGHPUT = "ok_per_s"


def ratios_table(asked: Sequence[KeptRatio], model: ReportModel, trials: Trials) -> Table | None:
    """One row a ratio that the study asks for, and one of nodes added where its timelines add some; None
    without any."""
    points = _points(model)
    shown = _with_added(asked, points)
    if not shown:
        return None
    rows = [
        (one.of, clean(one.paper.words) if one.paper else NONE, _ours(one, points, trials), clean(one.source))
        for one in shown
    ]
    note = "Ours: the least and the greatest over all points."
    return Table(
        "Ratios of this form beside the paper's",
        ("ratio", "paper", "ours", "source of the paper's"),
        rows,
        4,
        note,
    )


def _with_added(asked: Sequence[KeptRatio], points: Sequence[Point]) -> list[KeptRatio]:
    """What is asked for, and how many nodes join."""
    said = any(one.of == ADDED for one in asked)
    return [*asked, *([] if said or not nodes_added(points) else [KeptRatio(of=ADDED)])]


def nodes_added(points: Sequence[Point]) -> list[float]:
    """Of each point whose timeline adds nodes: all that it adds over those that hold data at its start. How
    many a controller adds is its own decision, and no setting."""
    found = []
    for point in points:
        joined = sum(a.nodes for a in point.timeline if isinstance(a, Add) and not a.undo)
        if joined:
            found.append(joined / point.system.data_nodes)
    return found


def _points(model: ReportModel) -> list[Point]:
    """The points of the trials whose settings this version of Steelyard can read."""
    found: dict[int, Point] = {}
    for told in (part(trial.manifest, "trial") for trial in model.trials):
        with suppress(ValidationError):
            trial = Trial.model_validate(told)
            found.setdefault(trial.point, trial)
    return list(found.values())


def _ours(asked: KeptRatio, points: Sequence[Point], trials: Trials) -> str:
    if asked.of == "data to memory":
        return _range(data_to_memory(points), "nodes without a limit of memory")
    if asked.of == ADDED:
        return _range(nodes_added(points), "no node is added")
    cells = list(trials.cells().values())
    if asked.of == "rate to capacity":
        return _range([share for cell in cells if (share := _load(cell, cells))], "no rate is offered")
    bounds = [search.bound_ms for point in points if (search := point.load.search) and search.bound_ms]
    half = [
        sample.interval.estimate
        for cell in cells
        if (share := _load(cell, cells)) and HALF[0] <= share <= HALF[1] and (sample := cell.sample(P99))
    ]
    found = [bound * 1e6 / p99 for bound in bounds for p99 in half]
    return _range(found, "no point at half load" if bounds else "no bound")


def _load(cell: Cell, cells: Sequence[Cell]) -> float | None:
    """The rate that is offered to a cell, over the highest throughput of its line of rates."""
    said = dict(cell.key)
    target = level_number(said.pop("target", None))
    if target is None:
        return None
    line = [one for one in cells if {k: v for k, v in one.key if k != "target"} == said]
    rates = [sample.interval.estimate for one in line if (sample := one.sample(THROUGHPUT))]
    return target / max(rates) if rates else None


def _range(found: Sequence[float], otherwise: str) -> str:
    if not found:
        return otherwise
    least, most = digits(min(found)), digits(max(found))
    return least if least == most else f"{least} to {most}"
