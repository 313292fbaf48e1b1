"""Reports: everything shown is derived from a result folder, again and again, by one model that every
format renders.

`model` builds the model, `tables` the tables all text formats share, `charts` the one definition of each
chart; `text`, `markdown`, `machine` and `html` render. Nothing here runs a trial, and nothing but report
files is written.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.errors import InputError, nearest

if TYPE_CHECKING:
    from rich.console import Console

    from steelyard.report.model import ReportModel

FORMATS = {
    "html": "report.html",
    "md": "report.md",
    "json": "report.json",
    "claims": "claims.json",
    "text": "report.txt",
}
"""Format -> the file's name inside the run's folder."""


def text_report(run: Path, console: Console) -> None:
    """Print the report of a result folder.

    Raises:
        InputError: the folder is no result.
    """
    from steelyard.report.model import build
    from steelyard.report.text import show

    show(build(run), console)


def write_report(run: Path, format: str, out: Path | None = None, *, charts: bool = True) -> Path:
    """Write the report of a result folder in one of the `FORMATS`, with charts beside html and md.

    Args:
        run: the folder that holds run.json.
        format: one of `FORMATS`.
        out: the file; default is RUN/report.html and so on.
        charts: with html and md, also write the charts as SVG and PNG to the folder `charts` beside the file.

    Returns:
        The file written; an earlier report is replaced.

    Raises:
        InputError: the folder is no result, or has no claims to be written; the format is unknown.
    """
    if format not in FORMATS:
        raise InputError(
            f"no report format '{format}'{nearest(format, FORMATS)}; known: {', '.join(FORMATS)}"
        )
    from steelyard.report.model import build

    model = build(run)
    target = out or run / FORMATS[format]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(
        _renderer(format)(model, target.parent / "charts" if charts else None), encoding="utf-8"
    )
    return target


def _renderer(format: str) -> Callable[[ReportModel, Path | None], str]:
    """The renderer of a format; html and md also write charts into the folder they are given."""
    if format == "html":
        from steelyard.report.html import render_html

        return render_html
    if format == "md":
        from steelyard.report.markdown import render_markdown

        return render_markdown
    if format in ("json", "claims"):
        from steelyard.report.machine import render_claims, render_json

        render = render_json if format == "json" else render_claims
        return lambda model, _: render(model)
    from steelyard.report.text import render_text

    return lambda model, _: render_text(model)
