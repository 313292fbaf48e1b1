"""A study's outcome on the terminal: one line a point, each figure with its range over repetitions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table

from steelyard.lab.progress import latency
from steelyard.results.frames import Results

NAMES = ("system", "variant")


def show_points(path: Path, console: Console) -> None:
    """Print a run's points: how many trials count, throughput, and the p99 of response times."""
    results = Results(path)
    trials = results.trials()
    by = [name for name in (*NAMES, *results.factors) if trials[name].null_count() < trials.height]
    table = Table(caption="median (least to most) over trials that were done and not disturbed from outside")
    for column in (*by, "trials", "ok/s", "p99 response"):
        table.add_column(column, justify="left" if column in by else "right")
    for _, rows in trials.sort("point").group_by("point", maintain_order=True):
        good = rows.filter((pl.col("status") == "done") & pl.col("tainted").is_null())
        cells = ["" if rows[name][0] is None else str(rows[name][0]) for name in by]
        table.add_row(*cells, f"{good.height} of {rows.height}", _rate(good), _p99(good))
    console.print(table)


def show_claims(path: Path, console: Console) -> None:
    """Print the verdicts on a study's claims, if it has any."""
    from steelyard.report.model import build
    from steelyard.report.study.answers import answers, asked_of
    from steelyard.report.study.verdicts import claims_table, headline
    from steelyard.report.text import print_table

    if not asked_of(Results(path).info.get("study") or {}).claims:
        return
    found = answers(build(path))
    if found and (table := claims_table(found)):
        print_table(table, console)
        console.print(headline(found))


def _rate(rows: pl.DataFrame) -> str:
    return _spread(rows, "ok_per_s", lambda value: f"{value:,.0f}")


def _p99(rows: pl.DataFrame) -> str:
    return _spread(rows, "total_response_p99_ns", latency)


def _spread(rows: pl.DataFrame, column: str, text: Callable[[float], str]) -> str:
    values = rows[column].drop_nulls() if column in rows.columns else pl.Series(dtype=pl.Float64)
    if not values.len():
        return "-"
    middle, least, most = (float(values.quantile(q, "linear") or 0.0) for q in (0.5, 0.0, 1.0))
    return text(middle) + (f" ({text(least)} to {text(most)})" if values.len() > 1 else "")
