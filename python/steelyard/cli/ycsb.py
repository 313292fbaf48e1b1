"""`steelyard ycsb`: YCSB's own command line, single dashes and all, parsed in the room of that name."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

EXAMPLE = (
    "Example: steelyard ycsb run cassandra-cql -P workloads/workloada -p hosts=10.0.0.1,10.0.0.2 "
    "-p operationcount=100000 -threads 32 -s"
)
OPTIONS = (
    ("-P FILE", "Property file; may be repeated, a later one wins."),
    (
        "-p NAME=VALUE",
        "Property; beats every file. steelyard.X=V sets X of a study: steelyard.load.engines=4.",
    ),
    ("-threads N", "Clients; with -target, the most operations in flight."),
    ("-target N", "Operations per second, all clients together."),
    ("-s", "A status line on stderr every status.interval seconds."),
    ("-l LABEL", "Text before each status line."),
    ("-cp PATH", "Where hbase-site.xml is."),
    ("-db, -jvm-args", "Taken; there is no Java class here, and no JVM."),
    ("--out FOLDER", "Folder of the result, which must not exist.  [default: results/TIME-NAME]"),
    ("--no-result", "Keep no result folder, only print."),
    ("--as-ycsb", "Undo what is done right here (below)."),
    ("--help", "Show this message and exit."),
)


class Command(TyperCommand):
    """A command whose words are YCSB's: none is parsed here, and its help is written out."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Take every word as it is."""
        wants_help = not args or args[0] == "--help" or args[-1] == "--help"
        return super().parse_args(ctx, ["--help"] if wants_help else ["--", *args])

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """How the words follow each other."""
        formatter.write_usage(ctx.command_path, "load|run DATABASE [-P FILE] [-p NAME=VALUE] [OPTIONS]")

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as its base has it
        """Databases, options, and how this differs from YCSB."""
        from steelyard.ycsb.bindings import bindings
        from steelyard.ycsb.differences import DIFFERENCES

        databases = {b.names[0]: b.help for b in bindings().values()}.items()
        rights = [(f"{d.name}:", f"YCSB: {d.ycsb}. Here: {d.here}.") for d in DIFFERENCES.values()]
        for heading, rows in (
            ("Databases", databases),
            ("Options", OPTIONS),
            ("Unlike YCSB, unless --as-ycsb", rights),
        ):
            with formatter.section(heading):
                formatter.write_dl(list(rows))


def ycsb(
    words: Annotated[list[str], typer.Argument(help="YCSB's words.")],
) -> None:
    """Load or run a YCSB workload on a cluster that is up, and print what YCSB prints.

    Property files, options and output are YCSB's, so that its scripts keep working; the engine is ours.
    """
    from steelyard.cli import show_error
    from steelyard.errors import Interrupted, SteelyardError
    from steelyard.ycsb.client import run

    try:
        run(words)
    except Interrupted:
        raise
    except SteelyardError as error:
        if "--as-ycsb" not in words:
            raise
        show_error(error)
        raise typer.Exit(0) from error
