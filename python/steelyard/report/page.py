"""A page of tables beyond one result's report: the same as text, Markdown and HTML."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup
from rich.console import Console
from rich.text import Text

from steelyard.report.chart import Chart
from steelyard.report.formatting import clean
from steelyard.report.html import TEMPLATES, environment, policy
from steelyard.report.markdown import CHARTS, escape, table_lines
from steelyard.report.render import svg
from steelyard.report.tables import Table
from steelyard.report.text import WIDTH, print_table, wide_enough
from steelyard.version import version


@dataclass(frozen=True)
class Page:
    """What every format shows.

    Attributes:
        title: what kind of page it is.
        headline: what was found, in one line.
        subject: what it was found of, a line each.
        tables: in the order of reading.
        notes: what the reader must know beside the figures.
        charts: above the tables; text has none.
    """

    title: str
    headline: str
    subject: Sequence[str]
    tables: Sequence[Table]
    notes: Sequence[str] = ()
    charts: Sequence[Chart] = ()


def show(page: Page, console: Console) -> None:
    """Print a page; into a file or a pipe at least 100 columns wide."""
    with wide_enough(console):
        console.print(Text(clean(page.headline), style="bold"))
        for line in page.subject:
            console.print(Text(clean(line)))
        for table in page.tables:
            print_table(table, console)
        console.print()
        for note in page.notes:
            console.print(Text(clean(note), style="dim"))


def render_text(page: Page) -> str:
    """The same as plain text."""
    file = io.StringIO()
    show(page, Console(file=file, width=WIDTH, force_terminal=False, color_system=None))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def render_markdown(page: Page) -> str:
    """As Markdown, whose charts are files beside it (`write_charts`)."""
    lines = [f"# {escape(page.title)}", "", f"**{escape(page.headline)}**", ""]
    lines += [*(f"- {escape(line)}" for line in page.subject), ""]
    for chart in page.charts:
        title = escape(chart.title)
        lines += [f"### {title}", "", f"![{title}]({CHARTS}/{chart.key}.svg)", "", escape(chart.note), ""]
    for table in page.tables:
        lines += table_lines(table)
    return "\n".join([*lines, *(f"- {escape(note)}" for note in page.notes), ""])


def write_charts(page: Page, beside: Path) -> None:
    """Write the charts of a page into the folder that its Markdown, at `beside`, names."""
    for chart in page.charts:
        file = beside.parent / CHARTS / f"{chart.key}.svg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(svg(chart), encoding="utf-8")


def render_html(page: Page) -> str:
    """As one page that fetches nothing and runs no script."""
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            drawn=[(chart, Markup(svg(chart))) for chart in page.charts],  # noqa: S704 - drawn by our library
            style=Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),  # noqa: S704 - our own file
            policy=policy([]),
            version=version(),
        )
    )


RENDERERS: dict[str, Callable[[Page], str]] = {
    "text": render_text,
    "md": render_markdown,
    "html": render_html,
}
