"""The command line: it parses words, and nothing else. Whatever is heavy is imported inside a command.

Every error of ours is printed in one place, `Commands.invoke`, and ends with its own exit code.
"""

from __future__ import annotations

import importlib
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from steelyard.cli import bench, run
from steelyard.cli.help import GroupedCommand
from steelyard.errors import InputError, SteelyardError
from steelyard.spec.kind import left_out


class Commands(TyperGroup):
    """The commands, with errors turned into text and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except SteelyardError as error:
            show_error(error)
            raise typer.Exit(error.exit_code) from error
        except TyperException as error:  # words that are no command, or a flag that is none
            context = getattr(error, "ctx", None) or ctx
            show_error(
                InputError(
                    error.format_message(), hint=f"`{context.command_path} --help` lists what there is"
                )
            )
            raise typer.Exit(InputError.exit_code) from error


def show_error(error: SteelyardError) -> None:
    """Print an error and its way out on stderr."""
    for line in error.message.splitlines() or ["unknown"]:
        print(f"error: {line}", file=sys.stderr)
    if error.hint:
        print(f"hint: {error.hint}", file=sys.stderr)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Example: steelyard bench embedded -w a",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from steelyard.version import revision

        print(f"steelyard {revision()}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[  # noqa: ARG001 - its callback has shown it
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Steelyard weighs wide-column databases: it brings a cluster up, loads it, drives it, and reports."""
    for name, why in left_out().items():
        print(f"warning: the system {name} of another package is left out: {why}", file=sys.stderr)


app.command("bench", cls=GroupedCommand, epilog=bench.EXAMPLE)(bench.bench)
app.command("run", cls=GroupedCommand, epilog=run.EXAMPLE)(run.run)


def _register(module: str, name: str) -> None:
    """Add a command that lives in a module of its own."""
    try:
        found = importlib.import_module(f"steelyard.cli.{module}")
    except ModuleNotFoundError as error:
        if error.name != f"steelyard.cli.{module}":
            raise
        return
    if hasattr(found, "app"):
        app.add_typer(found.app, name=name)
    else:
        kind = getattr(found, "Command", GroupedCommand)
        app.command(name, cls=kind, epilog=getattr(found, "EXAMPLE", None))(getattr(found, name))


_register("cluster", "cluster")
_register("doctor", "doctor")
_register("hosts", "hosts")
_register("report", "report")
_register("calibrate", "calibrate")
_register("compare", "compare")
_register("snapshots", "snapshots")
_register("studies", "studies")
_register("ycsb", "ycsb")
