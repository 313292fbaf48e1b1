"""`steelyard doctor`: what this host has, and what to do."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

EXAMPLE = "Example: steelyard doctor --fetch-java 11"


def doctor(
    fetch_java: Annotated[
        int | None,
        typer.Option(
            help="Fetch this Java (11, 17 or 21) into the user's cache; never into this environment."
        ),
    ] = None,
) -> None:
    """Look at Java, Maven, cores, memory, disk, ports and control groups, and say what to do."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from steelyard.hosts.java import fetch_java as fetch
    from steelyard.systems.inventory import look

    if fetch_java is not None:
        typer.echo(f"Java {fetch_java}: {fetch(fetch_java).binary}")
    table = Table("", "what", "found", "what to do", box=box.SIMPLE_HEAD, show_edge=False)
    findings = list(look())
    for finding in findings:
        table.add_row("ok" if finding.good else "--", finding.what, finding.found, finding.todo)
    Console(width=None if sys.stdout.isatty() else 160).print(table)
    _conclude([finding.what for finding in findings if not finding.good])


def _conclude(missing: list[str]) -> None:
    """The embedded store needs the engine only: whatever is missing here, that works."""
    typer.echo("bench embedded: ready")
    wanting = f"not everything is here ({', '.join(missing)})" if missing else "ready"
    typer.echo(f"local clusters: {wanting}")
