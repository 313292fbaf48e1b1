"""`steelyard cluster`: clusters that stay up until they are taken down."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli.help import GroupedCommand
from steelyard.cli.options import CLUSTER_PANELS, FLAGS, with_flags

NODE_FLAGS = [flag for flag in FLAGS if flag.panel in CLUSTER_PANELS]

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
    system: Annotated[str, typer.Argument(help="The system: cassandra or hbase.")],
    name: Annotated[str, typer.Option(help="The cluster's name.")] = "lab",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="key=value of cassandra.yaml, hbase-site or hdfs-site (dfs....); may be repeated."
        ),
    ] = None,
    **words: Any,
) -> None:
    """Bring a cluster up; it stays until `cluster down`."""
    from steelyard.cli.bench_study import bench_study
    from steelyard.errors import InputError
    from steelyard.hosts.records import clusters_folder
    from steelyard.systems import LOCAL

    wanted = bench_study(system, words, [("--set", pair) for pair in set_ or ()]).system
    if wanted.kind not in LOCAL:
        raise InputError(f"no cluster of {system} can be brought up", hint=f"known: {', '.join(LOCAL)}")
    testbed = LOCAL[wanted.kind](wanted, name, clusters_folder(), None)
    said = _warn(testbed.warnings(), 0)
    testbed.up(typer.echo)
    _warn(testbed.warnings(), said)
    typer.echo(f"{name} is up after {testbed.up_seconds:.1f} s: {', '.join(testbed.answers_at())}")
    typer.echo(f"down again with: steelyard cluster down {name}")


def _warn(warnings: list[str], said: int) -> int:
    """Print the warnings after the first `said`; returns how many have been said then."""
    for warning in warnings[said:]:
        typer.echo(f"warning: {warning}", err=True)
    return len(warnings)


@app.command(cls=GroupedCommand, epilog="Example: steelyard cluster status lab")
def status(name: Annotated[str, typer.Argument(help="The cluster's name.")] = "lab") -> None:
    """Show each node: process, whether it answers, whom it sees, how much it holds."""
    from steelyard.hosts.records import load
    from steelyard.spec.units import bytes_text
    from steelyard.systems.status import COLUMNS, statuses

    record = load(name)
    rows = [
        [
            node.name,
            node.address,
            node.place,
            ",".join(map(str, node.pids)) or "-",
            node.state,
            node.sees or "-",
            bytes_text(node.load_bytes),
            bytes_text(node.memory_bytes),
            " of ".join(map(bytes_text, node.heap_bytes)) if node.heap_bytes else "-",
        ]
        for node in statuses(record)
    ]
    place, sees = COLUMNS[record.kind]
    table(["node", "address", place, "pid", "state", sees, "load", "memory", "heap"], rows)


@app.command("list", cls=GroupedCommand, epilog="Example: steelyard cluster list")
def list_() -> None:
    """List all clusters of this user."""
    from steelyard.hosts.records import Record, records

    def words(record: Record) -> list[str]:
        names = [str(node["name"]) for node in record.nodes]
        started = [[*record.processes_of(name).values()] for name in names]
        alive = sum(bool(some) and all(process.alive() for process in some) for some in started)
        owner = f"pid {record.owner.pid}" if record.owner else "cluster up"
        state = "left over" if record.abandoned else f"{alive}/{len(record.nodes)} run"
        version = f"{record.kind} {record.system.get('version', '')}"
        return [record.name, version, f"{record.block}.*", state, owner]

    rows = [words(record) for record in records()]
    if rows:
        table(["name", "system", "addresses", "state", "owner"], rows)
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
    from steelyard.hosts.records import load

    nodes = {str(known["name"]): known for known in load(name).nodes}
    if node is not None and node not in nodes:
        raise InputError(
            f"there is no node {node!r}{nearest(node, nodes)}", hint=f"there are: {', '.join(nodes)}"
        )
    chosen = [nodes[node]] if node else list(nodes.values())
    paths = [Path(known["folder"], "logs", log) for known in chosen for log in known["logs"]]
    files = [str(path) for path in paths if path.exists()]
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
    from steelyard.hosts.records import load, take_down

    record = load(name)
    if record.owner is not None and not record.abandoned:
        raise InputError(
            f"{name} belongs to process {record.owner.pid}, which runs", hint="stop that process"
        )
    take_down(record)
    typer.echo(f"{name} is down")


def table(header: list[str], rows: list[list[str]]) -> None:
    """Print rows under a header, not cut to a width when the output is no terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(*header, box=box.SIMPLE_HEAD, show_edge=False)
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 160).print(table)
