"""A study's outcome on the terminal: one line a point, each figure with its range over repetitions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from steelyard.lab.progress import latency
from steelyard.report.formatting import plain
from steelyard.results.frames import Results

if TYPE_CHECKING:
    from steelyard.analysis.evidence import Sample


def show_points(path: Path, console: Console) -> None:
    """Print a run's points: how many trials count, throughput, and the p99 of response times."""
    from steelyard.report.model import FIGURES, build
    from steelyard.report.study.points import factors, points

    found = points(build(path))
    names = factors(found)
    columns = {"system": [p.system for p in found], "variant": [p.variant for p in found]}
    columns |= {name: [plain(p.levels.get(name, "")) for p in found] for name in names}
    columns = {name: cells for name, cells in columns.items() if any(cells)}
    table = Table(
        caption="median (least to most) over trials that count; `steelyard report` says why others do not"
    )
    for column in (*columns, "trials", "ok/s", "p99 response"):
        table.add_column(column, justify="left" if column in columns else "right")
    for place, point in enumerate(found):
        rate, p99 = (point.sample(FIGURES[name]) for name in ("ok/s", "p99, ms"))
        table.add_row(
            *(cells[place] for cells in columns.values()),
            f"{len(point.trials)} of {point.planned}",
            _spread(rate, lambda value: f"{value:,.0f}"),
            _spread(p99, latency),
        )
    console.print(table)


def show_claims(path: Path, console: Console) -> None:
    """Print the verdicts on a study's claims and checks, if it has any, in the form of its report."""
    from steelyard.report.model import build
    from steelyard.report.study.answers import answers, asked_of
    from steelyard.report.study.verdicts import checks_table, claims_table, headline
    from steelyard.report.text import show_verdicts, wide_enough

    asked = asked_of(Results(path).info.get("study") or {})
    if not (asked.claims or asked.checks) or (found := answers(build(path))) is None:
        return
    with wide_enough(console):
        show_verdicts(found, console, filter(None, (claims_table(found), checks_table(found))))
        console.print(headline(found))


def _spread(sample: Sample | None, text: Callable[[float], str]) -> str:
    from steelyard.analysis.stats.percentiles import least_and_greatest

    if sample is None:
        return "-"
    found = least_and_greatest(sample.units)
    ends = f" ({text(found.low)} to {text(found.high)})" if sample.count > 1 else ""
    return text(found.estimate) + ends
