"""`steelyard studies`: what is shipped, what one study asks for, the form of study files, and the papers that
studies repeat."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.help import GroupedCommand
from steelyard.cli.output import Format, Out, put_out, require_format
from steelyard.errors import GateError, InputError, nearest

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None,
    help="Studies that come with Steelyard, the papers they repeat, and the form of study files.",
    epilog="Example: steelyard studies show noise-floor",
)  # fmt: skip


@app.command("list", cls=GroupedCommand, epilog="Example: steelyard studies list")
def list_() -> None:
    """List the shipped studies, each with its question."""
    from rich.console import Console

    from steelyard.spec.read import both_forms
    from steelyard.spec.shipped import shipped

    console = Console(highlight=False)
    width = max(map(len, shipped()))
    for name, path in shipped().items():
        full, small = both_forms(path)
        form = "  (--small)" if small else ""
        console.print(f"{name:{width}} {full.question or full.name}{form}", soft_wrap=True, markup=False)


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


@app.command(
    "needs", cls=GroupedCommand, epilog="Example: steelyard studies needs --format md --out needs.md"
)
def needs(
    studies: Annotated[
        list[str] | None,
        typer.Argument(help="Shipped studies, folders of them, or TOML files.  [default: all shipped ones]"),
    ] = None,
    *,
    format_: Format = "text",
    out: Out = None,
) -> None:
    """Show what each study needs in its full form: nodes, cores, memory, disk and time; and what its small
    form does not reach.
    """
    require_format(format_)
    from steelyard.report.needs import needs_of, page, render_json
    from steelyard.spec.read import both_forms
    from steelyard.spec.shipped import find_studies, shipped

    chosen = shipped() if not studies else {n: p for word in studies for n, p in find_studies(word).items()}
    found = {name: needs_of(*both_forms(path)) for name, path in chosen.items()}
    put_out(page(found), lambda: render_json(found), format_, out, "needs")


@app.command("schema", cls=GroupedCommand, epilog="Example: steelyard studies schema > study.schema.json")
def schema() -> None:
    """Print the JSON Schema of study files, for editors."""
    import json

    from steelyard.spec.schema import study_schema

    print(json.dumps(study_schema(), indent=1))


@app.command("papers", cls=GroupedCommand, epilog="Example: steelyard studies papers sheth-2023")
def papers(
    paper: Annotated[
        str | None, typer.Argument(help="One paper's name.  [default: how much of each is answered]")
    ] = None,
    *,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Print what does not match the shipped studies; end with 1 if anything."
        ),
    ] = False,
) -> None:
    """Show the papers' figures, tables and claims, each with the study that answers it or why none does."""
    from rich.console import Console

    from steelyard.cli.papers import mismatches, show_paper, show_papers
    from steelyard.spec.papers import read_papers

    known = read_papers()
    if paper is not None and paper not in known:
        raise InputError(f"no paper '{paper}'{nearest(paper, known)}; known: {', '.join(known)}")
    if paper and check:
        raise InputError("--check looks at all papers: questions are theirs together")
    if check:
        found = mismatches(known)
        for line in found:
            print(line)
        if found:
            raise GateError(f"papers and shipped studies do not match in {len(found)} places")
    elif paper:
        show_paper(paper, known[paper], Console())
    else:
        show_papers(known, Console())


@app.command(
    "across", cls=GroupedCommand, epilog="Example: steelyard studies across results/A results/B --format html"
)
def across(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Runs of shipped studies, or their claims.json; without any, what papers say stands alone."
        ),
    ] = None,
    *,
    question: Annotated[
        list[str] | None,
        typer.Option(help="Show this question, e.g. read-a, alone; may be repeated.  [default: every one]"),
    ] = None,
    format_: Format = "text",
    out: Out = None,
) -> None:
    """Show questions that several papers answer: each one's figure and ours, and where papers contradict
    each other.

    Each answer of a paper is judged by claims of shipped studies. Give runs of these to have their verdicts
    beside the papers' figures; the others stay 'not given'. In place of a run's folder stands what
    `steelyard report RUN --format claims` wrote of it.
    """
    require_format(format_)
    from steelyard.report.across.model import build_across
    from steelyard.report.across.render import page, render_json
    from steelyard.spec.papers import read_papers, read_questions

    known = read_questions()
    for name in question or ():
        if name not in known:
            raise InputError(f"--question {name}: unknown{nearest(name, known)}; known: {', '.join(known)}")
    model = build_across(results or (), read_papers(), {n: known[n] for n in question or known})
    put_out(page(model), lambda: render_json(model), format_, out, "across")
