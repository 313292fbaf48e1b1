"""`steelyard run`: a study from its file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: steelyard run study.toml --set workload.records=50000 --dry-run"


def run(
    study: Annotated[Path, typer.Argument(help="The study's TOML file.")],
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="path=value laid over the study; may be repeated.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the trials and stop.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the result, which must not exist.  [default: results/TIME-NAME]"),
    ] = None,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write the HTML report.")] = True,
) -> None:
    """Run every trial of a study, and report."""
    from steelyard.cli.conduct import conduct, list_trials
    from steelyard.spec.read import read_study

    read = read_study(study, set_ or ())
    if dry_run:
        list_trials(read)
    else:
        conduct(read, out=out, report=report)
