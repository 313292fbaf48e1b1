"""The tables of a comparison, which every text format lays out."""

from __future__ import annotations

import math

from steelyard.analysis.compare import GateResult, Row
from steelyard.analysis.stats.runs import Interval
from steelyard.report.compare.alike import Difference
from steelyard.report.compare.model import Comparison
from steelyard.report.formatting import clean, digits, duration, share
from steelyard.report.tables import Table

MANY = "> 1000"


def all_tables(model: Comparison) -> list[Table]:
    """What differs, the rows by cell, the gates; those that are empty left out."""
    cells = list(dict.fromkeys(row.cell for row in model.rows))
    found = [cell_table(model, cell) for cell in cells]
    found += [differences(model), gates(model.gates)]
    return [table for table in found if table.rows]


def cell_table(model: Comparison, cell: str) -> Table:
    """One cell: a row for each metric."""
    rows = [_row(row) for row in model.rows if row.cell == cell]
    columns = ("metric", "verdict", "A", "B", "B/A", "95 % interval", "margin", "runs", "to settle")
    note = "to settle: further repetitions on each side that would end an open question with 80 % chance."
    return Table(
        clean(cell) or "B against A", columns, rows, words=2, note=note if any(r[-1] for r in rows) else ""
    )


def _row(row: Row) -> tuple[str, ...]:
    unit = row.metric.unit
    runs = f"{row.a.count}, {row.b.count}" + (" !" if row.few else "")
    more = ("+" + str(row.more) if row.more is not None else MANY) if row.word == "open" else ""
    if row.word == "open" and not math.isfinite(row.ratio.high) and row.more is None:
        more = "?"
    margin = share(row.margin)
    return (row.metric.words, row.word, figure(row.a.estimate, unit), figure(row.b.estimate, unit),
            digits(row.ratio.estimate, 4), span(row.ratio), margin, runs, more)  # fmt: skip


def figure(value: float, unit: str) -> str:
    """A figure with its unit."""
    words = {"ns": duration(value), "us": f"{digits(value)} us", "/s": f"{digits(value, 4)}/s",
             "s": f"{digits(value)} s", "": digits(value, 4)}  # fmt: skip
    return words.get(unit) or f"{digits(value * 100, 5)} %"


def span(interval: Interval) -> str:
    """`0.98 .. 1.02`; `unknown` where the runs bound nothing."""
    if not math.isfinite(interval.high):
        return "unknown"
    return f"{digits(interval.low, 4)} .. {digits(interval.high, 4)}"


def differences(model: Comparison) -> Table:
    """What differs between A and B."""
    found = model.alikeness
    kinds = ((" (!)", found.forbidding), ("", found.subject), (" (client)", found.client))
    rows = [_difference(d, mark) for mark, group in kinds for d in group]
    note = "(!) differs in more than the systems: compared by --force." if found.forbidding else ""
    return Table("What differs", ("setting", "A", "B"), rows, words=3, note=note)


def _difference(difference: Difference, mark: str) -> tuple[str, ...]:
    return clean(difference.what) + mark, clean(difference.a), clean(difference.b)


def gates(found: tuple[GateResult, ...]) -> Table:
    """What became of the gates."""
    rows = [
        (
            clean(g.gate.text),
            clean(g.row.cell),
            "FAILED" if g.failed else "passed",
            g.reason or span(g.row.ratio),
        )
        for g in found
    ]
    return Table("Gates", ("gate", "cell", "result", "B/A"), rows, words=4)


def headline(model: Comparison) -> str:
    """The words counted, in one line."""
    words = [row.word for row in model.rows]
    counts = [
        f"{words.count(word)} {word}" for word in ("better", "worse", "equivalent", "open") if word in words
    ]
    same = "" if model.alikeness.subject else " A and B have the same settings (A/A)."
    if model.shared:
        same = f" A and B share {model.shared} trials: a result is compared with itself, which says nothing."
    return f"B against A: {', '.join(counts)}.{same}"
