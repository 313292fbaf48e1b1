"""`steelyard studies`: what is shipped, what one study asks for, and the form of study files."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.help import GroupedCommand

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None,
    help="Studies that come with Steelyard, and the form of study files.",
    epilog="Example: steelyard studies show noise-floor",
)  # fmt: skip


@app.command("list", cls=GroupedCommand, epilog="Example: steelyard studies list")
def list_() -> None:
    """List the shipped studies, each with its question."""
    from rich.console import Console

    from steelyard.spec.read import both_forms
    from steelyard.spec.shipped import shipped

    console = Console(highlight=False)
    for name, path in shipped().items():
        full, small = both_forms(path)
        form = "  (--small)" if small else ""
        console.print(f"{name:32} {full.question or full.name}{form}", soft_wrap=True, markup=False)


@app.command("show", cls=GroupedCommand, epilog="Example: steelyard studies show noise-floor")
def show(
    study: Annotated[str, typer.Argument(help="A shipped study's name, or a TOML file.")],
) -> None:
    """Show a study: its settings and factors, with the small form beside the full one."""
    from rich.console import Console
    from rich.table import Table

    from steelyard.cli.forms import rows
    from steelyard.spec.read import both_forms
    from steelyard.spec.shipped import find_study

    path = find_study(study)
    full, small = both_forms(path)
    table = Table(
        title=full.question or full.name, caption=str(path), title_justify="left", caption_justify="left"
    )
    for column in ("setting", "full", *(["small"] if small else [])):
        table.add_column(column, overflow="fold")
    for row in rows(full, small):
        table.add_row(*row)
    Console(highlight=False).print(table)


@app.command("schema", cls=GroupedCommand, epilog="Example: steelyard studies schema > study.schema.json")
def schema() -> None:
    """Print the JSON Schema of study files, for editors."""
    import json

    from steelyard.spec.schema import study_schema

    print(json.dumps(study_schema(), indent=1))
