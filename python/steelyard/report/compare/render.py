"""A comparison as text, Markdown, HTML and JSON: the same tables in each."""

from __future__ import annotations

import io
import json
import math
from dataclasses import asdict
from typing import Any

from markupsafe import Markup
from rich.console import Console
from rich.text import Text

from steelyard.report.compare.model import Comparison
from steelyard.report.compare.tables import all_tables, headline
from steelyard.report.formatting import clean
from steelyard.report.html import TEMPLATES, environment, policy
from steelyard.report.markdown import escape, table_lines
from steelyard.report.text import WIDTH, print_table
from steelyard.version import version

FORMAT = 1


def show(model: Comparison, console: Console) -> None:
    """Print a comparison; into a file or a pipe at least 100 columns wide."""
    if not console.is_terminal:
        console.width = max(console.width, WIDTH)
    console.print(Text(headline(model), style="bold"))
    console.print(Text(clean(f"A: {model.a.words}\nB: {model.b.words}")))
    for table in all_tables(model):
        print_table(table, console)
    console.print()
    for note in model.notes:
        console.print(Text(clean(note), style="dim"))


def render_text(model: Comparison) -> str:
    """The same as plain text."""
    file = io.StringIO()
    show(model, Console(file=file, width=WIDTH, force_terminal=False, color_system=None))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def render_markdown(model: Comparison) -> str:
    """As Markdown."""
    lines = ["# Comparison", "", f"**{escape(headline(model))}**", ""]
    lines += [f"- A: {escape(model.a.words)}", f"- B: {escape(model.b.words)}", ""]
    for table in all_tables(model):
        lines += table_lines(table)
    return "\n".join([*lines, *(f"- {escape(note)}" for note in model.notes), ""])


def render_html(model: Comparison) -> str:
    """As one page that fetches nothing and runs no script."""
    return (
        environment()
        .get_template("compare.html.j2")
        .render(
            headline=headline(model),
            model=model,
            tables=all_tables(model),
            style=Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),  # noqa: S704 - our own file
            policy=policy([]),
            version=version(),
        )
    )


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
    return json.dumps(_finite(found), indent=1, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


RENDERERS = {"text": render_text, "md": render_markdown, "html": render_html, "json": render_json}
