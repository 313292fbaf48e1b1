"""`steelyard report`: show or write the report of a result folder, at any time, from its files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: steelyard report results/RUN --format html"


def report(
    run: Annotated[Path, typer.Argument(help="The result folder, which holds run.json.")],
    format_: Annotated[
        str,
        typer.Option(
            "--format", help="html, md, json, claims (JSON without trials), or text (which is printed)."
        ),
    ] = "text",
    out: Annotated[
        Path | None,
        typer.Option(help="The file to write.  [default: report.html and so on in the result folder]"),
    ] = None,
    charts: Annotated[
        bool,
        typer.Option("--charts/--no-charts", help="With html and md, also write charts/*.svg and *.png."),
    ] = True,
    fail_on_claims: Annotated[
        bool,
        typer.Option("--fail-on-claims", help="End with 1 unless every claim of the study is confirmed."),
    ] = False,
) -> None:
    """Report a result, a half-written one too: as text, or as a file with charts beside it."""
    from steelyard.report import text_report, write_report

    if format_ == "text" and out is None:
        from rich.console import Console

        text_report(run, Console())
    else:
        print(write_report(run, format_, out, charts=charts))
    if fail_on_claims:
        from steelyard.cli.fail_on import require_claims

        require_claims(run)
