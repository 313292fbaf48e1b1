"""Papers on the terminal: how much of each is answered, entry by entry where, and what does not match."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from steelyard.spec.checklist import asked_of_shipped, faults, not_shipped
from steelyard.spec.papers import Entry, Paper, read_questions

if TYPE_CHECKING:
    from rich.console import Console


def show_papers(papers: Mapping[str, Paper], console: Console) -> None:
    """Print one line a paper: how many entries it has, and how many no study answers."""
    table = Table("paper", "entries", "omitted", "title", title_justify="left")
    for name, paper in papers.items():
        entries = [entry for _, entry in paper.entries]
        omitted = sum(not entry.studies for entry in entries)
        table.add_row(name, str(len(entries)), str(omitted), Text(paper.title))
    console.print(table)


def show_paper(name: str, paper: Paper, console: Console) -> None:
    """Print a paper's entries, each with the studies that answer it, or why none does."""
    table = Table(title=Text(f"{name}: {paper.title}"), title_justify="left")
    for column in ("entry", "says", "answered by"):
        table.add_column(column, overflow="fold")
    for place, entry in paper.entries:
        table.add_row(place, Text(entry.says), Text(_answered(entry, f"{name}/")))
    console.print(table)


def _answered(entry: Entry, folder: str) -> str:
    lines = [
        f"{study.removeprefix(folder)}: {what} {', '.join(ids)}"
        for what, named in (("figure", entry.figures), ("claim", entry.claims))
        for study, ids in named.items()
    ]
    return "\n".join([*lines, *([f"omitted: {entry.omitted}"] if entry.omitted else [])])


def mismatches(papers: Mapping[str, Paper]) -> list[str]:
    """Studies that entries name and that are not shipped, and whatever else does not match, a line each."""
    studies = asked_of_shipped()
    absent = [f"not shipped: {study}" for study in sorted(not_shipped(papers, studies))]
    return [*absent, *faults(papers, read_questions(), studies)]
