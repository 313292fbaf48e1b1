"""`steelyard cluster`: clusters that stay up until they are taken down."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli.help import GroupedCommand
from steelyard.cli.options import SET_HELP, cluster_flags, systems_help
from steelyard.cli.parameters import with_flags

if TYPE_CHECKING:
    from steelyard.hosts.host import Host

FOLLOW_S = 0.3

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
@with_flags(cluster_flags())
def up(
    system: Annotated[str, typer.Argument(help=systems_help(local=True))],
    name: Annotated[str, typer.Option(help="The cluster's name.")] = "lab",
    set_: Annotated[list[str] | None, typer.Option("--set", help=SET_HELP)] = None,
    **words: Any,
) -> None:
    """Bring a cluster up; it stays until `cluster down`."""
    from steelyard.cli.bench_study import bench_study
    from steelyard.errors import InputError
    from steelyard.hosts.local import LocalHost
    from steelyard.hosts.records import clusters_folder
    from steelyard.spec.kind import declarations
    from steelyard.systems.kind import kind_of

    wanted = bench_study(system, words, set_ or ()).system
    kind = kind_of(wanted.kind)
    if not kind.local:
        known = [name for name, other in declarations().items() if other.local]
        raise InputError(f"no cluster of {system} can be brought up", hint=f"known: {', '.join(known)}")
    testbed = kind.lasting(wanted, name=name, root=clusters_folder(), host=LocalHost())
    said = _warn(testbed.warnings(), 0)
    testbed.up(typer.echo)
    _warn(testbed.warnings(), said)
    typer.echo(f"{name} is up after {testbed.up_seconds:.1f} s: {', '.join(testbed.answers_at())}")
    for way in testbed.bench_words():
        typer.echo(f"used with: steelyard bench {way}")
    typer.echo(f"down again with: steelyard cluster down {name}")


def _warn(warnings: list[str], said: int) -> int:
    """Print the warnings after the first `said`; returns how many have been said then."""
    for warning in warnings[said:]:
        typer.echo(f"warning: {warning}", err=True)
    return len(warnings)


@app.command(cls=GroupedCommand, epilog="Example: steelyard cluster status lab")
def status(name: Annotated[str, typer.Argument(help="The cluster's name.")] = "lab") -> None:
    """Show each node: process, whether it answers, whom it sees, how much it holds."""
    from steelyard.hosts.local import LocalHost
    from steelyard.hosts.records import load
    from steelyard.spec.units import bytes_text
    from steelyard.systems.kind import kind_of

    record, host = load(name), LocalHost()
    kind = kind_of(record.kind)
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
        for node in (kind.status(host, record, one) for one in record.nodes)
    ]
    place, sees = kind.columns
    table(["node", "address", place, "pid", "state", sees, "load", "memory", "heap"], rows)


@app.command("list", cls=GroupedCommand, epilog="Example: steelyard cluster list")
def list_() -> None:
    """List all clusters of this user."""
    from steelyard.hosts.process import alive
    from steelyard.hosts.records import Record, records

    def words(record: Record) -> list[str]:
        names = [str(node["name"]) for node in record.nodes]
        started = [[*record.processes_of(name).values()] for name in names]
        whole = sum(bool(some) and all(map(alive, some)) for some in started)
        owner = f"pid {record.owner.pid}" if record.owner else "cluster up"
        told = {"abandoned": "left over", "elsewhere": f"on {record.machine.hostname}"}
        state = told.get(record.state(), f"{whole}/{len(record.nodes)} run")
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
    from steelyard.errors import InputError, nearest
    from steelyard.hosts.local import LocalHost
    from steelyard.hosts.records import load

    nodes = {str(known["name"]): known for known in load(name).nodes}
    if node is not None and node not in nodes:
        raise InputError(
            f"there is no node {node!r}{nearest(node, nodes)}", hint=f"there are: {', '.join(nodes)}"
        )
    chosen = [nodes[node]] if node else list(nodes.values())
    paths = [Path(known["folder"], "logs", log) for known in chosen for log in known["logs"]]
    try:
        _show_logs(LocalHost(), paths, lines, follow=follow)
    except KeyboardInterrupt:
        typer.echo()


def _show_logs(host: Host, paths: list[Path], lines: int, *, follow: bool) -> None:
    """Print the last lines of each log that there is, then, if wanted, what comes on, without end."""
    from steelyard.errors import InfrastructureError

    shown: dict[Path, int] = {}
    while not shown or follow:
        first = not shown
        for path in paths:
            try:
                new = host.get(path, shown.get(path, 0))
            except FileNotFoundError:
                continue
            shown[path] = shown.get(path, 0) + len(new)
            told = new.decode(errors="replace").splitlines(keepends=True)
            if told:
                typer.echo(f"==> {path} <==" if len(paths) > 1 else "", nl=len(paths) > 1)
                typer.echo("".join(told[-lines:] if first else told), nl=False)
        if not shown:
            raise InfrastructureError("nothing has been logged yet")
        time.sleep(FOLLOW_S if follow else 0.0)


@app.command(cls=GroupedCommand, epilog="Example: steelyard cluster down lab")
def down(name: Annotated[str, typer.Argument(help="The cluster's name.")]) -> None:
    """Stop a cluster's servers and remove all it stored."""
    from steelyard.hosts.clusters import take_down_by_name

    take_down_by_name(name)
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
