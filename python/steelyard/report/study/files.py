"""A study's tables as files beside its report: CSV with plain numbers for programs, LaTeX for papers."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from steelyard.report.study.answers import Answers
from steelyard.report.study.verdicts import checks_table, claims_table
from steelyard.report.tables.base import Table

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}",
}  # fmt: skip
FIGURE = ("series", "x", "source", "y", "low", "high", "trials", "point")


def write_tables(found: Answers, folder: Path) -> None:
    """Write `claims`, each figure and `trials` (one row a trial, every figure of it) into a folder.

    Args:
        found: the answers.
        folder: made if missing; earlier files of these names are replaced.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found.trials.drop("earlier").write_csv(folder / "trials.csv")
    for name, table in (("claims", claims_table(found)), ("checks", checks_table(found))):
        if table:
            (folder / f"{name}.tex").write_text(latex(table), encoding="utf-8")
    if found.claims or found.checks:
        found.claims_frame().write_csv(folder / "claims.csv")
    for drawn in found.figures:
        (folder / f"{drawn.key}.tex").write_text(latex(drawn.table), encoding="utf-8")
        rows = ([row[name] for name in FIGURE] for row in drawn.rows)
        _write_csv(
            folder / f"{drawn.key}.csv",
            (*FIGURE[:1], drawn.x_title, "source", drawn.y_title, *FIGURE[4:]),
            rows,
        )


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


def latex(table: Table) -> str:
    """A table as LaTeX's own `tabular`, without packages; its title and note stand in comments."""
    columns = "".join("l" if n < table.words else "r" for n in range(len(table.columns)))
    lines = [f"% {_line(table.title)}", rf"\begin{{tabular}}{{{columns}}}", r"\hline"]
    lines += [_row(table.columns), r"\hline", *(_row(row) for row in table.rows), r"\hline", r"\end{tabular}"]
    return "\n".join([*lines, *([f"% {_line(table.note)}"] if table.note else [])]) + "\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(escape(cell) for cell in cells) + r" \\"


def escape(text: str) -> str:
    """Text in which LaTeX finds no command."""
    return "".join(SPECIAL.get(character, character) for character in _line(text))


def _line(text: str) -> str:
    return re.sub(r"\s+", " ", text)
