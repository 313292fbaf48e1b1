"""`--format` and `--out` of pages of tables: text is printed, everything else is written to a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.errors import InputError, nearest

if TYPE_CHECKING:
    from steelyard.report.page import Page

FORMATS = ("text", "html", "md", "json")
Format = Annotated[
    str,
    typer.Option("--format", help=f"text (which is printed), {', '.join(FORMATS[1:-1])} or {FORMATS[-1]}."),
]
Out = Annotated[
    Path | None,
    typer.Option(help="The file to write.  [default: the command's name and the format, e.g. compare.html]"),
]


def require_format(format_: str) -> None:
    """Refuse a format that there is not.

    Raises:
        InputError: with the nearest one.
    """
    if format_ not in FORMATS:
        raise InputError(
            f"--format {format_}: unknown{nearest(format_, FORMATS)}; known: {', '.join(FORMATS)}"
        )


def put_out(page: Page, as_json: Callable[[], str], format_: str, out: Path | None, name: str) -> None:
    """Print a page, or write it to `out`, left out to NAME.html and so on, and print where."""
    from steelyard.report.page import RENDERERS, show, write_charts

    if format_ == "text" and out is None:
        from rich.console import Console

        show(page, Console())
        return
    target = out or Path(f"{name}.{format_}")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(as_json() if format_ == "json" else RENDERERS[format_](page), encoding="utf-8")
    if format_ == "md":
        write_charts(page, target)
    print(target)
