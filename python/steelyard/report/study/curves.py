"""Curves over a study's factor; latency against achieved throughput when rates were offered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.report.chart import Chart, Rows
from steelyard.report.formatting import plain
from steelyard.report.model import FIGURES, Figure, TrialReport
from steelyard.report.study.dots import MEASURED, Dots
from steelyard.report.study.dots_spec import dots_spec
from steelyard.report.study.points import PointReport, factors

TARGET = "target"
THROUGHPUT = "operations per second"


def _p99(operation: str) -> Figure:
    """The p99 of an operation's response time, in milliseconds."""

    def read(trial: TrialReport) -> float | None:
        rows = (
            [op for op in trial.measured.phase.operations if op.name == operation] if trial.measured else []
        )
        return rows[0].response.p99_ns if rows else None

    return Figure(f"{operation.lower().replace('-', '_')}_response_p99_ns", read, 1e-6)


def curves(found: Sequence[PointReport]) -> list[Chart]:
    """The charts of a study: for each combination of the other factors throughput, and p99 by operation."""
    factor = _swept(found)
    if factor is None:
        return []
    charts = []
    for number, (other, members) in enumerate(_panels(found, factor)):
        charts += _panel(members, factor, other, number)
    return charts


def _swept(found: Sequence[PointReport]) -> str | None:
    """The factor with the most numeric levels; the offered rate before all others."""
    counts: dict[str, int] = {}
    for name in factors(found):
        counts[name] = len({_number(p.levels.get(name)) for p in found} - {None})
    if counts.get(TARGET, 0) > 1:
        return TARGET
    best = max(counts, key=lambda name: counts[name], default=None)
    return best if best is not None and counts[best] > 1 else None


def _number(level: Any) -> float | None:
    return float(level) if isinstance(level, (int, float)) and not isinstance(level, bool) else None


def _panels(found: Sequence[PointReport], factor: str) -> list[tuple[str, list[PointReport]]]:
    panels: dict[str, list[PointReport]] = {}
    for point in found:
        others = {name: plain(level) for name, level in point.levels.items() if name != factor}
        panels.setdefault(", ".join(f"{name} {level}" for name, level in others.items()), []).append(point)
    return list(panels.items())


def _panel(members: Sequence[PointReport], factor: str, other: str, number: int) -> list[Chart]:
    place = f" ({other})" if other else ""
    operations = dict.fromkeys(
        op.name for p in members for t in p.trials if t.measured for op in t.measured.phase.operations
    )
    charts = []
    rows = _rows(members, lambda p: _number(p.levels.get(factor)), FIGURES["ok/s"])
    if chart := _chart(rows, f"{number}-throughput", f"Achieved throughput{place}", factor, THROUGHPUT):
        charts.append(chart)
    offered = factor == TARGET
    for operation in operations:
        figure = _p99(operation)
        rows = _rows(members, _achieved if offered else lambda p: _number(p.levels.get(factor)), figure)
        x_title = f"achieved {THROUGHPUT}" if offered else factor
        title = f"{operation} response time, p99{place}"
        key = f"{number}-{operation.lower()}-p99"
        if chart := _chart(rows, key, title, x_title, "p99, ms", log=True):
            charts.append(chart)
    return charts


def _achieved(point: PointReport) -> float | None:
    found = point.interval(FIGURES["ok/s"])
    return found.estimate if found else None


def _rows(members: Sequence[PointReport], x: Any, figure: Figure) -> Rows:
    rows: Rows = []
    for point in members:
        place, value = x(point), point.interval(figure)
        if place is None or value is None:
            continue
        bounded = value.low > 0 and value.high < float("inf")
        rows.append(
            {
                "series": point.series,
                "x": place,
                "y": value.estimate,
                "low": value.low if bounded else value.estimate,
                "high": value.high if bounded else value.estimate,
                "trials": len(point.trials),
                "point": point.label,
                "source": MEASURED,
            }
        )
    return rows


def _chart(
    rows: Rows, key: str, title: str, x_title: str, y_title: str, *, log: bool = False
) -> Chart | None:
    if len(rows) < 2:
        return None
    note = "Each dot is a point of the study, its bar the 95 % interval over trials where there are enough."
    dots = Dots(rows, x_title, y_title, y_log=log)
    return Chart(key, title, note, "", lambda: dots_spec(dots))
