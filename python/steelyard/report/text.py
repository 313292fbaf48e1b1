"""The report as text for a terminal: plain when it is none, whole at 100 columns."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from steelyard.analysis.warnings import Warned
from steelyard.report import tables
from steelyard.report.formatting import clean
from steelyard.report.headline import repeat_command, subject, timing, verdict
from steelyard.report.model import ReportModel, TrialReport
from steelyard.report.study import overview
from steelyard.report.study.answers import Answers, answers
from steelyard.report.study.verdicts import RULE, closing, grounds, headline, top
from steelyard.report.tables import Table
from steelyard.report.timeline.tables import timeline_tables

WIDTH = 100
INDENT = 2
STYLES = {"fault": "bold red", "warning": "yellow", "note": "cyan"}
WORDS = {"fault": "FAULT", "warning": "WARNING", "note": "NOTE"}


def show(model: ReportModel, console: Console) -> None:
    """Print a report; into a file or a pipe at least 100 columns wide."""
    with wide_enough(console):
        _show(model, console)


@contextmanager
def wide_enough(console: Console) -> Iterator[None]:
    """Within it a console that is no terminal is at least 100 columns wide."""
    before = console.width
    if not console.is_terminal:
        console.width = max(before, WIDTH)
    try:
        yield
    finally:
        console.width = before


def _show(model: ReportModel, console: Console) -> None:
    console.print(Text(clean(f"{model.name}: {subject(model)}"), style="bold"))
    if question := str(model.study.get("question") or ""):
        console.print(Text(clean(question)))
    if model.partial:
        console.print(Text("This result is half-written; it shows what reached the disk.", style="bold red"))
    _warnings(model.warnings, console)
    found = answers(model)
    if found and (said := headline(found)):
        console.print(Text(said, style="bold"))
    if found:
        show_verdicts(found, console, top(found))
        for drawn in found.figures:
            print_table(drawn.table, console)
    study = overview(model)
    for table in study.tables if study else ():
        print_table(table, console)
    if trials := tables.trials(model):
        print_table(trials, console)
    for trial in () if study else model.trials:
        _trial(trial, console, several=len(model.trials) > 1)
    for table in closing(found) if found else ():
        print_table(table, console)
    # A command is copied by its reader: it is never broken into lines.
    console.print(Text(f"Again: {repeat_command(model)}", style="dim"), soft_wrap=True)


def show_verdicts(found: Answers, console: Console, wide: Iterable[Table]) -> None:
    """Print claims and checks as these tables, or where they would be of one-word lines as a list."""
    if (found.claims or found.checks) and console.width < WIDTH:
        print_claims(found, console)
        return
    for table in wide:
        print_table(table, console)


def print_claims(found: Answers, console: Console) -> None:
    """Print each claim with what its verdict rests on, for a narrow window."""
    for whose, answer in [("", one) for one in found.claims] + [("our check ", one) for one in found.checks]:
        verdict = answer.verdict
        size = "" if verdict.size == "not claimed" else f", size {verdict.size}"
        paper = f" (the paper: {answer.printed})" if verdict.paper else ""
        console.print()
        console.print(Text(f"{whose}{answer.claim.id}: {clean(answer.claim.statement)}", style="bold"))
        for what, text in [("verdict", verdict.direction + size + paper), *grounds(answer)]:
            console.print(Padding(Text(f"{what}: {text}"), (0, 0, 0, INDENT), expand=False))
    console.print()
    console.print(Text(RULE, style="dim"))


def render_text(model: ReportModel) -> str:
    """The same as a string of plain text, 100 columns wide."""
    console = Console(file=io.StringIO(), width=WIDTH, force_terminal=False, color_system=None)
    show(model, console)
    assert isinstance(console.file, io.StringIO)  # noqa: S101 - given above
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def _trial(trial: TrialReport, console: Console, *, several: bool) -> None:
    if several:
        console.print()
        console.rule(Text(f"trial {trial.number} ({clean(trial.status)})"), characters="-")
    console.print(Text(verdict(trial), style="bold"))
    _warnings(trial.warnings, console)
    for table in timeline_tables(trial):
        print_table(table, console)
    if trial.measured:
        for table in tables.for_phase(trial.measured):
            print_table(table, console)
    for found in (tables.audits(trial), tables.search(trial), tables.phases(trial), tables.effect(trial)):
        if found and found.rows:
            print_table(found, console)
    if spent := timing(trial):
        console.print(Padding(Text(f"Timing: {spent}"), (1, 0, 0, 0)))


def _warnings(warnings: tuple[Warned, ...], console: Console) -> None:
    for warned in warnings:
        grid = RichTable.grid(padding=(0, 1))
        grid.add_column(width=7, no_wrap=True)
        grid.add_column()
        grid.add_row(Text(WORDS[warned.level], style=STYLES[warned.level]), Text(clean(warned.text)))
        console.print(grid)


def print_table(table: Table, console: Console) -> None:
    """Print one table, with its title before and its note after."""
    console.print()
    console.print(Text(table.title, style="bold"))
    found = _laid_out(table)
    # a table that does not fit is wider than the window, rather than without its last columns
    console.print(found, width=max(console.width, _least(found)), crop=False, no_wrap=True)
    if table.note:
        console.print(Text(table.note, style="dim"))


LONGEST_FIGURE, LONGEST_WORD = 30, 10
"""Columns: a longer piece may be cut in two."""


def _least(found: RichTable) -> int:
    """Columns that it needs: every piece whole, two blanks between."""
    return sum((column.min_width or 1) + 2 for column in found.columns) - 2


def _laid_out(table: Table) -> RichTable:
    found = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for place, name in enumerate(table.columns):
        right = place >= table.words
        cells = [row[place] for row in table.rows]
        # figures stay whole, text may break between words: the longest such piece says how little will do
        pieces = [*name.split(), *(cells if right else (word for cell in cells for word in cell.split()))]
        least = min(max(map(cell_len, pieces), default=1), LONGEST_FIGURE if right else LONGEST_WORD)
        found.add_column(Text(name), justify="right" if right else "left", overflow="fold", min_width=least)
    for place, row in enumerate(table.rows):
        found.add_row(*(Text(cell) for cell in row), end_section=place + 1 in table.breaks)
    return found
