"""A comparison as a page of tables, and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from steelyard.report.compare.model import Comparison
from steelyard.report.compare.tables import all_tables, headline
from steelyard.report.machine import jsonable
from steelyard.report.page import Page

FORMAT = 1


def page(model: Comparison) -> Page:
    """What differs, the rows by cell, the gates."""
    sides = (f"A: {model.a.words}", f"B: {model.b.words}")
    return Page("Comparison", headline(model), sides, all_tables(model), model.notes)


def render_json(model: Comparison) -> str:
    """Every figure, unrounded; what is not known is null."""
    rows = [asdict(row) for row in model.rows]
    for row in rows:
        row["metric"] = {name: row["metric"][name] for name in ("column", "words", "unit", "better")}
    gates = [
        {
            "gate": g.gate.text,
            "cell": g.row.cell,
            "metric": g.row.metric.column,
            "failed": g.failed,
            "reason": g.reason,
        }
        for g in model.gates
    ]
    found = {
        "format": FORMAT, "a": model.a.words, "b": model.b.words, "margin": model.asked.margin,
        "differences": asdict(model.alikeness), "rows": rows, "gates": gates, "notes": model.notes,
    }  # fmt: skip
    return json.dumps(jsonable(found), indent=1, allow_nan=False) + "\n"
