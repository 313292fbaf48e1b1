"""`steelyard cluster`: clusters that stay up until they are taken down."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli.help import GroupedCommand
from steelyard.cli.options import CLUSTER, FLAGS, with_flags

NODE_FLAGS = [flag for flag in FLAGS if flag.panel == CLUSTER]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Bring up clusters that stay, look at them, and take them down.",
    epilog="Example: steelyard cluster up cassandra --nodes 3 --name lab",
)


@app.command(
    cls=GroupedCommand,
    epilog="Example: steelyard cluster up cassandra --nodes 3 --name lab --profile quick",
)
@with_flags(NODE_FLAGS)
def up(
    system: Annotated[str, typer.Argument(help="The system: cassandra.")],
    name: Annotated[str, typer.Option(help="The cluster's name.")] = "lab",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="key=value of cassandra.yaml; may be repeated."),
    ] = None,
    **words: Any,
) -> None:
    """Bring a cluster up; it stays until `cluster down`."""
    from steelyard.cli.words import bench_study
    from steelyard.errors import InputError
    from steelyard.spec.system import CassandraSystem
    from steelyard.testbed.cassandra import CassandraTestbed
    from steelyard.testbed.state import clusters_folder

    wanted = bench_study(system, words, set_ or []).system
    if not isinstance(wanted, CassandraSystem):
        raise InputError(f"no cluster of {system} can be brought up", hint="steelyard cluster up cassandra")
    testbed = CassandraTestbed(wanted, name=name, root=clusters_folder(), owner=None)
    for warning in testbed.warnings():
        typer.echo(f"warning: {warning}", err=True)
    testbed.up(typer.echo)
    typer.echo(f"{name} is up after {testbed.up_seconds:.1f} s: {', '.join(testbed.driver()['hosts'])}")
    typer.echo(f"down again with: steelyard cluster down {name}")


@app.command(cls=GroupedCommand, epilog="Example: steelyard cluster status lab")
def status(name: Annotated[str, typer.Argument(help="The cluster's name.")] = "lab") -> None:
    """Show each node: process, whether it answers, whom it sees, how much it holds."""
    from steelyard.spec.units import bytes_text
    from steelyard.testbed.state import load
    from steelyard.testbed.status import statuses

    found = statuses(load(name))
    rows = [
        [
            node.name,
            node.address,
            node.place,
            str(node.pid or "-"),
            node.state,
            "-" if node.normal is None else f"{node.normal}/{len(found)}",
            bytes_text(node.load_bytes),
            bytes_text(node.memory_bytes),
            " of ".join(map(bytes_text, node.heap_bytes)) if node.heap_bytes else "-",
        ]
        for node in found
    ]
    _table(["node", "address", "place", "pid", "state", "normal", "load", "memory", "heap"], rows)


@app.command("list", cls=GroupedCommand, epilog="Example: steelyard cluster list")
def list_() -> None:
    """List all clusters of this user."""
    from steelyard.testbed.state import Record, records

    def words(record: Record) -> list[str]:
        alive = sum(process.alive() for process in record.processes.values())
        owner = f"pid {record.owner.pid}" if record.owner else "cluster up"
        state = "left over" if record.abandoned else f"{alive}/{len(record.nodes)} run"
        version = f"{record.kind} {record.system.get('version', '')}"
        return [record.name, version, f"{record.block}.*", state, owner]

    rows = [words(record) for record in records()]
    if rows:
        _table(["name", "system", "addresses", "state", "owner"], rows)
    else:
        typer.echo("no clusters")


@app.command(cls=GroupedCommand, epilog="Example: steelyard cluster logs lab node2 --follow")
def logs(
    name: Annotated[str, typer.Argument(help="The cluster's name.")],
    node: Annotated[str | None, typer.Argument(help="One node of it.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as the log grows.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", help="Lines from the end of each log.")] = 40,
) -> None:
    """Show the ends of the servers' logs."""
    import subprocess

    from steelyard.errors import InfrastructureError, InputError, nearest
    from steelyard.testbed.state import load

    folders = {str(known["name"]): Path(known["folder"]) for known in load(name).nodes}
    if node is not None and node not in folders:
        raise InputError(
            f"there is no node {node!r}{nearest(node, folders)}", hint=f"there are: {', '.join(folders)}"
        )
    chosen = [folders[node]] if node else list(folders.values())
    files = [str(path) for folder in chosen if (path := folder / "logs" / "system.log").exists()]
    if not files:
        raise InfrastructureError("nothing has been logged yet")
    try:
        subprocess.run(["tail", f"--lines={lines}", *(["-F"] if follow else []), *files], check=False)
    except KeyboardInterrupt:
        typer.echo()


@app.command(cls=GroupedCommand, epilog="Example: steelyard cluster down lab")
def down(name: Annotated[str, typer.Argument(help="The cluster's name.")]) -> None:
    """Stop a cluster's servers and remove all it stored."""
    from steelyard.errors import InputError
    from steelyard.testbed.state import load, take_down

    record = load(name)
    if record.owner is not None and not record.abandoned:
        raise InputError(
            f"{name} belongs to process {record.owner.pid}, which runs", hint="stop that process"
        )
    take_down(record)
    typer.echo(f"{name} is down")


def _table(header: list[str], rows: list[list[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(*header, box=box.SIMPLE_HEAD, show_edge=False)
    for row in rows:
        table.add_row(*row)
    # Piped into a file, a table must not be cut to a terminal's width.
    Console(width=None if sys.stdout.isatty() else 160).print(table)
